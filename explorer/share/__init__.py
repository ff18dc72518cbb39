"""What a session knows, for others: as JSON, as a report, as a picture, and as a bundle that opens elsewhere."""

"""What the explorer shows, as plain data. Nothing in here imports Textual or mytriton."""

"""What can be known of values without running the kernel: ranges, contiguity, divisibility."""

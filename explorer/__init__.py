"""The terminal explorer: shows every stage of a kernel's compilation while the kernel is being edited."""

"""What the cuda and mlir backends share: NVIDIA's compilers and disassembler, and loading and launching a cubin."""

"""The CPU backend: tile SSA to strip-mined vector loops in MLIR, and through LLVM to code of the machine it runs on."""

"""The MLIR backends' common ground: operation texts and the stage runner; and the MLIR GPU backend."""

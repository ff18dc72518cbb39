"""A function in MLIR, compiled for this processor and called on NumPy arrays: `python examples/mlir/saxpy.py`."""

from pathlib import Path

import numpy as np

from mytriton import mlir
from mytriton.diagnostics import LaunchError


def main() -> None:
    saxpy = mlir.jit(mlir.read(Path(__file__).with_name("saxpy.mlir")))["saxpy"]
    print(saxpy.signature)
    x = np.arange(8, dtype=np.float32)
    y = np.ones(8, dtype=np.float32)
    saxpy(2.0, x, y)  # in place
    print(y)
    saxpy(1.0, x[::-2], y[::2])  # slices as they are: the descriptor has the strides
    print(y)
    np.testing.assert_array_equal(y, 2 * x + 1 + np.array([7, 0, 5, 0, 3, 0, 1, 0]))
    again = saxpy.bind(-1.0, x, y)  # for many calls with the same arrays: descriptors are made once
    for _ in range(2):
        again()
    print(y)
    try:
        saxpy(1.0, x.astype(np.float64), y)  # what machine code would not notice is refused
    except LaunchError as error:
        print(error)


if __name__ == "__main__":
    main()

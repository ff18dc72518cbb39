"""A function made with the bindings' typed builders instead of text: `python examples/mlir/builders.py`.

Horner's rule for coefficients that are known when the code is made: no loop over them is left in it.
"""

from collections.abc import Sequence

import numpy as np

from mytriton import mlir


def polynomial(coefficients: Sequence[float]) -> mlir.Module:
    """A module with `@polynomial(x, out)`, the polynomial with these coefficients, lowest first, of each element."""
    from mlir import ir
    from mlir.dialects import arith, func, math, memref, scf

    with ir.Context(), ir.Location.unknown():
        native = ir.Module.create()
        f32, index = ir.F32Type.get(), ir.IndexType.get()
        array = ir.MemRefType.get([ir.ShapedType.get_dynamic_size()], f32)
        with ir.InsertionPoint(native.body):

            @func.FuncOp.from_py_func(array, array, name="polynomial")
            def build(x, out):  # type: ignore[no-untyped-def]
                zero, one = arith.constant(index, 0), arith.constant(index, 1)
                for i in scf.for_(zero, memref.dim(x, zero), one):
                    element = memref.load(x, [i])
                    value = arith.constant(f32, coefficients[-1])
                    for coefficient in coefficients[-2::-1]:
                        value = math.fma(value, element, arith.constant(f32, coefficient))
                    memref.store(value, out, [i])
                    scf.yield_([])

        native.operation.verify()
        return mlir.parse(str(native))


def main() -> None:
    module = polynomial([1.0, 0.0, -0.5, 0.0, 1 / 24])
    print(module.text)
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    out = np.zeros_like(x)
    mlir.jit(module)["polynomial"](x, out)
    print(out, np.cos(x))
    np.testing.assert_allclose(out, 1 - x**2 / 2 + x**4 / 24, rtol=1e-6)


if __name__ == "__main__":
    main()

"""The expressions of the other tests in Triton's interpreter, where that is installed: the same values, shapes, types.

Types and shapes are asserted inside the kernel, with what ours are.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from mytriton.ir.arithmetic import DTYPES
from mytriton.types import SCALARS
from tests.frontend import test_reductions as reductions
from tests.frontend import test_shapes as shapes
from tests.frontend import test_types as types
from tests.frontend.support import errors, expression_kernel
from tests.triton_reference import Triton, TritonError, triton_interpreter

__all__ = ["triton_interpreter"]

SHAPES = {"a": shapes.A, "b": shapes.B, "m": shapes.M, "c": shapes.C, "s": shapes.S}
CASES = [
    *((e, x, SHAPES) for e, x in [*shapes.INDEXING, *shapes.BROADCASTING, *shapes.RESHAPING, *shapes.NEW]),
    *((e, x, {"m": reductions.M, "c": reductions.C, "n": np.int32(7)}) for e, x in reductions.AXES),
    *((e, x, {"x": reductions.X, "n": reductions.NAN, "i": reductions.M}) for e, x in reductions.NANS),
    *((e, x, {"f": reductions.F}) for e, x in reductions.SOFTMAX),
    *((e, x, {"f": types.F, "i": types.I32}) for e, x in [*types.CASTS, *types.FUNCTIONS]),
]


#: Expressions that Triton's interpreter computes differently, and why.
DIFFERENT = {
    "f.to(tl.int32)": "Triton leaves it undefined what a float out of range becomes",
    "f.cast(tl.uint8)": "Triton leaves it undefined what a float out of range becomes",
    "f.to(tl.bfloat16).to(tl.float16, bitcast=True)": "its interpreter truncates to bfloat16",
    "tl.reshape(s, (1, 1))": "its interpreter reshapes no scalars",
    "tl.max(n, keep_dims=True) + 1": "its interpreter makes a block of it",
    "abs(f)": "in its interpreter abs is Python's",
    "max(s, m)": "in its interpreter max is Python's",
    "min(i, 5, -3)": "in its interpreter min is Python's",
    "max(f, 1.0)": "in its interpreter max is Python's",
    **{
        e: "Triton's reductions have no propagate_nan"
        for e, _ in reductions.NANS
        if "propagate_nan" in e and "um(" not in e
    },
}


def said_of(expression: str, out: Any, inputs: dict[str, Any]) -> str:
    """The type and shape our result has, as an assertion in a kernel."""
    *_, found = errors(*expression_kernel(expression, out, inputs, "result.type_please"))
    match = re.search(r"`result` \((?:vector<([0-9x]+) x )?(\w+)>?\) has no", found)
    assert match, found
    shape, element = match.groups()
    bits = element.lstrip("bfiu")
    name = element if element == "bool" else {"b": "bfloat", "f": "float", "i": "int", "u": "uint"}[element[0]] + bits
    extents = "".join(f"{n}, " for n in shape.split("x")) if shape else ""
    return f"tl.static_assert(result.dtype == tl.{name.replace('bool', 'int1')} and result.shape == ({extents}))"


def trouble(triton: Triton, expression: str, expected: Any, inputs: dict[str, Any]) -> str:
    """How Triton's result differs from what is expected; "" if it does not."""
    expected = np.asarray(expected)
    out = np.zeros(expected.shape, expected.dtype)
    used = {name: value for name, value in inputs.items() if re.search(rf"\b{name}\b", expression)}
    text, _ = expression_kernel(expression, out, used, said_of(expression, out, used))
    text = text.replace("from triton.language.extra import libdevice\n", "")
    try:
        triton.run(text, "k", 1, {**used, "out": out.reshape(-1)})
    except TritonError as error:
        return f"{expression}: {error}"
    same = np.allclose(out.astype(np.float64), expected.astype(np.float64), rtol=1e-6, atol=0, equal_nan=True)
    return "" if same else f"{expression}: {out} instead of {expected}"


def test_triton_computes_the_same_values_shapes_and_types(triton_interpreter: Triton) -> None:
    compared = [c for c in CASES if c[0] not in DIFFERENT]
    assert [found for case in compared if (found := trouble(triton_interpreter, *case))] == []
    assert len(compared) > 140


def test_triton_reduces_to_the_same_types(triton_interpreter: Triton) -> None:
    found = []
    for name, results in reductions.TYPES.items():
        for element in results:
            x = np.zeros(8, DTYPES[SCALARS[element]])  # its interpreter adds bfloat16 as integers
            found.append(trouble(triton_interpreter, f"tl.{name}(x, 0)", np.float32(0), {"x": x}))
    assert [f for f in found if f] == []

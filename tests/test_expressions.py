"""The expressions of the frontend's tests, each a small kernel, launched on every backend, against NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.frontend import test_libdevice as libdevice
from tests.frontend import test_reductions as reductions
from tests.frontend import test_shapes as shapes
from tests.frontend import test_types as types
from tests.frontend.support import expression_kernel
from tests.fuzz import kernel_of
from tests.running import Runner, on_every_backend


def libdevice_cases() -> list[tuple[str, Any]]:
    """Calls of libdevice's functions of one float, with what NumPy gives."""
    x = libdevice.numbers(np.float32)
    with np.errstate(all="ignore"):
        return [(f"libdevice.{name}(x)", function(x)) for name, function in libdevice.FUNCTIONS.items()]


SHAPES = {"a": shapes.A, "b": shapes.B, "m": shapes.M, "c": shapes.C, "s": shapes.S}
NUMBERS = {"f": types.F, "i": types.I32}
#: Expressions with what they give, and the inputs they name.
GROUPS: dict[str, tuple[list[tuple[str, Any]], dict[str, Any]]] = {
    "indexing": (shapes.INDEXING, SHAPES),
    "broadcasting": (shapes.BROADCASTING, SHAPES),
    "reshaping": (shapes.RESHAPING, SHAPES),
    "new blocks": (shapes.NEW, SHAPES),
    "reductions": (reductions.AXES, {"m": reductions.M, "c": reductions.C, "n": np.int32(7)}),
    "NaN": (reductions.NANS, {"x": reductions.X, "n": reductions.NAN, "i": reductions.M}),
    "softmax": (reductions.SOFTMAX, {"f": reductions.F}),
    "conversions": (types.CASTS, NUMBERS),
    "functions": (types.FUNCTIONS, NUMBERS),
    "libdevice": (libdevice_cases(), {"x": libdevice.numbers(np.float32)}),
}


def trouble(run: Runner, folder: Path, name: str, expression: str, expected: Any, inputs: dict[str, Any]) -> str:
    """How a backend's result differs from what is expected, or why there is none; "" if it is right."""
    expected = np.asarray(expected)
    used = {n: np.array(v) if v.shape else v for n, v in inputs.items() if re.search(rf"\b{n}\b", expression)}
    out = np.zeros(expected.shape, expected.dtype)
    flat = out.reshape(-1)
    text = expression_kernel(expression, out, used)[0].replace("import triton", "import mytriton", 1)
    text = text.replace("import mytriton\n", "import mytriton as triton\n").replace("triton.lang", "mytriton.lang")
    try:
        run(kernel_of(text, folder, name), (1,), *used.values(), flat)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is said of this expression, and the rest are tried)
        return f"{expression}: {type(error).__name__}: {str(error).splitlines()[0]}"
    # Integers to the last bit; floats may be fused or summed in another order.
    if expected.dtype.kind in "biu":
        same = (out == expected).all()
    else:
        with np.errstate(all="ignore"):
            same = np.allclose(out.astype(np.float64), expected.astype(np.float64), rtol=1e-6, atol=0, equal_nan=True)
    return "" if same else f"{expression}: {out.tolist()} instead of {expected.tolist()}"


@on_every_backend
@pytest.mark.parametrize("group", GROUPS)
def test_expressions(run: Runner, group: str, tmp_path: Path) -> None:
    cases, inputs = GROUPS[group]
    found = [trouble(run, tmp_path, f"k{number}", *case, inputs) for number, case in enumerate(cases)]
    assert "\n".join(f for f in found if f) == ""

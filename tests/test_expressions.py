"""The expressions of the frontend's tests, each a small kernel, on every backend and as every stage, against NumPy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.layout import simulate
from tests.frontend import test_libdevice as libdevice
from tests.frontend import test_reductions as reductions
from tests.frontend import test_shapes as shapes
from tests.frontend import test_types as types
from tests.frontend.support import expression_kernel
from tests.fuzz import kernel_of
from tests.running import Runner, on_every_backend
from tests.stage_runs import stages_of


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
    "integers of libdevice": (list(libdevice.integer_cases()), libdevice.INTEGERS),
}


def prepared(folder: Path, name: str, expression: str, expected: Any, inputs: dict[str, Any]) -> Any:
    """The kernel of an expression, its arguments, and the array of the result, which is the last of them."""
    used = {n: np.array(v) if v.shape else v for n, v in inputs.items() if re.search(rf"\b{n}\b", expression)}
    out = np.zeros(expected.shape, expected.dtype)
    text = expression_kernel(expression, out, used)[0].replace("import triton\n", "import mytriton as triton\n")
    return kernel_of(text.replace("triton.lang", "mytriton.lang"), folder, name), [*used.values(), out.reshape(-1)], out


def difference(out: Any, expected: Any) -> str:
    """How a result differs from what is expected; "" if it is right."""
    # Integers to the last bit; floats may be fused or summed in another order.
    if expected.dtype.kind in "biu":
        same = (out == expected).all()
    else:
        with np.errstate(all="ignore"):
            same = np.allclose(out.astype(np.float64), expected.astype(np.float64), rtol=1e-6, atol=0, equal_nan=True)
    return "" if same else f"{out.tolist()} instead of {expected.tolist()}"


def trouble(run: Runner, folder: Path, name: str, expression: str, expected: Any, inputs: dict[str, Any]) -> str:
    """What is wrong with a backend's result; "" if nothing is."""
    kernel, args, out = prepared(folder, name, expression, expected, inputs)
    try:
        run(kernel, (1,), *args)
    except Exception as error:  # noqa: BLE001 (whatever it is, it is said of this expression, and the rest are tried)
        return f"{expression}: {type(error).__name__}: {str(error).splitlines()[0]}"
    found = difference(out, expected)
    return f"{expression}: {found}" if found else ""


@on_every_backend
@pytest.mark.parametrize("group", GROUPS)
def test_expressions(run: Runner, group: str, tmp_path: Path) -> None:
    cases, inputs = GROUPS[group]
    found = [trouble(run, tmp_path, f"k{n}", e, np.asarray(x), inputs) for n, (e, x) in enumerate(cases)]
    assert "\n".join(f for f in found if f) == ""


@pytest.mark.parametrize("group", GROUPS)
def test_every_stage_computes_the_same(group: str, tmp_path: Path) -> None:
    """The SSA, after each pass, and laid out."""
    cases, inputs = GROUPS[group]
    found = []
    for number, (expression, expected) in enumerate(cases):
        kernel, args, out = prepared(tmp_path, f"k{number}", expression, np.asarray(expected), inputs)
        launch = kernel.prepare((1,), *args, backend="interp")
        for name, artifact in stages_of(launch.compilation):
            out[...] = 0
            (interp.run if isinstance(artifact, Func) else simulate.run)(artifact, launch.args, launch.grid)
            if wrong := difference(out, np.asarray(expected)):
                found.append(f"{name}: {expression}: {wrong}")
    assert "\n".join(found) == ""

"""What a GPU test case is: a kernel built by hand, its arguments, and what the interpreter computes of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, ParamInfo, Value
from mytriton.source import Span
from mytriton.types import FLOATS, INTEGERS, PointerType, ScalarType, i1, i32

NUMBERS = (*INTEGERS, *FLOATS)


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments in order (arrays are copied before a run), its grid, and the units in the last place by
    which a result may differ from the interpreter's."""

    func: Func
    args: tuple[Any, ...]
    grid: tuple[int, int, int] = (1, 1, 1)
    ulp: int = 0

    @property
    def name(self) -> str:
        return self.func.name

    def copies(self) -> list[Any]:
        """The arguments, arrays copied."""
        return [a.copy() if isinstance(a, np.ndarray) else a for a in self.args]

    def expected(self) -> list[Any]:
        """The arguments after the interpreter has run the kernel."""
        args = self.copies()
        interp.run(self.func, args, self.grid)
        return args


def check(case: Case, got: Sequence[Any]) -> None:
    """Assert that the arrays among `got` are what the interpreter computes."""
    for number, (actual, wanted) in enumerate(zip(got, case.expected(), strict=True)):
        if not isinstance(wanted, np.ndarray):
            continue
        same = _distance(actual, wanted) <= case.ulp
        bad = np.flatnonzero(~same)
        detail = [(int(i), actual[i], wanted[i]) for i in bad[:5]]
        assert not bad.size, f"{case.name}: argument {number} differs at (index, got, expected) {detail}"


def _distance(a: Any, b: Any) -> Any:
    """Units in the last place between two arrays; 0 for equal values and for two NaNs."""
    if a.dtype.kind in "biu":
        return np.where(a == b, 0, 1 << 60)
    with np.errstate(invalid="ignore"):  # a signalling NaN is one as well
        nan = np.isnan(a.astype(np.float64)), np.isnan(b.astype(np.float64))
    ordered = []
    for x in (a, b):
        bits = x.view(f"i{x.dtype.itemsize}").astype(np.int64)
        ordered.append(np.where(bits < 0, np.int64(-(1 << (8 * x.dtype.itemsize - 1))) - bits, bits).astype(object))
    distance = np.abs(ordered[0] - ordered[1])
    return np.where(nan[0] | nan[1], np.where(nan[0] & nan[1], 0, 1 << 60), distance)


def edges(element: ScalarType, size: int, seed: int = 0) -> Any:
    """`size` values of a type: its extremes and specials first, then random ones over its whole range."""
    random = np.random.default_rng(seed)
    dtype = DTYPES[element]
    if element == i1:
        return np.resize(np.array([False, True, True]), size)
    if element.kind == "int":
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        special = [0, 1, -1, 2, -2, element.bits - 1, 65536, low, low + 1, high, high - 1, 2**24 + 1, element.bits, 7]
        special += [2**30 + 2**22 + 1, min(2**40 + 2**32 + 1, high)]  # just above half way in bf16, and in f32 half way
        special = np.array([(n - element.low) % 2**element.bits + element.low for n in special], dtype)
        shifts = random.integers(0, element.bits, size, dtype=dtype)
        rest = random.integers(low, high, size, dtype=dtype, endpoint=True) >> shifts
        return np.concatenate([special, rest])[:size]
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 65504.0, 65520.0, 3.4028235e38, 1e-45, 6e-8]
    special += [2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 9.2233715e18, 9.3e18, -9.3e18, 1e-310, 1e300]
    # Just above half way between two numbers of bf16 and of f16; rounded to f32 first, half way.
    special += [1 + 2**-8 + 2**-40, 1 + 2**-11 + 2**-40]
    with np.errstate(over="ignore", under="ignore"):
        rest = random.standard_normal(size) * 2.0 ** random.integers(-20, 20, size)
        return np.concatenate([special, rest])[:size].astype(dtype)


def pairs(element: ScalarType, size: int) -> tuple[Any, Any]:
    """Two arrays whose first elements are combinations of special values."""
    special = edges(element, 13 if element.kind == "int" else 23)
    combined = list(itertools.product(special, special))[: size // 2]
    x, y = edges(element, size, 1), edges(element, size, 2)
    x[: len(combined)], y[: len(combined)] = ([p[i] for p in combined] for i in (0, 1))
    return x, y


def pointer(name: str, element: ScalarType) -> Value:
    return parameter(name, PointerType(element))


def elementwise(
    name: str,
    inputs: Sequence[ScalarType],
    output: ScalarType,
    body: Callable[[Builder, list[Value]], Value],
    arrays: Sequence[Any],
    block: int = 128,
    ulp: int = 0,
    start: int = 0,
) -> Case:
    """`out[i] = body(inputs[i]...)` for the i below n, over a grid that covers n elements and a bit more."""
    b = Builder()
    params = [pointer(f"x{i}", element) for i, element in enumerate(inputs)]
    out, n = pointer("out", output), parameter("n", i32)
    b.span = Span(2, 5, 2, 20)
    pid = b.add(ops.ProgramId, axis=0)
    base = b.add(ops.Mul, lhs=pid, rhs=b.constant(block, i32))
    lanes = b.add(ops.Arange, start=start, end=start + block)
    offs = b.add(ops.Add, lhs=b.splat(base, (block,)), rhs=lanes)
    if start:
        offs = b.add(ops.Sub, lhs=offs, rhs=b.constant(start, i32, (block,)))
    b.span = Span(3, 5, 3, 20)
    mask = b.add(ops.CmpLt, lhs=offs, rhs=b.splat(n, (block,)))
    loaded = []
    for param in params:
        at = b.add(ops.AddPtr, pointer=b.splat(param, (block,)), offset=offs)
        loaded.append(b.add(ops.Load, pointer=at, mask=mask))
    b.span = Span(4, 5, 4, 20)
    result = body(b, loaded)
    at = b.add(ops.AddPtr, pointer=b.splat(out, (block,)), offset=offs)
    b.append(ops.Store(pointer=at, value=result, mask=mask))
    size = len(arrays[0])
    info = {p.id: ParamInfo(True) for p in (*params, out)} | {"n": ParamInfo(size % 16 == 0)}
    func = b.finish(name, (*params, out, n), info, Span(1, 1, 5, 1))
    result_array = np.zeros(size, DTYPES[output])
    return Case(func, (*arrays, result_array, size), (-(-size // block) + 1, 1, 1), ulp)

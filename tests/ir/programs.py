"""Random elementwise kernels for property tests, with arguments to run them on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.types import ScalarType, bf16, element_of, f16, f32, f64, i1, i8, i32, i64, u16, u32
from tests.ir.kernels import at, at_offsets, below, offsets, pointer

TYPES = (i1, i8, i32, i64, u16, u32, f16, bf16, f32, f64)
INTEGERS, FLOATS = (i8, i32, i64, u16, u32), (f16, bf16, f32, f64)
GRID = 3

#: Operations by what they take; maximum and minimum of floats are left out, as they may return either zero.
_BINARY: dict[str, tuple[type[ops.Binary], ...]] = {
    "bool": (ops.And, ops.Or, ops.Xor),
    "int": (
        ops.Add,
        ops.Sub,
        ops.Mul,
        ops.FloorDiv,
        ops.Mod,
        ops.And,
        ops.Or,
        ops.Xor,
        ops.Shl,
        ops.Shr,
        ops.Maximum,
        ops.Minimum,
    ),
    "float": (ops.Add, ops.Sub, ops.Mul, ops.Div, ops.Mod),
}
_UNARY: dict[str, tuple[type[ops.Unary], ...]] = {
    "bool": (ops.Not,),
    "int": (ops.Neg, ops.Not),
    "float": (ops.Neg, ops.Abs, ops.Floor, ops.Ceil, ops.Sqrt, ops.Exp, ops.Log),
}
_COMPARE = (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe)
_NUMBERS: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int": (0, 1, -1, 2, 3, 8, 31, 256, 2**31 - 1, -(2**31)),
    "float": (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, float("inf"), float("nan")),
}


@dataclass
class Program:
    """A kernel and a seed for its arguments."""

    func: Func
    block: int
    seed: int

    def args(self) -> list[Any]:
        """Fresh runtime arguments; equal each time."""
        rng = np.random.default_rng(self.seed)
        size = GRID * self.block
        arrays = [_numbers(rng, element_of(p.type).element, size) for p in self.func.pointer_params()]  # type: ignore[union-attr]
        return [*arrays, size - 5, 2**40 + 3]


def _numbers(rng: np.random.Generator, element: ScalarType, size: int) -> np.ndarray[Any, Any]:
    if element.kind == "bool":
        return rng.integers(0, 3, size).astype(np.uint8).view(np.bool_)
    if element.kind == "int":
        wide = rng.integers(-(2**31), 2**31, size)
        return np.where(rng.random(size) < 0.5, wide, rng.integers(-4, 5, size)).astype(DTYPES[element])
    return (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 4, size)).astype(DTYPES[element])


@st.composite
def programs(draw: st.DrawFn, steps: int = 14) -> Program:
    """A kernel that loads one array of each type, computes at random, and stores the last value of each type."""
    block = draw(st.sampled_from((4, 32, 256)))
    b = Builder()
    inputs = {t: pointer(f"{t.name}_in", t) for t in TYPES}
    outputs = {t: pointer(f"{t.name}_out", t) for t in TYPES}
    n, k = parameter("n", i32), parameter("k", i64)
    b.span = at(1)
    offs = offsets(b, block)
    mask = below(b, offs, n) if draw(st.booleans()) else None
    pool: list[Value] = [offs, b.splat(n, (block,)), b.splat(k, (block,))]
    for t in TYPES:
        pool.append(b.add(ops.Load, pointer=at_offsets(b, inputs[t], offs), mask=mask))
    for line in range(2, 2 + draw(st.integers(1, steps))):
        b.span = at(line)
        pool.append(_step(draw, b, pool, block))
    for t in TYPES:
        last = next(v for v in reversed(pool) if element_of(v.type) == t)
        b.append(ops.Store(pointer=at_offsets(b, outputs[t], offs), value=last, mask=mask))
    func = b.finish("random", (*inputs.values(), *outputs.values(), n, k))
    return Program(func, block, draw(st.integers(0, 1000)))


def _step(draw: st.DrawFn, b: Builder, pool: list[Value], block: int) -> Value:
    x = draw(st.sampled_from(pool[::-1]))
    element = element_of(x.type)
    assert isinstance(element, ScalarType)
    same = [v for v in pool if v.type == x.type]
    kind = draw(st.sampled_from(("binary", "constant", "unary", "compare", "select", "cast", "again")))
    chosen = draw(st.sampled_from(_NUMBERS[element.kind]))
    if element.kind == "int":
        chosen = (chosen - element.low) % 2**element.bits + element.low
    number = b.constant(chosen, element, (block,))
    match kind:
        case "binary":
            return b.add(draw(st.sampled_from(_BINARY[element.kind])), lhs=x, rhs=draw(st.sampled_from(same)))
        case "constant":
            lhs, rhs = (x, number) if draw(st.booleans()) else (number, x)
            return b.add(draw(st.sampled_from(_BINARY[element.kind])), lhs=lhs, rhs=rhs)
        case "unary":
            if element.kind == "float" and draw(st.booleans()):
                return b.add(ops.Fma, x=x, y=draw(st.sampled_from(same)), z=draw(st.sampled_from([*same, number])))
            absolute = (ops.Abs,) if element.kind == "int" and element.signed else ()
            return b.add(draw(st.sampled_from((*_UNARY[element.kind], *absolute))), source=x)
        case "compare":
            return b.add(draw(st.sampled_from(_COMPARE)), lhs=x, rhs=draw(st.sampled_from(same)))
        case "select":
            conditions = [v for v in pool if element_of(v.type) == i1]
            condition = draw(st.sampled_from(conditions))
            return b.add(ops.Select, condition=condition, if_true=x, if_false=draw(st.sampled_from([*same, number])))
        case "cast":
            return b.add(ops.Cast, source=x, to=draw(st.sampled_from(TYPES)))
    return b.add(draw(st.sampled_from(_BINARY[element.kind])), lhs=number, rhs=number)


def assert_same(actual: list[Any], expected: list[Any]) -> None:
    """Arrays equal bit for bit, but for the sign and payload of NaNs."""
    for a, e in zip(actual, expected, strict=True):
        if isinstance(e, np.ndarray):
            if e.dtype.kind not in "biu":
                nan = np.isnan(e.astype(np.float64))
                np.testing.assert_array_equal(np.isnan(a.astype(np.float64)), nan)
                a, e = a[~nan], e[~nan]
            assert a.tobytes() == e.tobytes(), (a, e)

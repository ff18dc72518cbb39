"""Kernels built by hand with inputs at the edges of their types, for the GPU backends.

They are emulated on the CPU, compiled for every chip, and run where there is a device. The interpreter says what each
must compute.
"""

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
from mytriton.types import PointerType, ScalarType, bf16, f16, f32, f64, i1, i32, i64

NUMBERS = (i32, i64, f16, bf16, f32, f64)
FLOATS = (f16, bf16, f32, f64)


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
        special = np.array([0, 1, -1, 2, -2, 7, 65536, low, low + 1, high, high - 1, 2**24 + 1], dtype)
        rest = random.integers(low, high, size, dtype=dtype, endpoint=True) >> random.integers(0, 31, size, dtype=dtype)
        return np.concatenate([special, rest])[:size]
    special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, np.inf, -np.inf, np.nan, 65504.0, 65520.0, 3.4028235e38, 1e-45, 6e-8]
    special += [2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 9.2233715e18, 9.3e18, -9.3e18, 1e-310, 1e300]
    with np.errstate(over="ignore", under="ignore"):
        rest = random.standard_normal(size) * 2.0 ** random.integers(-20, 20, size)
        return np.concatenate([special, rest])[:size].astype(dtype)


def pairs(element: ScalarType, size: int) -> tuple[Any, Any]:
    """Two arrays whose first elements are combinations of special values."""
    special = edges(element, 12 if element.kind == "int" else 23)
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


def binary(op: type[ops.Binary], element: ScalarType, size: int = 600, block: int = 128) -> Case:
    arrays = pairs(element, size)
    if op in (ops.FloorDiv, ops.Mod) and element.kind == "int":
        # By 0, and the least integer by -1, any value may come: only where it is defined is it compared.
        low = np.iinfo(arrays[0].dtype).min
        defined = (arrays[1] != 0) & ((arrays[0] != low) | (arrays[1] != -1))
        arrays = arrays[0][defined], arrays[1][defined]
    name = f"{op.opcode}_{element}"
    return elementwise(name, (element, element), element, lambda b, v: b.add(op, lhs=v[0], rhs=v[1]), arrays, block)


def unary(op: type[ops.Unary], element: ScalarType, ulp: int = 0) -> Case:
    return elementwise(
        f"{op.opcode}_{element}",
        (element,),
        element,
        lambda b, v: b.add(op, source=v[0]),
        [edges(element, 300)],
        ulp=ulp,
    )


def compare(op: type[ops.Compare], element: ScalarType) -> Case:
    return elementwise(
        f"{op.opcode}_{element}",
        (element, element),
        i1,
        lambda b, v: b.add(op, lhs=v[0], rhs=v[1]),
        pairs(element, 600),
    )


def cast(source: ScalarType, to: ScalarType) -> Case:
    return elementwise(
        f"cast_{source.name}_{to.name}", (source,), to, lambda b, v: b.cast(v[0], to), [edges(source, 700)]
    )


def constants() -> list[Case]:
    """Every constant that is hard to write down, stored."""
    values: list[tuple[ScalarType, float]] = [(i32, -(2**31)), (i32, -1), (i64, -(2**63)), (i64, 2**62)]
    for element in FLOATS:
        values += [(element, v) for v in (np.nan, np.inf, -np.inf, -0.0, 1.0, 0.333251953125)]
    values += [(f32, 1.401298464324817e-45), (f32, 3.4028234663852886e38), (f64, 5e-324), (f64, 0.1), (f32, 16777215.0)]
    cases = []
    for number, (element, value) in enumerate(values):
        exact = DTYPES[element].type(value).item() if element.kind == "float" else int(value)

        def body(b: Builder, v: list[Value], exact: Any = exact, element: ScalarType = element) -> Value:
            return b.add(ops.Select, condition=v[0], if_true=b.constant(exact, element, (128,)), if_false=v[1])

        inputs = np.resize([True, False], 10), edges(element, 10)
        cases.append(elementwise(f"constant_{number}", (i1, element), element, body, inputs))
    return cases


def sizes(largest: int) -> list[Case]:
    """Blocks of every size up to the largest."""
    cases = []
    for exponent in range(largest.bit_length()):
        block = 1 << exponent
        for size in (block * 2 + 3, block + 16):  # the second is a multiple of 16 for blocks from 16 on
            arrays = [np.arange(size, dtype=np.float32), np.ones(size, np.float32)]
            body = lambda b, v: b.add(ops.Add, lhs=v[0], rhs=v[1])  # noqa: E731
            cases.append(elementwise(f"block_{block}_{size}", (f32, f32), f32, body, arrays, block))
    return cases


def pointer_chain() -> Case:
    """`out[i] = *((x + 3) + i + (1 << 33) - (1 << 33))`, where i is an i64 block."""
    b, block = Builder(), 64
    x, out = pointer("x", f32), pointer("out", f32)
    base = b.add(ops.AddPtr, pointer=x, offset=b.constant(3, i32))
    lanes = b.add(ops.Arange, start=0, end=block)
    far = b.add(ops.Add, lhs=b.cast(lanes, i64), rhs=b.constant(1 << 33, i64, (block,)))
    first = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=far)
    second = b.add(ops.AddPtr, pointer=first, offset=b.constant(-(1 << 33), i64, (block,)))
    to = b.add(ops.AddPtr, pointer=b.splat(out, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.add(ops.Load, pointer=second)))
    func = b.finish("pointer_chain", (x, out))
    return Case(func, (np.arange(67, dtype=np.float32), np.zeros(64, np.float32)))


def pointer_choice(block: int = 256) -> Case:
    """Pointers to two arrays chosen by element, compared, and kept across a store."""
    b = Builder()
    x, y, out, same = pointer("x", f32), pointer("y", f32), pointer("out", f32), pointer("same", i1)
    lanes = b.add(ops.Arange, start=0, end=block)
    odd = b.cast(b.add(ops.And, lhs=lanes, rhs=b.constant(1, i32, (block,))), i1)
    from_x = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=lanes)
    from_y = b.add(ops.AddPtr, pointer=b.splat(y, (block,)), offset=lanes)
    chosen = b.add(ops.Select, condition=odd, if_true=from_x, if_false=from_y)
    value = b.add(ops.Load, pointer=chosen)
    is_x = b.add(ops.CmpEq, lhs=chosen, rhs=from_x)
    for base, stored in ((out, value), (same, is_x)):
        to = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=lanes)
        b.append(ops.Store(pointer=to, value=stored))
    b.append(ops.Store(pointer=chosen, value=b.add(ops.Neg, source=value)))
    func = b.finish("pointer_choice", (x, y, out, same))
    arrays = np.arange(block, dtype=np.float32), np.arange(block, dtype=np.float32) + 1000
    return Case(func, (*arrays, np.zeros(block, np.float32), np.zeros(block, np.bool_)))


def scalar_update() -> Case:
    """Once a program: `c[pid] = c[pid] + 1`, then every lane reads the new value; the old one was read before."""
    b, block = Builder(), 128
    c, out = pointer("c", i32), pointer("out", i32)
    pid = b.add(ops.ProgramId, axis=0)
    at = b.add(ops.AddPtr, pointer=c, offset=pid)
    old = b.add(ops.Load, pointer=at)
    b.append(ops.Store(pointer=at, value=b.add(ops.Add, lhs=old, rhs=b.constant(1, i32))))
    new = b.add(ops.Load, pointer=at)
    both = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=old, rhs=b.constant(1000, i32)), rhs=new)
    lanes = b.add(ops.Arange, start=0, end=block)
    base = b.add(ops.AddPtr, pointer=out, offset=b.add(ops.Mul, lhs=pid, rhs=b.constant(block, i32)))
    to = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.splat(both, (block,))))
    func = b.finish("scalar_update", (c, out))
    return Case(func, (np.array([7, -3, 2**31 - 1], np.int32), np.zeros(3 * block, np.int32)), (3, 1, 1))


def scalar_and_block() -> Case:
    """Scalar and block accesses of one array, in turn: `f = x[200]; x[i] = x[i] * f; x[200] = 5; y[i] = x[i]`."""
    b, block = Builder(), 256
    x, y = pointer("x", f32), pointer("y", f32)
    at = b.add(ops.AddPtr, pointer=x, offset=b.constant(200, i32))
    factor = b.add(ops.Load, pointer=at)
    lanes = b.add(ops.Arange, start=0, end=block)
    own = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=lanes)
    scaled = b.add(ops.Mul, lhs=b.add(ops.Load, pointer=own), rhs=b.splat(factor, (block,)))
    b.append(ops.Store(pointer=own, value=scaled))
    b.append(ops.Store(pointer=at, value=b.constant(5.0, f32)))
    to = b.add(ops.AddPtr, pointer=b.splat(y, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.add(ops.Load, pointer=own)))
    func = b.finish("scalar_and_block", (x, y))
    return Case(func, (np.arange(256, dtype=np.float32), np.zeros(256, np.float32)))


def grid_axes() -> Case:
    """`out[pid] = the six grid numbers, mixed`, over a 3-D grid."""
    b = Builder()
    out = pointer("out", i32)
    axes = [b.add(ops.ProgramId, axis=a) for a in range(3)]
    extents = [b.add(ops.NumPrograms, axis=a) for a in range(3)]

    def madd(x: Value, y: Value, z: Value) -> Value:
        return b.add(ops.Add, lhs=b.add(ops.Mul, lhs=x, rhs=y), rhs=z)

    index = madd(madd(axes[2], extents[1], axes[1]), extents[0], axes[0])
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=index), value=madd(index, extents[2], axes[2])))
    return Case(b.finish("grid_axes", (out,)), (np.zeros(24, np.int32),), (4, 3, 2))


def scalar_arguments() -> Case:
    """Scalars of every type, each stored into its own array."""
    b = Builder()
    types = (i1, *NUMBERS)
    scalars = [parameter(f"s{t.name}", t) for t in types]
    outs = [pointer(f"o{t.name}", t) for t in types]
    for scalar, out in zip(scalars, outs, strict=True):
        b.append(ops.Store(pointer=out, value=scalar))
    values = (True, -5, -(2**40), 0.1, 0.1, 0.1, 0.1)
    arrays = [np.zeros(1, DTYPES[t]) for t in types]
    return Case(b.finish("scalar_arguments", (*scalars, *outs)), (*values, *arrays))


def odd_bytes() -> Case:
    """i1 memory: any non-zero byte is true."""
    source = np.array([0, 1, 2, 255, 128, 0, 3], np.uint8).view(np.bool_)
    return elementwise("odd_bytes", (i1,), i1, lambda b, v: b.add(ops.Not, source=v[0]), [source])


def no_trap() -> list[Case]:
    """Division by zero and overflow of division; the results are thrown away."""
    cases = []
    for op, element in itertools.product((ops.FloorDiv, ops.Mod), (i32, i64)):

        def body(b: Builder, v: list[Value], op: type[ops.Binary] = op) -> Value:
            quotient = b.add(op, lhs=v[0], rhs=v[1])
            zero = b.add(ops.And, lhs=quotient, rhs=b.cast(b.add(ops.CmpNe, lhs=v[0], rhs=v[0]), v[0].type.element))
            return b.add(ops.Add, lhs=zero, rhs=v[1])

        low = np.iinfo(DTYPES[element]).min
        arrays = np.array([1, 0, low, 5], DTYPES[element]), np.array([0, 0, -1, -1], DTYPES[element])
        cases.append(elementwise(f"no_trap_{op.opcode}_{element}", (element, element), element, body, arrays))
    return cases


def memory_cases(largest: int = 8192) -> list[Case]:
    """Where elements are, who stores them, and in which order: what depends on the number of threads."""
    cases = [*sizes(largest), pointer_chain(), pointer_choice(), scalar_update(), scalar_and_block()]
    cases.append(elementwise("offset_range", (f32,), f32, lambda b, v: v[0], [edges(f32, 300)], start=77))
    return [*cases, grid_axes(), scalar_arguments(), odd_bytes()]


def every_case(largest: int = 8192) -> list[Case]:
    """All of them, with blocks up to the largest."""
    cases = [*memory_cases(largest), *constants(), *no_trap()]
    arithmetic = (ops.Add, ops.Sub, ops.Mul, ops.Maximum, ops.Minimum, ops.Mod)
    cases += [binary(op, element) for op in arithmetic for element in NUMBERS]
    cases += [binary(ops.Div, element) for element in (f32, f64)]
    cases += [binary(op, element) for op in (ops.FloorDiv, ops.And, ops.Or, ops.Xor) for element in (i32, i64)]
    cases += [binary(op, i1) for op in (ops.And, ops.Or, ops.Xor)]
    cases += [unary(op, element) for op in (ops.Neg, ops.Abs) for element in NUMBERS]
    cases += [unary(ops.Not, element) for element in (i1, i32, i64)]
    cases += [unary(ops.Sqrt, element) for element in FLOATS]
    cases += [unary(op, e, ulp={f32: 2, f64: 4}.get(e, 1)) for op in (ops.Exp, ops.Log) for e in FLOATS]
    comparisons = (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe)
    cases += [compare(op, element) for op in comparisons for element in NUMBERS]
    cases += [compare(op, i1) for op in (ops.CmpEq, ops.CmpNe)]
    types = (i1, *NUMBERS)
    cases += [cast(source, to) for source, to in itertools.permutations(types, 2)]
    return cases

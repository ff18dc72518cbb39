"""Kernels built by hand with inputs at the edges of their types, for the GPU backends.

They are emulated on the CPU, compiled for every chip, and run where there is a device. The interpreter says what each
must compute.
"""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder
from mytriton.ir.core import Value
from mytriton.types import FLOATS, INTEGERS, ScalarType, f32, f64, i1, i32, i64, u8, u32, u64
from tests.backends.gpu_case import NUMBERS, Case, edges, elementwise, pairs
from tests.backends.gpu_memory_cases import (
    block_update,
    grid_axes,
    pointer_chain,
    pointer_choice,
    scalar_and_block,
    scalar_arguments,
    scalar_update,
)


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


def power(element: ScalarType, ulp: int) -> Case:
    body = lambda b, v: b.add(ops.Pow, lhs=v[0], rhs=v[1])  # noqa: E731
    return elementwise(f"pow_{element}", (element, element), element, body, pairs(element, 600), ulp=ulp)


def fma(element: ScalarType) -> Case:
    """Also sums near half way between two numbers, where a second rounding would show."""
    x, y = pairs(element, 600)
    z = np.roll(edges(element, 600, 3), 7)
    with np.errstate(all="ignore"):
        z[300:] = x[300:] * y[300:] * np.resize([1, -1, 2**-8, -(2**-8), 2**-30, 1e-40], 300).astype(z.dtype)
    # Products half way between two numbers, and a little beside.
    short = {11: 2**-6, 8: 2**-4, 24: 2**-12, 53: 2**-27}[_digits(element)]
    x[-6:], y[-6:], z[-6:] = 1 + short, 1 + short, [0, 1e-30, -1e-30, 1e-7, -1e-7, -1]
    body = lambda b, v: b.add(ops.Fma, x=v[0], y=v[1], z=v[2])  # noqa: E731
    return elementwise(f"fma_{element}", (element,) * 3, element, body, [x, y, z])


def _digits(element: ScalarType) -> int:
    return int(ml_dtypes.finfo(DTYPES[element]).nmant) + 1


def shift(op: type[ops.Binary], element: ScalarType, amount: int) -> Case:
    """By a constant."""

    def body(b: Builder, v: list[Value]) -> Value:
        return b.add(op, lhs=v[0], rhs=b.constant(amount, element, (128,)))

    return elementwise(f"{op.opcode}_{element}_{amount}", (element,), element, body, [edges(element, 300)])


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
    values += [(t, n) for t in INTEGERS for n in (t.low, t.high)] + [(u8, 200), (u32, 2**31), (u64, 2**63)]
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


def odd_bytes() -> Case:
    """i1 memory: any non-zero byte is true."""
    source = np.array([0, 1, 2, 255, 128, 0, 3], np.uint8).view(np.bool_)
    return elementwise("odd_bytes", (i1,), i1, lambda b, v: b.add(ops.Not, source=v[0]), [source])


def no_trap() -> list[Case]:
    """Division by zero and overflow of division; the results are thrown away."""
    cases = []
    for op, element in itertools.product((ops.FloorDiv, ops.Mod), INTEGERS):

        def body(b: Builder, v: list[Value], op: type[ops.Binary] = op) -> Value:
            quotient = b.add(op, lhs=v[0], rhs=v[1])
            zero = b.add(ops.And, lhs=quotient, rhs=b.cast(b.add(ops.CmpNe, lhs=v[0], rhs=v[0]), v[0].type.element))
            return b.add(ops.Add, lhs=zero, rhs=v[1])

        low = np.iinfo(DTYPES[element]).min
        arrays = np.array([1, 0, low, 5], DTYPES[element]), np.array([0, 0, -1, -1]).astype(DTYPES[element])
        cases.append(elementwise(f"no_trap_{op.opcode}_{element}", (element, element), element, body, arrays))
    return cases


def memory_cases(largest: int = 8192) -> list[Case]:
    """Where elements are, who stores them, and in which order: what depends on the number of threads."""
    cases = [*sizes(largest), pointer_chain(), pointer_choice(), scalar_update(), scalar_and_block()]
    cases.append(block_update())
    cases.append(elementwise("offset_range", (f32,), f32, lambda b, v: v[0], [edges(f32, 300)], start=77))
    return [*cases, grid_axes(), scalar_arguments(), odd_bytes()]


def every_case(largest: int = 8192) -> list[Case]:
    """All of them, with blocks up to the largest."""
    cases = [*memory_cases(largest), *constants(), *no_trap()]
    arithmetic = (ops.Add, ops.Sub, ops.Mul, ops.Maximum, ops.Minimum, ops.Mod)
    cases += [binary(op, element) for op in arithmetic for element in NUMBERS]
    cases += [binary(ops.Div, element) for element in (f32, f64)]
    integers = (ops.FloorDiv, ops.And, ops.Or, ops.Xor, ops.Shl, ops.Shr)
    cases += [binary(op, element) for op in integers for element in INTEGERS]
    cases += [shift(op, element, n) for op in (ops.Shl, ops.Shr) for element in INTEGERS for n in (3, element.bits)]
    cases += [binary(op, i1) for op in (ops.And, ops.Or, ops.Xor)]
    cases += [unary(ops.Neg, element) for element in NUMBERS]
    cases += [unary(ops.Abs, element) for element in NUMBERS if element.signed]
    cases += [unary(ops.Not, element) for element in (i1, *INTEGERS)]
    cases += [unary(ops.Sqrt, element) for element in FLOATS]
    cases += [unary(op, element) for op in (ops.Floor, ops.Ceil) for element in FLOATS]
    bounds = {e: {f32: 2, f64: 4}.get(e, 1) for e in FLOATS}
    functions = (ops.Exp, ops.Exp2, ops.Log, ops.Log2, ops.Rsqrt, ops.Sin, ops.Cos, ops.Tanh, ops.Erf)
    cases += [unary(op, e, bounds[e]) for op in functions for e in FLOATS]
    cases += [power(e, bounds[e]) for e in FLOATS] + [fma(e) for e in FLOATS]
    comparisons = (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe)
    cases += [compare(op, element) for op in comparisons for element in NUMBERS]
    cases += [compare(op, i1) for op in (ops.CmpEq, ops.CmpNe)]
    types = (i1, *NUMBERS)
    cases += [cast(source, to) for source, to in itertools.permutations(types, 2)]
    return cases

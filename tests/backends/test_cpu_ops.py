"""Every operation and conversion on every type, as vectors and as scalars, against the interpreter."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mytriton.backends.cpu.listing import objdump
from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func
from mytriton.target import Target
from mytriton.types import (
    FLOATS,
    INTEGERS,
    SCALARS,
    PointerType,
    ScalarType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
    u8,
    u32,
    u64,
)
from tests.backends.cpu_support import TARGET, agree, compilation, edge_values, elementwise, pairs, run, same

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))

NUMBERS = (*INTEGERS, *FLOATS)
BITS = (i1, *INTEGERS)
COMPARISONS = (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe)


def many(inputs: tuple[ScalarType, ...], computations: list) -> Func:
    """One kernel with an output for each computation, so that a type costs one compilation: (output type, function)."""
    b = Builder()
    params = [parameter(f"x{i}_ptr", PointerType(t)) for i, t in enumerate(inputs)]
    outs = [parameter(f"out{i}_ptr", PointerType(t)) for i, (t, _) in enumerate(computations)]
    n = parameter("n", i32)
    block = 16
    start = b.add(ops.Mul, lhs=b.add(ops.ProgramId, axis=0), rhs=b.constant(block, i32))
    offs = b.add(ops.Add, lhs=b.splat(start, (block,)), rhs=b.add(ops.Arange, start=0, end=block))
    mask = b.add(ops.CmpLt, lhs=offs, rhs=b.splat(n, (block,)))
    address = {p: b.add(ops.AddPtr, pointer=b.splat(p, (block,)), offset=offs) for p in (*params, *outs)}
    loaded = [b.add(ops.Load, pointer=address[p], mask=mask) for p in params]
    for out, (_, compute) in zip(outs, computations, strict=True):
        b.append(ops.Store(pointer=address[out], value=compute(b, *loaded), mask=mask))
    return b.finish("many", (*params, *outs, n))


def apply(cls: type, *names: str):
    return lambda b, *values: b.add(cls, **dict(zip(names, values, strict=True)))


def check(inputs: tuple[ScalarType, ...], arrays: list, computations: list, target: Target = TARGET) -> None:
    size = len(arrays[0])
    outs = [np.zeros(size, DTYPES[t]) for t, _ in computations]
    agree(many(inputs, computations), [*arrays, *outs, size], (-(-size // 16),), target)


@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_arithmetic(element: ScalarType) -> None:
    kinds = [ops.Add, ops.Sub, ops.Mul]
    kinds += [ops.Div] if element.kind == "float" else [ops.FloorDiv]
    both = list(pairs(edge_values(element)))
    check((element, element), both, [(element, apply(k, "lhs", "rhs")) for k in kinds])


@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_remainders(element: ScalarType) -> None:
    check((element, element), list(pairs(edge_values(element))), [(element, apply(ops.Mod, "lhs", "rhs"))])


@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_maximum_and_minimum_ignore_nan(element: ScalarType) -> None:
    left, right = pairs(edge_values(element))
    nonzero = (left != 0) | (right != 0)  # which zero is returned is unspecified
    arrays = [left[nonzero], right[nonzero]]
    check((element, element), arrays, [(element, apply(k, "lhs", "rhs")) for k in (ops.Maximum, ops.Minimum)])


@pytest.mark.parametrize("element", (i1, *NUMBERS), ids=str)
def test_comparisons_and_select(element: ScalarType) -> None:
    def chosen(b: Builder, x, y):
        return b.add(ops.Select, condition=b.add(ops.CmpLt, lhs=x, rhs=y), if_true=x, if_false=y)

    computations = [(i1, apply(k, "lhs", "rhs")) for k in COMPARISONS] + [(element, chosen)]
    check((element, element), list(pairs(edge_values(element))), computations)


@pytest.mark.parametrize("element", BITS, ids=str)
def test_bit_operations(element: ScalarType) -> None:
    binary = [(element, apply(k, "lhs", "rhs")) for k in (ops.And, ops.Or, ops.Xor)]
    check((element, element), list(pairs(edge_values(element))), binary)
    check((element,), [edge_values(element)], [(element, apply(ops.Not, "source"))])


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_shifts(element: ScalarType) -> None:
    values = np.concatenate(
        [edge_values(element), np.arange(element.bits - 2, element.bits + 3).astype(DTYPES[element])]
    )
    check((element, element), list(pairs(values)), [(element, apply(k, "lhs", "rhs")) for k in (ops.Shl, ops.Shr)])
    amounts = (0, 1, element.bits - 1, element.bits, element.low, element.high)

    def by(cls: type, n: int):
        return lambda b, x: b.add(cls, lhs=x, rhs=b.constant(n, element, (16,)))

    check((element,), [values], [(element, by(cls, n)) for cls in (ops.Shl, ops.Shr) for n in amounts])


@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_negation_absolute_value_and_square_root(element: ScalarType) -> None:
    kinds = [ops.Neg] + ([ops.Abs] if element.signed else []) + ([ops.Sqrt] if element.kind == "float" else [])
    check((element,), [edge_values(element)], [(element, apply(k, "source")) for k in kinds])


@pytest.mark.parametrize("element", tuple(SCALARS.values()), ids=str)
def test_conversions(element: ScalarType) -> None:
    values = edge_values(element)
    if element in (f64, i64, u64):  # values that would round twice on the way through f32 or f64
        ties = [1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-11 + 2.0**-40, 2.0**-25 + 2.0**-60, 1 + 3 * 2.0**-8 - 2.0**-40]
        extra = np.array(ties) if element == f64 else np.array([2**40 + 2**32 + 1, (2**62 + 2**54) + 1, 2**24 + 3])
        values = np.concatenate([values, extra.astype(values.dtype)])
    targets = [t for t in SCALARS.values() if t != element]
    check((element,), [values], [(t, lambda b, x, t=t: b.cast(x, t)) for t in targets])


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_exponential_and_logarithm_stay_within_their_bounds(element: ScalarType) -> None:
    dtype = DTYPES[element]
    with np.errstate(all="ignore"):
        bits = np.random.default_rng(5).integers(0, 2**element.bits, 20000, f"u{element.bits // 8}", endpoint=False)
        near = [np.linspace(-110, 100, 20001), 1 + np.linspace(-0.5, 0.6, 20001), 1 + np.linspace(-1e-3, 1e-3, 999)]
        x = np.concatenate([*(a.astype(dtype) for a in near), bits.view(dtype), edge_values(element)])
    outs = [np.zeros(len(x), dtype) for _ in range(2)]
    func = many((element,), [(element, apply(k, "source")) for k in (ops.Exp, ops.Log)])
    run(func, [x, *outs, len(x)], (-(-len(x) // 16),))
    with np.errstate(all="ignore"):
        exact = [f(x.astype(np.longdouble)) for f in (np.exp, np.log)]
        for mine, reference in zip(outs, exact, strict=True):
            rounded = reference.astype(np.float64).astype(dtype)
            bounds = {f32: 2, f64: 4, f16: 1, bf16: 1}
            assert ulps(mine, rounded, element.bits) <= bounds[element]


PRECISE = {
    ops.Exp2: (np.exp2, 140), ops.Log2: (np.log2, 4), ops.Tanh: (np.tanh, 9),
    ops.Sin: (np.sin, 1000), ops.Cos: (np.cos, 1000), ops.Erf: (np.vectorize(math.erf), 5),
}  # fmt: skip


def test_functions_of_vectors_round_once_and_call_nothing() -> None:
    bits = np.random.default_rng(5).integers(0, 2**32, 4000, np.uint32, endpoint=False).view(np.float32)
    edges = np.concatenate([edge_values(f32), np.float32([2**30, -(2**30), 1e30, 0.625, 1.0, 4.0, -149.5, 127.99])])
    widest = max(limit for _, limit in PRECISE.values())
    spread = [np.linspace(-limit, limit, 2001, dtype=np.float32) for limit in (widest, 140, 9, 1)]
    x = np.concatenate([*spread, bits, edges])
    outs = [np.zeros(len(x), np.float32) for _ in PRECISE]
    func = many((f32,), [(f32, apply(kind, "source")) for kind in PRECISE])
    run(func, [x, *outs, len(x)], (-(-len(x) // 16),))
    with np.errstate(all="ignore"):
        for mine, (function, _) in zip(outs, PRECISE.values(), strict=True):
            assert ulps(mine, function(x.astype(np.float64)).astype(np.float32), 32) <= 1
            np.testing.assert_array_equal(mine[x == 0], function(x[x == 0]).astype(np.float32))
    for kind in (ops.Tanh, ops.Erf, ops.Exp2, ops.Log2):  # sin and cos leave large arguments to the C library
        text = compilation(elementwise((f32,), f32, 64, apply(kind, "source"))).stage("llvm").artifact
        assert f"@{kind.opcode}f" not in text
        assert f"@llvm.{kind.opcode}" not in text


def ulps(a, b, bits: int) -> int:
    """The largest distance in units of the last place; NaN and infinities must coincide."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    assert (np.isnan(wide_a) == np.isnan(wide_b)).all()
    with np.errstate(all="ignore"):
        ordered = []
        for array in (a, b):
            raw = array.view(f"i{bits // 8}").astype(object)
            lowest = -(2 ** (bits - 1))
            ordered.append(np.where(raw < 0, lowest - raw, raw))
    apart = np.abs(ordered[0] - ordered[1])[~np.isnan(wide_a)]
    return int(apart.max())


def scalar_kernel(element: ScalarType, cls: type) -> Func:
    """`*out = cls(x, y)` on scalar parameters, masked off for a second store."""
    b = Builder()
    x, y = parameter("x", element), parameter("y", element)
    result = b.add(cls, lhs=x, rhs=y)
    out = parameter("out_ptr", PointerType(result.type))
    b.append(ops.Store(pointer=out, value=result))
    next_ = b.add(ops.AddPtr, pointer=out, offset=b.constant(1, i32))
    b.append(ops.Store(pointer=next_, value=result, mask=b.constant(False, i1)))
    return b.finish("scalar", (x, y, out))


@pytest.mark.parametrize(
    ("element", "cls", "x", "y", "expected"),
    [
        (i32, ops.FloorDiv, -7, 2, -3),
        (i32, ops.Mod, -7, 2, -1),
        (i32, ops.Add, 2**31 - 1, 1, -(2**31)),
        (i64, ops.Mul, 2**62, 2, -(2**63)),
        (i8, ops.Mul, 100, 3, 44),
        (u8, ops.Add, 250, 10, 4),
        (u8, ops.Shl, 255, 7, 128),
        (i8, ops.Shr, -128, 3, -16),
        (u32, ops.Shr, 2**31, 31, 1),
        (u32, ops.Shl, 1, 32, 0),
        (i32, ops.Shr, -5, -1, -1),
        (u32, ops.FloorDiv, 2**32 - 1, 2, 2**31 - 1),
        (u64, ops.Mod, 2**64 - 1, 10, 5),
        (u64, ops.CmpGt, 2**63, 1, True),
        (f16, ops.Add, 2048.0, 1.0, 2048.0),
        (bf16, ops.Mul, 3.0, 0.5, 1.5),
        (f32, ops.Div, 1.0, 3.0, np.float32(1) / np.float32(3)),
        (f64, ops.Sub, 1.0, 1e-17, 1.0),
        (i1, ops.Xor, True, True, False),
        (i1, ops.CmpNe, True, False, True),
    ],
    ids=str,
)
def test_scalars(element: ScalarType, cls: type, x, y, expected) -> None:
    func = scalar_kernel(element, cls)
    out = np.zeros(2, DTYPES[func.params[2].type.element])
    run(func, [x, y, out])
    assert out[0] == expected
    assert out[1] == 0


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_scalar_division_never_traps(element: ScalarType) -> None:
    for cls in (ops.FloorDiv, ops.Mod):
        func = scalar_kernel(element, cls)
        for x, y in ((5, 0), (element.low, -1 if element.signed else element.high), (0, 0)):
            run(func, [x, y, np.zeros(2, DTYPES[element])])  # that it returns is the test


def test_masked_off_lanes_do_not_divide() -> None:
    func = elementwise((i32, i32), i32, 32, apply(ops.FloorDiv, "lhs", "rhs"))
    out = np.zeros(3, np.int32)
    run(func, [np.array([7, 8, 9], np.int32), np.array([2, 2, 3], np.int32), out, 3])
    assert out.tolist() == [3, 4, 3]


def test_contraction_follows_the_target() -> None:
    def product_plus(b: Builder, x, y, z):
        return b.add(ops.Add, lhs=b.add(ops.Mul, lhs=x, rhs=y), rhs=z)

    func = elementwise((f32, f32, f32), f32, 16, product_plus)
    eps = np.float32(2**-12)
    x, z = np.full(16, 1 + eps, np.float32), np.full(16, -1, np.float32)
    apart, fused = np.zeros(16, np.float32), np.zeros(16, np.float32)
    run(func, [x, x, z, apart, 16], target=Target("cpu", enable_fp_fusion=False))
    run(func, [x, x, z, fused, 16])
    assert apart[0] == (x * x + z)[0]
    exact = np.float32(np.float64(x[0]) ** 2 - 1)  # what one rounding gives, on a host that has the instruction
    assert fused[0] in (exact, apart[0])
    assert exact != apart[0]


@pytest.mark.parametrize("element", FLOATS, ids=str)
def test_special_constants(element: ScalarType) -> None:
    values = [-0.0, np.nan, np.inf, -np.inf, 1.5]
    check(
        (element,), [edge_values(element)], [(element, lambda b, x, v=v: b.constant(v, element, (16,))) for v in values]
    )


def test_any_non_zero_byte_is_true() -> None:
    func = elementwise((i1,), i32, 16, lambda b, x: b.cast(x, i32))
    flags, out = np.array([0, 1, 2, 255, 0, 128], np.uint8).view(np.bool_), np.zeros(6, np.int32)
    run(func, [flags, out, 6])
    assert out.tolist() == [0, 1, 1, 1, 0, 1]


def test_a_stored_bool_is_one_byte() -> None:
    func = elementwise((i32,), i1, 16, lambda b, x: b.cast(x, i1))
    out = np.full(5, 7, np.uint8)
    run(func, [np.array([0, 4, -1, 0, 256], np.int32), out, 5])
    assert out.tolist() == [0, 1, 1, 0, 1]


def test_the_interpreter_takes_the_same_calls() -> None:
    func = elementwise((f32,), f32, 16, apply(ops.Exp, "source"))
    x = np.linspace(-2, 2, 20, dtype=np.float32)
    mine, theirs = np.zeros(20, np.float32), np.zeros(20, np.float32)
    run(func, [x, mine, 20], (2,))
    interp.run(func, [x, theirs, 20], (2,))
    np.testing.assert_allclose(mine, theirs, rtol=3e-7)
    same(np.zeros(1, np.float32), np.zeros(1, np.float32))


@pytest.mark.parametrize("element", (bf16, f32, i64, u8, u64), ids=str)
def test_no_library_routine_is_needed_on_older_hosts(element: ScalarType, tmp_path) -> None:
    """Code for an x86-64-v3 host (no AVX-512, no bf16 instructions) calls nothing: the JIT could not find it."""
    kinds = [ops.Add, ops.Mul, ops.Maximum] + ([ops.Div] if element.kind == "float" else [ops.FloorDiv, ops.Mod])
    computations = [(element, apply(k, "lhs", "rhs")) for k in kinds] + [(i1, apply(ops.CmpLt, "lhs", "rhs"))]
    computations += [(element, lambda b, x, y: b.add(ops.Neg, source=b.cast(b.cast(x, f64), element)))]
    if element.kind == "int":
        computations += [(element, apply(k, "lhs", "rhs")) for k in (ops.Shl, ops.Shr)]
    text = compilation(many((element, element), computations)).stage("llvm").artifact
    (tmp_path / "kernel.ll").write_text(text)
    for tool, *options in (
        ("opt", "-O3", "-S", "-mcpu=x86-64-v3", "-o", "kernel.ll", "kernel.ll"),
        ("llc", "-O3", "-mcpu=x86-64-v3", "-filetype=obj", "-o", "kernel.o", "kernel.ll"),
    ):
        subprocess.run([tools() / tool, "-mtriple=x86_64-linux-gnu", *options], check=True, cwd=tmp_path)
    done = subprocess.run([tools() / "llvm-nm", "-u", "kernel.o"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == ""


def tools() -> Path:
    path = objdump()
    assert path is not None
    return Path(path).parent

"""Elementwise operations as MLIR text: exact constants, and every operation and conversion parses and lowers."""

import math

import ml_dtypes
import numpy as np
import pytest

from mytriton.backends.mlir.ops import ElementEmitter, contractible
from mytriton.backends.mlir.run import ModuleRun
from mytriton.backends.mlir.writer import constant_name, literal
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Op
from mytriton.stage import Line
from mytriton.types import INTEGERS, SCALARS, bf16, f16, f32, f64, i1, i32, i64, u32

NUMERIC = [t for t in SCALARS.values() if t != i1 and not t.is_float8]


def _one_op(cls, type_, **fields) -> tuple[Func, Op]:
    builder = Builder()
    names = [
        n for n in ("source", "condition", "lhs", "rhs", "if_true", "if_false", *"xyz") if n in cls.__dataclass_fields__
    ]
    operands = {n: parameter(n, i1 if n == "condition" else type_) for n in names}
    op = builder.append(cls(**operands, **fields))
    return builder.finish("k", tuple(operands.values())), op


def _text(func, op, *, width, gpu) -> list[str]:
    lines: list[str] = []
    emitter = ElementEmitter(func, lines.append, width=width, fusion=True, gpu=gpu)
    result = emitter.emit(op, "%r", [f"%{v.id}" for v in op.operands])
    params = ", ".join(f"%{p.id}: {emitter.mlir_type(p.type)}" for p in func.params)
    type_ = emitter.mlir_type(op.result.type)
    return [f"func.func @k({params}) -> {type_} {{", *lines, f"return {result} : {type_}", "}"]


def _cases():
    for cls in (ops.Add, ops.Sub, ops.Mul, ops.Maximum, ops.Minimum, ops.Mod, ops.Neg):
        yield from ((cls, t, {}) for t in NUMERIC)
    yield from ((ops.Abs, t, {}) for t in NUMERIC if t.signed)
    functions = (ops.Exp, ops.Exp2, ops.Log, ops.Log2, ops.Sqrt, ops.Rsqrt, ops.Sin, ops.Cos, ops.Tanh, ops.Erf)
    functions += (ops.AddRn, ops.MulRn, ops.Atan2, *ops.Rare.__subclasses__())
    for cls in (ops.Div, *functions, ops.Floor, ops.Ceil, ops.Pow, ops.Fma):
        yield from ((cls, t, {}) for t in (f16, bf16, f32, f64))
    for cls in (ops.MaximumNan, ops.MinimumNan):
        yield from ((cls, t, {}) for t in (f16, bf16, f32, f64))
    for cls in (ops.FloorDiv, ops.Shl, ops.Shr, ops.Popcount):
        yield from ((cls, t, {}) for t in INTEGERS)
    for cls in (ops.And, ops.Or, ops.Xor, ops.Not):
        yield from ((cls, t, {}) for t in (i1, *INTEGERS))
    for cls in (ops.CmpEq, ops.CmpNe, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe):
        yield from ((cls, t, {}) for t in (i1, *NUMERIC))
    yield from ((ops.Select, t, {}) for t in SCALARS.values())
    yield from ((ops.Cast, a, {"to": b}) for a in SCALARS.values() for b in SCALARS.values())
    same_width = ((a, b) for a in SCALARS.values() for b in SCALARS.values() if a.bits == b.bits)
    yield from ((ops.Bitcast, a, {"to": b}) for a, b in same_width)


@pytest.mark.parametrize("width", [None, 8])
@pytest.mark.parametrize("gpu", [False, True])
def test_every_operation_parses_and_verifies_at_every_type(width, gpu):
    for cls, type_, fields in _cases():
        text = _text(*_one_op(cls, type_, **fields), width=width, gpu=gpu)
        run = ModuleRun([Line(t) for t in text], prefix="t")
        (stage,) = run.stages([])
        assert stage.status == "ok", (cls.opcode, type_, fields, "\n".join(text), stage.diagnostics)


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (0.0, f32, "0.000000e+00"),
        (-0.0, f32, "-0.000000e+00"),
        (16777215.0, f32, "0x4B7FFFFF"),  # %e has seven digits
        (float(np.float32(math.pi)), f32, "0x40490FDB"),
        (math.nan, f32, "0x7FC00000"),
        (-math.inf, f32, "0xFF800000"),
        (math.inf, f16, "0x7C00"),
        (math.inf, bf16, "0x7F80"),
        (0.1, f64, "1.000000e-01"),
        (math.pi, f64, "0x400921FB54442D18"),
        (float(ml_dtypes.bfloat16(3.14)), bf16, "3.140625e+00"),
        (1e-45, f32, "0x00000001"),
        (True, i1, "true"),
        (-(2**63), i64, "-9223372036854775808"),
        (2**32 - 1, u32, "4294967295"),
    ],
)
def test_constants_are_exact(value, type_, text):
    if type_ == f32:
        value = float(np.float32(value))
    assert literal(value, type_) == text


def test_constant_names_are_distinct_and_legal():
    values = [1e16, 1e-16, -1e16, -1e-16, 0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, 15.0]
    names = [constant_name(v, f32) for v in values]
    assert len(set(names)) == len(values)
    assert constant_name(0.0, f32) == "c_f32_0_0"
    assert constant_name(-1, i32) == "c_i32_m1"
    assert all(n.isidentifier() for n in names)


def test_a_division_by_a_harmless_constant_is_not_guarded():
    for divisor, guarded in ((3, False), (0, True), (-1, True)):
        b = Builder()
        x = parameter("x", i32)
        op = b.append(ops.FloorDiv(lhs=x, rhs=b.constant(divisor, i32)))
        lines: list[str] = []
        ElementEmitter(b.finish("k", (x,)), lines.append).emit(op, "%v0", ["%x", "%c"])
        assert (len(lines) > 1) == guarded
        assert lines[-1].startswith("%v0 = arith.divsi %x, ")


def test_a_shift_by_less_than_the_width_is_not_guarded():
    for amount, type_, lines_wanted in ((31, i32, 1), (32, i32, 3), (-1, i32, 3), (31, u32, 1), (32, u32, 6)):
        b = Builder()
        x = parameter("x", type_)
        op = b.append(ops.Shr(lhs=x, rhs=b.constant(amount, type_)))
        lines: list[str] = []
        ElementEmitter(b.finish("k", (x,)), lines.append).emit(op, "%v0", ["%x", "%c"])
        assert len(lines) == lines_wanted
        assert any(("arith.shrsi" if type_ == i32 else "arith.shrui") in line for line in lines)


def test_only_multiply_adds_carry_the_contract_flag():
    b = Builder()
    x, y, z = (parameter(n, f32) for n in "xyz")
    product = b.append(ops.Mul(lhs=x, rhs=y))
    fused = b.append(ops.Add(lhs=product.result, rhs=z))
    alone = b.append(ops.Add(lhs=x, rhs=z))
    func = b.finish("k", (x, y, z))
    assert contractible(func) == {product.result, fused.result}
    lines: list[str] = []
    emitter = ElementEmitter(func, lines.append, fusion=True)
    for op, names in ((product, ["%x", "%y"]), (fused, ["%v0", "%z"]), (alone, ["%x", "%z"])):
        emitter.emit(op, "%v" + op.result.id[1:], names)
    assert lines == [
        "%v0 = arith.mulf %x, %y fastmath<contract> : f32",
        "%v1 = arith.addf %v0, %z fastmath<contract> : f32",
        "%v2 = arith.addf %x, %z : f32",
    ]
    unfused: list[str] = []
    ElementEmitter(func, unfused.append).emit(product, "%v0", ["%x", "%y"])
    assert unfused == ["%v0 = arith.mulf %x, %y : f32"]

"""How kernels name the functions of `tl.math`, and what their operands become."""

from __future__ import annotations

import pytest

from mytriton.ir import ops
from mytriton.passes.fold import fold
from tests.frontend.support import errors, hints, lowered, ssa


def test_every_way_to_name_a_function():
    text = """
    import triton
    import triton.language as tl
    from triton.language import math as m, exp2
    from triton.language.extra import libdevice
    from triton.language.extra.cuda import libdevice as older
    import triton.language.math as ours

    @triton.jit
    def k(x, out):
        v = tl.load(x)
        tl.store(out, tl.sin(v) + tl.math.cos(v) + m.tanh(v) + exp2(v))
        tl.store(out, libdevice.erf(v) + older.pow(v, v) + ours.floor(v))
    """
    func, _ = lowered(text, "*fp32, *fp32")
    used = {type(op) for op in func.walk()}
    assert {ops.Sin, ops.Cos, ops.Tanh, ops.Exp2, ops.Erf, ops.Pow, ops.Floor} <= used


def type_of(expression: str) -> str:
    head = "def k(hp, bp, fp, dp):\n    h, b, f, d = tl.load(hp), tl.load(bp), tl.load(fp), tl.load(dp)\n"
    body = f"    p = tl.load(fp + tl.arange(0, 8))\n    r = {expression}"
    return str(list(lowered(head + body, "*fp16, *bf16, *fp32, *fp64")[0].walk())[-1].results[0].type)


@pytest.mark.parametrize(
    ("expression", "type_"),
    [
        ("tl.sin(h)", "f16"),
        ("tl.rsqrt(p)", "vector<8 x f32>"),
        ("tl.pow(h, 2)", "f16"),
        ("tl.pow(h, b)", "f32"),
        ("tl.pow(2, d)", "f64"),
        ("tl.pow(p, f)", "vector<8 x f32>"),
        ("tl.fma(h, 2, 0.5)", "f16"),
        ("tl.fma(h, b, 1)", "f32"),
        ("tl.fma(f, p, d)", "vector<8 x f64>"),
        ("tl.exp2(3)", "f32"),
        ("tl.sigmoid(p)", "vector<8 x f32>"),
        ("tl.clamp(h, 0, 1)", "f16"),
        ("tl.clamp(p, h, d)", "vector<8 x f64>"),
        ("tl.div_rn(h, 3)", "f32"),
    ],
)
def test_operands_are_promoted(expression, type_):
    assert type_of(expression) == type_


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("tl.sin(n)", "MT203 tl.sin takes floats, got `n` (i32)", "convert it first: n.to(tl.float32)"),
        ("tl.pow(n, x)", "MT203 tl.pow takes floats, got `n` (i32)", "convert it first: n.to(tl.float32)"),
        ("tl.fma(x, x, fp)", "MT203 tl.fma takes floats, got `fp` (ptr<f32>)", ""),
        (
            "tl.pow(p, q)",
            "MT204 shapes do not match: `p` (vector<8 x f32>) and `q` (vector<4 x f32>) have extents 8 and 4 on axis 0",
            None,
        ),
        ("tl.math.sine(x)", "MT135 there is no `tl.math.sine`", "did you mean `tl.math.sin`?"),
    ],
)
def test_what_they_refuse(expression, message, hint):
    text = f"""
    def k(fp, n):
        x = tl.load(fp)
        p, q = tl.load(fp + tl.arange(0, 8)), tl.load(fp + tl.arange(0, 4))
        r = {expression}
    """
    (found,) = errors(text, "*fp32, i32")
    assert found.split(" ", 1)[1] == message
    if hint is not None:
        assert hints(text, "*fp32, i32") == [hint]


def test_constants_fold_to_what_the_kernel_would_compute():
    text = "def k(out):\n    tl.store(out, tl.fma(3.0, 0.5, tl.exp2(4.0)))\n    tl.store(out, tl.math.floor(-0.5))"
    func, _ = fold(lowered(text, "*fp32")[0])
    stored = [op.value for op in func.walk() if isinstance(op, ops.Store)]
    constants = {op.result: op.value for op in func.walk() if isinstance(op, ops.Constant)}
    assert [constants[v] for v in stored] == [17.5, -1.0]


def test_sigmoid_of_a_short_float_is_computed_in_f32():
    text = ssa("def k(x, out):\n    tl.store(out, tl.sigmoid(tl.load(x)))", "*fp16, *fp16")
    assert text.splitlines() == [
        "%0 = load x : f16",
        "%1 = neg f32(%0) : f32",
        "%2 = exp %1 : f32",
        "%3 = add 1.0, %2 : f32",
        "%4 = div 1.0, %3 : f32",
        "store out, f16(%4)",
    ]

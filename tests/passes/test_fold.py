"""Algebra and constant folding: each rule on a one-operation kernel, with the listing and the log it leaves."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.ir.ops import Constant
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.fold import RULES, fold
from mytriton.stage import Change
from mytriton.types import BlockType, ScalarType, bf16, f16, f32, f64, i1, i32, i64, u32
from tests.ir.kernels import at, binary_kernel, pointer

Make = Callable[[Builder, Value], Value]


def expression(element: ScalarType, make: Make, block: int = 0) -> Func:
    """`make` applied to a parameter `x` (splat to `block` elements, if any), its result stored."""
    b = Builder()
    x = parameter("x", element)
    b.span = at(7)
    value = make(b, b.splat(x, (block,)) if block else x)
    out_element = value.type.element if isinstance(value.type, BlockType) else value.type
    assert isinstance(out_element, ScalarType)
    out = pointer("out", out_element)
    target = b.splat(out, (block,)) if block else out
    b.append(ops.Store(pointer=target, value=value))
    return b.finish("k", (x, out))


def folded(element: ScalarType, make: Make, block: int = 0) -> tuple[str, tuple[Change, ...]]:
    """What is stored after folding, as text, and the log."""
    func = expression(element, make, block)
    verify(func)
    result, changes = fold(func)
    verify(result)
    assert (result is func) == (not changes)
    return print_func(result)[-1].text.removeprefix("store out, "), changes


def binary(cls: type[ops.Binary], number: float, flip: bool = False) -> Make:
    def make(b: Builder, x: Value) -> Value:
        element = x.type.element if isinstance(x.type, BlockType) else x.type
        shape = x.type.shape if isinstance(x.type, BlockType) else ()
        assert isinstance(element, ScalarType)
        c = b.constant(number, element, shape)
        return b.add(cls, lhs=c, rhs=x) if flip else b.add(cls, lhs=x, rhs=c)

    return make


def same(cls: type[ops.Binary] | type[ops.Compare]) -> Make:
    return lambda b, x: b.add(cls, lhs=x, rhs=x)


@pytest.mark.parametrize("block", [0, 64])
@pytest.mark.parametrize(
    ("rule_name", "element", "make", "text"),
    [
        ("add_zero", i32, binary(ops.Add, 0), "x"),
        ("add_zero", i32, binary(ops.Add, 0, flip=True), "x"),
        ("add_zero", f32, binary(ops.Add, -0.0), "x"),
        ("sub_zero", i64, binary(ops.Sub, 0), "x"),
        ("sub_zero", f32, binary(ops.Sub, 0.0), "x"),
        ("sub_self", i32, same(ops.Sub), "0"),
        ("mul_one", i32, binary(ops.Mul, 1), "x"),
        ("mul_one", f16, binary(ops.Mul, 1.0, flip=True), "x"),
        ("mul_zero", i32, binary(ops.Mul, 0), "0"),
        ("mul_zero", i64, binary(ops.Mul, 0, flip=True), "0"),
        ("div_one", f32, binary(ops.Div, 1.0), "x"),
        ("div_one", i32, binary(ops.FloorDiv, 1), "x"),
        ("mod_one", i32, binary(ops.Mod, 1), "0"),
        ("same_operands", i32, same(ops.And), "x"),
        ("same_operands", i1, same(ops.Or), "x"),
        ("same_operands", f32, same(ops.Maximum), "x"),
        ("bits_zero", i32, binary(ops.Or, 0), "x"),
        ("bits_zero", i1, binary(ops.Xor, False), "x"),
        ("and_constant", i32, binary(ops.And, 0), "0"),
        ("and_constant", i32, binary(ops.And, -1, flip=True), "x"),
        ("and_constant", i1, binary(ops.And, True), "x"),
        ("or_ones", i1, binary(ops.Or, True), "true"),
        ("xor_self", i32, same(ops.Xor), "0"),
        ("xor_self", i1, same(ops.Xor), "false"),
        ("compare_self", i32, same(ops.CmpLe), "true"),
        ("compare_self", i64, same(ops.CmpNe), "false"),
        ("neg_neg", f32, lambda b, x: b.add(ops.Neg, source=b.add(ops.Neg, source=x)), "x"),
        ("not_not", i32, lambda b, x: b.add(ops.Not, source=b.add(ops.Not, source=x)), "x"),
    ],
)
def test_identity(rule_name: str, element: ScalarType, make: Make, text: str, block: int) -> None:
    stored, changes = folded(element, make, block)
    assert stored == text
    assert [c.rule for c in changes] == [rule_name]
    assert changes[0].span == at(7)


@pytest.mark.parametrize(
    ("element", "make"),
    [
        (f32, binary(ops.Add, 0.0)),  # -0.0 + 0.0 is 0.0
        (f32, binary(ops.Sub, -0.0)),
        (f32, binary(ops.Mul, 0.0)),  # NaN, infinity
        (f32, same(ops.Sub)),
        (f32, same(ops.CmpEq)),
        (f32, binary(ops.Div, 2.0)),
        (f32, binary(ops.Mod, 1.0)),
        (i32, binary(ops.And, 1)),  # all bits only of a bool
        (i32, binary(ops.FloorDiv, 1, flip=True)),
        (i32, binary(ops.FloorDiv, 0)),
    ],
)
def test_what_is_no_identity_stays(element: ScalarType, make: Make) -> None:
    assert folded(element, make) == ("%0", ())


def select(b: Builder, condition: Value, x: Value, y: Value) -> Value:
    return b.add(ops.Select, condition=condition, if_true=x, if_false=y)


def test_select() -> None:
    def equal_arms(b: Builder, x: Value) -> Value:
        return select(b, b.add(ops.CmpLt, lhs=x, rhs=b.constant(3, i32)), x, x)

    def constant_condition(b: Builder, x: Value) -> Value:
        return select(b, b.constant(False, i1), b.constant(3, i32), x)

    def bool_arms(b: Builder, x: Value) -> Value:
        return select(b, x, b.constant(True, i1), b.constant(False, i1))

    def swapped_arms(b: Builder, x: Value) -> Value:
        return select(b, x, b.constant(False, i1), b.constant(True, i1))

    assert folded(i32, equal_arms)[0] == "x"
    assert folded(i32, constant_condition)[0] == "x"
    assert folded(i1, bool_arms)[0] == "x"
    assert folded(i1, swapped_arms)[1][0].after == "%1 = not x : bool"


def casts(*types: ScalarType) -> Make:
    def make(b: Builder, x: Value) -> Value:
        for t in types:
            x = b.add(ops.Cast, source=x, to=t)
        return x

    return make


@pytest.mark.parametrize(
    ("source", "types", "text"),
    [
        (f32, (f64, f32), "x"),
        (i32, (i64, i32), "x"),
        (i32, (f64, i32), "x"),
        (i1, (i32, f32), "f32(x)"),
        (f16, (f32, i32), "i32(x)"),
        (bf16, (f32, f64), "f64(x)"),
        (f16, (f16,), "x"),
        (f32, (f16, f32), "f32(f16(x))"),  # rounds
        (i64, (i32, i64), "i64(i32(x))"),  # wraps
        (i32, (f32, i32), "i32(f32(x))"),  # rounds above 2**24
        (bf16, (f16, f32), "f32(f16(x))"),
        (i64, (f64, i64), "i64(f64(x))"),
    ],
)
def test_casts(source: ScalarType, types: tuple[ScalarType, ...], text: str) -> None:
    assert folded(source, casts(*types))[0] == text


def constant_binary(cls: type[ops.Binary] | type[ops.Compare], x: float, y: float, element: ScalarType) -> Make:
    return lambda b, _: b.add(cls, lhs=b.constant(x, element), rhs=b.constant(y, element))


@pytest.mark.parametrize(
    ("cls", "x", "y", "element", "why"),
    [
        (ops.Mul, 2, 4, i32, "2 * 4 = 8"),
        (ops.Add, 2**31 - 1, 1, i32, "2147483647 + 1 = -2147483648"),
        (ops.FloorDiv, -7, 2, i32, "-7 // 2 = -3"),
        (ops.Mod, -7, 2, i32, "-7 % 2 = -1"),
        (ops.Add, 16777216.0, 1.0, f32, "16777216.0 + 1.0 = 16777216.0"),
        (ops.Div, 1.0, 3.0, f32, "1.0 / 3.0 = 0.3333333432674408"),
        (ops.Div, 1.0, 0.0, f32, "1.0 / 0.0 = inf"),
        (ops.Mul, 60000.0, 2.0, f16, "60000.0 * 2.0 = inf"),
        (ops.CmpLt, 1, 2, i32, "1 < 2 = true"),
        (ops.Maximum, 3, 5, i64, "maximum(3, 5) = 5"),
    ],
)
def test_constants(cls: type[ops.Binary], x: float, y: float, element: ScalarType, why: str) -> None:
    stored, (change,) = folded(i32, constant_binary(cls, x, y, element))
    assert change.rule == "constant"
    assert change.why == why
    assert stored == change.after == why.rsplit(" ", 1)[1]


def test_constants_round_in_their_own_type() -> None:
    b = Builder()
    value = b.add(ops.Add, lhs=b.constant(1.0, bf16), rhs=b.constant(2.0**-8, bf16))
    out = pointer("out", bf16)
    b.append(ops.Store(pointer=out, value=value))
    assert print_func(fold(b.finish("k", (out,)))[0])[-1].text == "store out, 1.0"


@pytest.mark.parametrize(("x", "y"), [(5, 0), (-(2**31), -1), (7, -1)])
def test_a_division_without_a_promised_value_is_not_folded(x: int, y: int) -> None:
    for cls in (ops.FloorDiv, ops.Mod):
        assert folded(i32, constant_binary(cls, x, y, i32)) == ("%0", ())


def test_a_chain_folds_to_one_constant_and_logs_each_step() -> None:
    def make(b: Builder, x: Value) -> Value:
        two = b.add(ops.Sub, lhs=b.constant(5, i32), rhs=b.constant(3, i32))
        four = b.add(ops.Mul, lhs=two, rhs=two)
        return b.add(ops.Add, lhs=x, rhs=b.add(ops.Cast, source=b.splat(four, (8,)), to=i32))

    stored, changes = folded(i32, make, 8)
    assert stored == "%2"
    assert [(c.before, c.after, c.why) for c in changes] == [
        ("%0 = sub 5, 3 : i32", "2", "5 - 3 = 2"),
        ("%1 = mul 2, 2 : i32", "4", "2 * 2 = 4"),
        ("i32(4)", "4", "i32(4) = 4"),
    ]


def addptr_chain(*offsets: tuple[int, ScalarType]) -> tuple[list[str], list[str]]:
    b = Builder()
    p = x = pointer("x", f32)
    for number, element in offsets:
        p = b.add(ops.AddPtr, pointer=p, offset=b.constant(number, element))
    b.append(ops.Store(pointer=p, value=b.constant(0.0, f32)))
    result, changes = fold(b.finish("k", (x,)))
    verify(result)
    return [line.text for line in print_func(result)], [c.why for c in changes]


def test_pointer_offsets_add_up_where_the_sum_is_exact() -> None:
    listing, why = addptr_chain((3, i32), (4, i64), (-1, i32))
    assert listing[-2:] == ["%4 = addptr x, 6 : ptr<f32>", "store %4, 0.0"]
    assert why == ["3 + 4 = 7", "7 + -1 = 6"]
    listing, why = addptr_chain((2**31 - 1, i32), (1, i32))
    assert listing[-2:] == ["%2 = addptr x, 2147483648 : ptr<f32>", "store %2, 0.0"]
    listing, why = addptr_chain((2**63 - 1, i64), (1, i64))
    assert why == []
    listing, why = addptr_chain((0, i32))
    assert listing == ["store x, 0.0"]


def test_nothing_to_fold_returns_the_same_function() -> None:
    func = binary_kernel()
    assert fold(func) == (func, ())


def test_every_rule_states_its_identity() -> None:
    assert all(r.identity for r in RULES)
    assert len({r.name for r in RULES}) == len(RULES)


def test_a_folded_nan_is_a_nan() -> None:
    func, _ = fold(expression(f32, constant_binary(ops.Sub, math.inf, math.inf, f32)))
    store = func.body.ops[-1]
    assert isinstance(store, ops.Store)
    found = [op.value for op in func.walk() if isinstance(op, Constant) and op.result is store.value]
    assert math.isnan(found[0])


def logged(element: ScalarType, make: Make) -> list[tuple[str, str, str]]:
    return [(c.rule, c.before, c.after) for c in folded(element, make)[1]]


def test_selects_on_conditions_that_were_seen_before() -> None:
    def negated(b: Builder, x: Value) -> Value:
        three = b.constant(3, i32)
        condition = b.add(ops.Not, source=b.add(ops.CmpLt, lhs=x, rhs=three))
        return select(b, condition, x, three)

    def again(b: Builder, x: Value) -> Value:
        three, four = b.constant(3, i32), b.constant(4, i32)
        condition = b.add(ops.CmpLt, lhs=x, rhs=three)
        return select(b, condition, select(b, condition, x, three), select(b, condition, three, four))

    def other(b: Builder, x: Value) -> Value:
        three = b.constant(3, i32)
        conditions = [b.add(cls, lhs=x, rhs=three) for cls in (ops.CmpLt, ops.CmpEq)]
        return select(b, conditions[0], select(b, conditions[1], x, three), three)

    assert logged(i32, negated) == [("select_not", "%2 = select %1, x, 3 : i32", "%3 = select %0, 3, x : i32")]
    assert logged(i32, again) == [("select_select", "%3 = select %0, %1, %2 : i32", "%4 = select %0, x, 4 : i32")]
    assert logged(i32, other) == []


def test_bit_casts() -> None:
    def bits(*types: ScalarType) -> Make:
        def make(b: Builder, x: Value) -> Value:
            for t in types:
                x = b.add(ops.Bitcast, source=x, to=t)
            return x

        return make

    def constant(value: float, element: ScalarType, to: ScalarType) -> Make:
        return lambda b, x: b.add(ops.Bitcast, source=b.constant(value, element), to=to)

    assert folded(i32, bits(i32))[0] == "x"
    assert logged(i32, bits(f32, u32)) == [
        ("bitcast_bitcast", "%1 = bitcast %0 {to=u32} : u32", "%2 = bitcast x {to=u32} : u32")
    ]
    assert [c[0] for c in logged(i32, bits(f32, i32))] == ["bitcast_bitcast", "same_type"]
    assert folded(i32, constant(1.0, f32, i32))[0] == str(0x3F800000)
    assert folded(i32, constant(-1, i32, u32))[0] == str(2**32 - 1)
    assert folded(i32, constant(0x3F800000, i32, f32))[1][0].why == "f32(1065353216) = 1.0"
    # The bits of a NaN are not kept as a constant.
    assert folded(i32, constant(0x7FC00001, i32, f32))[1] == ()
    assert folded(i32, constant(math.nan, f32, i32))[1] == ()

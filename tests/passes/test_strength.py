"""Strength reduction: what ranges prove."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Value
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.dce import dce
from mytriton.passes.strength import RULES, strength
from mytriton.stage import Change
from mytriton.types import ScalarType, element_of, f32, f64, i32, i64, shape_of, u32
from tests.ir.kernels import below, offsets, pointer
from tests.layout.tiles import Tiles

Make = Callable[[Builder, Value], Value]


def reduced(element: ScalarType, make: Make) -> tuple[str, tuple[Change, ...]]:
    """The last operation of what is left of `make(b, x)` for a parameter `x`, or the value itself, and the log."""
    b = Builder()
    x = parameter("x", element)
    value = make(b, x)
    out = pointer("out", element_of(value.type))  # type: ignore[arg-type]
    b.append(ops.Store(pointer=b.splat(out, shape_of(value.type)), value=value))
    result, changes = strength(b.finish("k", (x, out)))
    verify(result)
    *_, last, store = ["", *(line.text for line in print_func(dce(result)[0]))]
    stored = store.removeprefix("store out, ")
    return last if last.startswith(f"{stored} =") else stored, changes


def with_number(cls: type[ops.Binary], number: float, start: int | None = None) -> Make:
    """An operation on `x` and a number; on `pid + start` instead of `x` if a start is given."""

    def make(b: Builder, x: Value) -> Value:
        element = element_of(x.type)
        assert isinstance(element, ScalarType)
        if start is not None:
            x = b.add(ops.And, lhs=x, rhs=b.constant(1023, element))
            x = b.add(ops.Add, lhs=x, rhs=b.constant(start, element)) if start else x
        return b.add(cls, lhs=x, rhs=b.constant(number, element))

    return make


@pytest.mark.parametrize(
    ("element", "make", "text", "rule"),
    [
        (u32, with_number(ops.FloorDiv, 8), "%1 = shr x, 3 : u32", "div_power"),
        (i32, with_number(ops.FloorDiv, 8), "%0 = idiv x, 8 : i32", ""),
        (i32, with_number(ops.FloorDiv, 8, 0), "%2 = shr %0, 3 : i32", "div_power"),
        (i64, with_number(ops.FloorDiv, 8, -1), "%2 = idiv %1, 8 : i64", ""),
        (u32, with_number(ops.FloorDiv, 6), "%0 = idiv x, 6 : u32", ""),
        (u32, with_number(ops.FloorDiv, 2**31), "%1 = shr x, 31 : u32", "div_power"),
        (u32, with_number(ops.Mod, 16), "%1 = and x, 15 : u32", "mod_power"),
        (i32, with_number(ops.Mod, 16), "%0 = mod x, 16 : i32", ""),
        (i32, with_number(ops.Mod, 16, 0), "%2 = and %0, 15 : i32", "mod_power"),
        (f32, with_number(ops.Mod, 4.0), "%0 = mod x, 4.0 : f32", ""),
        (i32, with_number(ops.Mod, 2000, 5), "%1 = add %0, 5 : i32", "div_larger"),
        (i32, with_number(ops.FloorDiv, 2000, 5), "0", "div_larger"),
        (i32, with_number(ops.FloorDiv, 1028, 5), "%2 = idiv %1, 1028 : i32", ""),
        (f32, with_number(ops.Div, 8.0), "%1 = mul x, 0.125 : f32", "div_float_power"),
        (f64, with_number(ops.Div, -0.25), "%1 = mul x, -4.0 : f64", "div_float_power"),
        (f32, with_number(ops.Div, 3.0), "%0 = div x, 3.0 : f32", ""),
        (f32, with_number(ops.Div, 2.0**127), "%0 = div x, 1.7014118346046923e+38 : f32", ""),
        (f32, with_number(ops.Div, 0.0), "%0 = div x, 0.0 : f32", ""),
        (f32, with_number(ops.Pow, 2.0), "%1 = mul x, x : f32", "pow_small"),
        (f32, with_number(ops.Pow, 1.0), "x", "pow_small"),
        (i32, with_number(ops.CmpLt, 1024, 0), "true", "compare_ranges"),
        (i32, with_number(ops.CmpLt, 1023, 0), "%1 = cmp_lt %0, 1023 : bool", ""),
        (i32, with_number(ops.CmpLe, 1023, 0), "true", "compare_ranges"),
        (i32, with_number(ops.CmpGe, 0, 0), "true", "compare_ranges"),
        (i32, with_number(ops.CmpGt, 1023, 0), "false", "compare_ranges"),
        (i32, with_number(ops.CmpGe, 1024, 0), "false", "compare_ranges"),
        (i32, with_number(ops.CmpLt, 0, 0), "false", "compare_ranges"),
        (i32, with_number(ops.CmpGt, -1, 0), "true", "compare_ranges"),
        (i32, with_number(ops.CmpLe, -1, 0), "false", "compare_ranges"),
        (i32, with_number(ops.CmpEq, 1024, 0), "false", "compare_ranges"),
        (i32, with_number(ops.CmpNe, -1, 0), "true", "compare_ranges"),
        (u32, with_number(ops.CmpGe, 0), "true", "compare_ranges"),
        (i32, with_number(ops.Maximum, 0, 0), "%0 = and x, 1023 : i32", "bound_ranges"),
        (i32, with_number(ops.Minimum, 0, 0), "0", "bound_ranges"),
        (i32, with_number(ops.Minimum, 1023, 0), "%0 = and x, 1023 : i32", "bound_ranges"),
        (i32, with_number(ops.Maximum, 1023, 0), "1023", "bound_ranges"),
        (i32, with_number(ops.Maximum, 5, 0), "%1 = maximum %0, 5 : i32", ""),
        (i32, with_number(ops.Mul, 256), "%0 = mul x, 256 : i32", ""),
    ],
)
def test_rules(element: ScalarType, make: Make, text: str, rule: str) -> None:
    found, changes = reduced(element, make)
    assert (found, [c.rule for c in changes]) == (text, [rule] if rule else [])


def test_the_sign_of_what_is_not_negative() -> None:
    def make(b: Builder, x: Value) -> Value:
        return b.add(ops.Abs, source=b.add(ops.Arange, start=0, end=8))

    assert reduced(i32, make)[0] == "%0 = arange {start=0, end=8} : vector<8 x i32>"


def test_a_mask_that_cannot_be_false_goes_away() -> None:
    b = Builder()
    x, out = pointer("x", f32), pointer("out", f32)
    lanes = b.add(ops.Arange, start=0, end=64)
    mask = below(b, lanes, b.constant(64, i32))
    pointers = [b.add(ops.AddPtr, pointer=b.splat(p, (64,)), offset=lanes) for p in (x, out)]
    value = b.add(ops.Load, pointer=pointers[0], mask=mask, other=b.constant(0.0, f32, (64,)))
    b.append(ops.Store(pointer=pointers[1], value=value, mask=mask))
    result, changes = strength(b.finish("k", (x, out)))
    verify(result)
    assert [line.text for line in print_func(dce(result)[0])][-2:] == [
        "%5 = load %2 : vector<64 x f32>",
        "store %3, %5",
    ]
    assert changes[0].why == "[0, 63] < [64, 64] is true"
    assert [c.rule for c in changes] == ["compare_ranges", "load_constant_mask", "store_constant_mask"]


@pytest.mark.parametrize("again", [False, True])
def test_what_is_added_to_a_product_is_where_it_begins(again: bool) -> None:
    b, out = Tiles(), pointer("out", f32)
    place = b.index((4, 4))
    x = b.load(out, place)
    product = b.add(ops.Dot, lhs=x, rhs=x, acc=b.constant(0.0, f32, (4, 4)), precision="tf32")
    b.store(out, place, b.binary(ops.Add, x, product))
    if again:
        b.store(out, place, product)
    result, _ = strength(b.finish("k", (out,)))
    verify(result)
    result, _ = dce(result)
    assert [op.acc is x for op in result.walk() if isinstance(op, ops.Dot)] == [not again]


def test_the_seeds_offsets_stay_as_they_are() -> None:
    b = Builder()
    out = pointer("out", i32)
    offs = offsets(b, 256)
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=b.splat(out, (256,)), offset=offs), value=offs))
    func = b.finish("k", (out,))
    assert strength(func) == (func, ())


def test_every_rule_states_its_identity() -> None:
    assert all(r.identity for r in RULES)

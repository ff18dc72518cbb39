"""The rewriting driver, with rules made up for the test."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.fold import fold
from mytriton.passes.rewrite import Match, Rule, rewrite, rule
from mytriton.stage import Change
from mytriton.types import f32, i32
from tests.ir.kernels import at, pointer


def stored(make: Callable[[Builder, Value], Value]) -> Func:
    """A kernel that stores `make` of its i32 parameter `x`."""
    b = Builder()
    x, out = parameter("x", i32), pointer("out", i32)
    b.span = at(7)
    b.append(ops.Store(pointer=out, value=make(b, x)))
    return b.finish("k", (x, out))


def negated() -> Func:
    return stored(lambda b, x: b.add(ops.Neg, source=x))


def test_new_operations_take_fresh_ids_and_the_old_span() -> None:
    @rule(ops.Neg)
    def neg_as_sub(op: ops.Neg, m: Match) -> Value:
        """-x = 0 - x"""
        return m.build(ops.Sub(lhs=m.number(0, op.result.type), rhs=op.source))

    func = negated()
    result, (change,) = rewrite(func, "demo", [neg_as_sub])
    verify(result)
    line = print_func(result)[0]
    assert (line.text, line.span) == ("%1 = sub 0, x : i32", at(7))
    assert change == Change("demo", "neg_as_sub", "%0 = neg x : i32", line.text, at(7), "-x = 0 - x")
    assert result.next_value == func.next_value + 1


def test_a_replacement_of_another_type_is_refused() -> None:
    wrong = Rule("wrong", (ops.Neg,), "", lambda op, m: m.number(0.0, f32))
    with pytest.raises(InternalError, match=r"rule `wrong` replaces `%0 = neg x : i32` by a value of type f32"):
        rewrite(negated(), "demo", [wrong])


def test_rules_that_undo_each_other_are_stopped() -> None:
    forever = Rule("forever", (ops.Neg,), "", lambda op, m: m.build(ops.Neg(source=op.source)))
    with pytest.raises(InternalError, match="do not come to an end"):
        rewrite(negated(), "demo", [forever])


def test_a_long_kernel_needs_no_recursion() -> None:
    def make(b: Builder, x: Value) -> Value:
        for _ in range(2500):
            x = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=x, rhs=b.constant(1, i32)), rhs=b.constant(1, i32))
        return x

    func = stored(make)
    result, changes = fold(func)
    verify(result)
    assert len(changes) == 2500
    assert sum(isinstance(op, ops.Add) for op in result.walk()) == 2500

"""The verifier names the operation and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.verify import verify
from mytriton.types import ScalarType, f32, i32
from tests.ir.kernels import at, binary_kernel, counter_kernel, mixed_kernel


def with_ops(func: Func, body: list[Op]) -> Func:
    return replace(func, body=Block(func.params, tuple(body)))


def two_adds() -> Func:
    b = Builder()
    b.span = at(4)
    n = parameter("n", i32)
    first = b.add(ops.Add, lhs=n, rhs=n)
    b.add(ops.Add, lhs=first, rhs=n)
    return b.finish("two_adds", (n,))


def test_well_formed_functions_pass() -> None:
    for func in (binary_kernel(), counter_kernel(), mixed_kernel(), two_adds()):
        verify(func)


def test_use_before_definition() -> None:
    func = two_adds()
    message = (
        r"^invalid SSA in `two_adds`: `%1 = add %0, n : i32` \(line 4 of the kernel\) uses %0 before it is defined$"
    )
    with pytest.raises(InternalError, match=message):
        verify(with_ops(func, list(reversed(func.body.ops))))


def test_an_id_defined_twice() -> None:
    func = two_adds()
    second = replace(func.body.ops[1], results=(Value("%0", i32),))
    with pytest.raises(InternalError, match=r"`%0 = add %0, n : i32` .* defines %0 a second time$"):
        verify(with_ops(func, [func.body.ops[0], second]))


def test_a_result_of_another_type() -> None:
    func = two_adds()
    second = replace(func.body.ops[1], results=(Value("%1", f32),))
    with pytest.raises(InternalError, match=r"has results of type \(f32\), its rule gives \(i32\)$"):
        verify(with_ops(func, [func.body.ops[0], second]))


def test_operands_that_break_the_type_rule() -> None:
    n, x = parameter("n", i32), parameter("x", f32)
    bad = ops.Add(lhs=n, rhs=x, results=(Value("%0", i32),))
    with pytest.raises(InternalError, match=r"breaks its type rule: operand types differ: i32 and f32$"):
        verify(Func("k", Block((n, x), (bad,)), {}, next_value=1))


def test_an_id_beyond_the_next_free_one() -> None:
    with pytest.raises(InternalError, match=r"defines %1, but the function says that the next free number is 1$"):
        verify(replace(two_adds(), next_value=1))


def test_a_parameter_of_an_equal_but_other_object_is_not_defined() -> None:
    func = two_adds()
    stranger = func.body.ops[0].with_operands({func.params[0]: parameter("n", i32)})
    with pytest.raises(InternalError, match="uses n where it is not visible"):
        verify(with_ops(func, [stranger]))


@pytest.mark.parametrize(
    ("value", "element", "reason"),
    [
        (2**31, i32, "2147483648 does not fit i32"),
        (1, f32, "a constant of type f32 cannot be 1"),
        (True, i32, "a constant of type i32 cannot be True"),
    ],
)
def test_a_constant_that_its_type_cannot_hold(value: float, element: ScalarType, reason: str) -> None:
    constant = ops.Constant(value=value, type=element, results=(Value("%c0", element),))
    with pytest.raises(InternalError, match=rf"breaks its type rule: {reason}$"):
        verify(Func("k", Block((), (constant,)), {}, next_inline=1))

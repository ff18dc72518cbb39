"""How products go through shared memory: rounds, slots, and what of the program shows it."""

from __future__ import annotations

import pytest

from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import dot_plan, factor_bytes, mapped
from mytriton.layout.routes import number
from mytriton.types import BlockType, ScalarType, f16, f32, i8


def dot(m: int, k: int, n: int, factor: ScalarType = f32, batch: tuple[int, ...] = ()) -> ops.Dot:
    total = ops.dot.accumulates_in(factor)
    shapes = ((*batch, m, k), factor), ((*batch, k, n), factor), ((*batch, m, n), total)
    lhs, rhs, acc = (Value("", BlockType(shape, element)) for shape, element in shapes)
    return ops.Dot(lhs=lhs, rhs=rhs, acc=acc)


@pytest.mark.parametrize(
    ("op", "rounds", "depth", "slots"),
    [
        (dot(16, 16, 16), 1, 16, 512),
        (dot(64, 64, 64), 1, 64, 8192),  # 32 KB of f32, no more
        (dot(128, 64, 128), 2, 32, 8192),
        (dot(128, 64, 128, f16), 1, 64, 16384),
        (dot(128, 128, 128, i8), 1, 128, 32768),
        (dot(8, 2, 16, batch=(4,)), 1, 2, 192),
        (dot(1024, 4, 1), 1, 4, 4100),
        (dot(16384, 4, 16), 4, 1, 16400),  # no fewer than one step: more than 32 KB
    ],
)
def test_rounds(op, rounds, depth, slots):
    plan = dot_plan(op)
    assert (plan.rounds, plan.depth, plan.slots) == (rounds, depth, slots)
    assert factor_bytes(op) * slots <= 32768 or depth == 1


@pytest.mark.parametrize("op", [dot(128, 64, 128), dot(8, 2, 16, batch=(4,)), dot(1, 8, 4)], ids=str)
def test_every_element_is_found_where_it_was_put(op):
    plan = dot_plan(op)
    *batch, m, k = op.lhs.type.shape
    n = op.rhs.type.shape[-1]
    for which, row, column in ((0, 0, 0), (batch[0] - 1 if batch else 0, m - 1, n - 1), (0, m // 2, n // 2)):
        at = (which * m + row) * n + column
        for step in (0, k // 2, k - 1):
            turn, inside = divmod(step, plan.depth)
            positions = (which * m + row) * k + step, (which * k + step) * n + column
            for factor, position in zip((plan.lhs, plan.rhs), positions, strict=True):
                assert number(factor.round, position) == turn
                assert number(factor.slot, position) == number(factor.needed, at) + inside * factor.stride


def test_layouts_are_sent_through():
    assert mapped((4, 0, 16), (1, 4, 0, 2)) == (4, 16, 0, 0)

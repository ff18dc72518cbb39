"""Pipelined loops: what becomes a copy and what does not, and that copies are waited for, as late as they may land."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import JITFunction
from mytriton.backends.nvidia.shared import shared_bytes
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.layout.program import Exchange, Item, LaidOut, Nested
from mytriton.layout.staging import AsyncCopy, AsyncWait, Staged
from mytriton.target import Target
from tests import feature_kernels_pipelines as kernels
from tests.stage_runs import optimized

A100 = Target(chip="sm_80", num_warps=2)


def launch(kernel: JITFunction, example: triton.Example, target: Target) -> tuple[LaidOut, list[Any]]:
    """An example's laid-out program and its arguments."""
    prepared = kernel.prepare(example.grid, **example.args, backend="interp")
    return lay_out(optimized(prepared.compilation), target), prepared.args


def operations(laid_out: LaidOut, kind: type[Op]) -> list[Any]:
    return [op for op in laid_out.func.walk() if isinstance(op, kind)]


def differs(laid_out: LaidOut, args: list[Any], example: triton.Example, order: Sequence[int] | None = None) -> float:
    """The largest error of the program."""
    ((name, expected),) = example.expected.items()
    example.args[name][...] = 0
    grid = example.grid if isinstance(example.grid, tuple) else (example.grid,)
    simulate.run(laid_out, args, grid, order)
    return float(np.nanmax(np.abs(np.nan_to_num(example.args[name], nan=np.inf) - expected)))


@pytest.mark.parametrize("stages", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("case", range(len(kernels.tiled_kernel.examples)))
def test_products_in_any_number_of_stages(case: int, stages: int) -> None:
    example = kernels.tiled_kernel.examples[case].build()
    laid_out, args = launch(kernels.tiled_kernel, example, replace(A100, num_stages=stages))
    copies = operations(laid_out, AsyncCopy)
    assert {op.ring.stages for op in copies} == ({stages} if stages > 1 and copies else set())
    assert differs(laid_out, args, example, ((0, 1), (1, 0))[stages % 2]) < 1e-4


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_products_of_one_loop_inside_of_another(order: tuple[int, int]) -> None:
    example = kernels.attended(n=100, stages=4)
    laid_out, args = launch(kernels.attended_kernel, example, A100)
    assert [op.staged for op in operations(laid_out, ops.Dot)] == ["rhs", "rhs"]
    assert differs(laid_out, args, example, order) < 3e-3


def changed(items: Sequence[Item], change: Callable[[Item], Item]) -> tuple[Item, ...]:
    """Items with each that is not nested changed."""
    inside = (
        replace(item, blocks=tuple(changed(b, change) for b in item.blocks)) if isinstance(item, Nested) else item
        for item in items
    )
    return tuple(map(change, inside))


def test_a_wait_for_too_few_groups_is_seen() -> None:
    def lax(item: Item) -> Item:
        if isinstance(item, Exchange) and isinstance(item.op, AsyncWait):
            return replace(item, op=item.op.evolve(pending=item.op.pending + 1))
        return item

    example = kernels.tiled(m=40, n=32, k=160)
    laid_out, args = launch(kernels.tiled_kernel, example, A100)
    try:
        assert differs(replace(laid_out, items=changed(laid_out.items, lax)), args, example) > 1
    except InternalError as error:
        assert "never waited for" in str(error)


@triton.jit
def tiles_kernel(a, b, out, K, B: tl.constexpr):
    """Two products, one after the other."""
    m, k = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    for tile in range(2):
        total = tl.zeros((B, B), tl.float32)
        for i in range(0, K, B):
            x = tl.load(a + (tile * B + m) * K + i + k)
            total = tl.dot(x, tl.load(b + (i + m) * B + k), total, input_precision="ieee")
        tl.store(out + (tile * B + m) * B + k, total)


def test_the_buffers_of_the_loop_before_are_not_overwritten_while_they_are_read() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((64, 128), np.float32), rng.standard_normal((128, 32), np.float32)
    arrays = {"a": a, "b": b, "out": np.zeros((64, 32), np.float32)}
    example = triton.Example(args=arrays | {"K": 128, "B": 32}, grid=1, expected={"out": a @ b})
    laid_out, args = launch(tiles_kernel, example, A100)
    assert max(differs(laid_out, args, example, order) for order in ((0, 1), (1, 0))) < 1e-4

    def without(item: Item) -> Item:
        return replace(item, barrier=False) if isinstance(item, Nested) else item

    broken = replace(laid_out, items=changed(laid_out.items, without))
    assert sum(item.barrier for item in laid_out.walk()) == 1 + sum(item.barrier for item in broken.walk())
    assert max(differs(broken, args, example, order) for order in ((0, 1), (1, 0))) > 1


@triton.jit
def kept_kernel(x, y, index, out, K, N: tl.constexpr, WHY: tl.constexpr):
    """What cannot be copied ahead, for various reasons."""
    n = tl.arange(0, N)
    at = n[:, None] * N + n[None, :]
    total = tl.zeros((N, N), tl.float32)
    for k in range(K):
        if WHY == "address":
            a = tl.load(x + at + tl.load(index + k))
        elif WHY == "volatile":
            a = tl.load(x + at, volatile=True)
        elif WHY == "other":
            a = tl.load(x + at, mask=at < K, other=1.0)
        else:
            a = tl.load(x + at + k * N * N)
        if WHY == "cast":
            a = (a * 2.0).to(tl.float16)
        b = tl.load(y + at * 2 if WHY == "apart" else y + at)
        total += tl.dot(a, b)
        if WHY == "uses":
            total += a
        if WHY == "writes":
            tl.store(out + at, total)
    tl.store(out + at, total)


@pytest.mark.parametrize(
    ("why", "reason", "kept"),
    [
        ("", "", 0),
        ("address", "its address or mask depends on what the loop loads", 1),
        ("volatile", "the loop writes to memory", 2),
        ("other", "what is masked off is not 0", 1),
        ("cast", "its block goes to `mul`, not to a product as it is", 1),
        ("apart", "a copy moves at least 4 bytes, but of 2 bytes each 1 in a row are known to be consecutive and", 1),
        ("uses", "its block has several uses", 1),
        ("writes", "the loop writes to memory", 2),
    ],
)
def test_what_is_not_copied_ahead_and_why(why: str, reason: str, kept: int) -> None:
    compilation = kept_kernel.compile(
        f"*fp16:16, *fp16:16, *i32, *fp32:16, i32, 32, '{why}'", backend="cuda", chip="sm_80"
    )
    changes = [c for c in compilation.stage("layout").changes if c.pass_name == "layout/pipeline"]
    assert [c.rule for c in changes if c.rule == "keep"] == ["keep"] * kept
    assert all(reason in c.why for c in changes if c.rule == "keep")
    assert sum(c.rule == "copy" for c in changes) == 2 - kept


def test_chips_before_sm_80_copy_nothing_ahead() -> None:
    example = kernels.tiled(m=40, n=32, k=160)
    laid_out, _ = launch(kernels.tiled_kernel, example, Target(chip="sm_75"))
    assert not operations(laid_out, AsyncCopy)
    assert sum("sm_75 has no asynchronous copies" in change.why for change in laid_out.changes) == 2


@pytest.mark.parametrize(
    ("chip", "stages", "fits"), [("sm_90", 8, 7), ("sm_80", 5, 5), ("sm_86", 5, 3), ("sm_86", 3, 3)]
)
def test_as_many_stages_as_the_chip_has_room_for(chip: str, stages: int, fits: int) -> None:
    signature = "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, i32:16, 128, 128, 64, True, False"
    options = {"backend": "cuda", "chip": chip, "num_warps": 8, "num_stages": stages}
    layout = kernels.tiled_kernel.compile(signature, **options).stage("layout")
    rings = {op.ring for op in operations(layout.artifact, Staged)}
    assert {ring.stages for ring in rings} == {fits}
    assert shared_bytes(layout.artifact) >= fits * 32768
    why = [c.why for c in layout.changes if c.rule == "fewer"]
    assert bool(why) == (fits < stages)
    assert all(f"{fits} are kept" in text for text in why)

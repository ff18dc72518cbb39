"""Products by warpgroups in emitted code: their numbers on the host, and what the assembler makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from examples.kernels.attention import attention_kernel
from mytriton.backends.cuda.emit import emit
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.layout.ops import Convert, Finish
from mytriton.layout.program import Exchange, Item, LaidOut, Nested
from mytriton.target import Target
from mytriton.types import bf16, f16, f32, i8, u8
from tests.backends.emulate import build
from tests.layout.test_mma import arrays, product
from tests.layout.test_warpgroup import chain, chained
from tests.stage_runs import optimized

#: The shape (batch, rows, depth, columns), the factors' type, warps, and which factors are stored transposed.
CASES = [
    ((128, 32, 64), f16, 4, (False, False)),
    ((64, 128, 32), bf16, 8, (True, True)),
    ((128, 16, 128), f16, 8, (False, True)),
    ((2, 64, 64, 16), f16, 4, (True, False)),
    ((64, 512, 64), f16, 4, (False, False)),  # in rounds
    ((64, 16, 32), f32, 4, (False, True)),
    ((64, 64, 16), i8, 4, (False, True)),
    ((64, 32, 16), u8, 4, (False, True)),
]


@triton.jit
def multiply(a, b, c, N, K, M: tl.constexpr, SIDE: tl.constexpr, DEPTH: tl.constexpr, TURN: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, SIDE), tl.arange(0, DEPTH)
    acc = tl.zeros((M, SIDE), tl.float32)
    for start in range(0, K, DEPTH):
        x = tl.load(a + m[:, None] * K + start + k[None, :])
        if TURN:
            y = tl.trans(tl.load(b + n[:, None] * K + start + k[None, :]))
        else:
            y = tl.load(b + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


def looped(stages: int, trips: int, turn: bool = False, num_warps: int = 4) -> tuple[LaidOut, list[Any], np.ndarray]:
    """A loop of 128 x 32 products of a depth of 32, its arguments and what they should become."""
    rng = np.random.default_rng(stages)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((128, 32 * trips), (32 * trips, 32)))
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    given = [a, b.T.copy() if turn else b, np.zeros((128, 32), np.float32), 32, 32 * trips]
    constants = {"M": 128, "SIDE": 32, "DEPTH": 32, "TURN": turn}
    func = optimized(multiply.prepare((1,), *given, **constants, backend="interp").compilation)
    return lay_out(func, Target(chip="sm_90a", num_warps=num_warps, num_stages=stages)), given, wanted


def total(given: list[np.ndarray], flips: tuple[bool, bool]) -> np.ndarray:
    """What `product` makes of its last argument."""
    a, b = (
        x.reshape(*x.shape[:-2], *reversed(x.shape[-2:])).swapaxes(-1, -2) if flip else x
        for x, flip in zip((x.astype(given[2].dtype) for x in given[:2]), flips, strict=True)
    )
    return given[2] + a @ b


def text_of(laid_out: LaidOut) -> tuple[str, int]:
    target = Target(chip="sm_90a", num_warps=laid_out.num_warps)
    return "\n".join(line.text for line in emit(laid_out, target)) + "\n", target.threads


def laid(func: Func, num_warps: int) -> LaidOut:
    return lay_out(func, Target(chip="sm_90a", num_warps=num_warps))


#: Two products, the first of which is a factor of the second: rows, depth, columns, columns of the second; warps.
CHAINS = [((128, 32, 64, 32), 4), ((128, 16, 32, 64), 8)]


def of_chain(given: list[np.ndarray]) -> np.ndarray:
    x, y, z = (block.astype(np.float32) for block in given[:3])
    return (x @ y) @ z


def attending() -> tuple[LaidOut, list[Any], np.ndarray]:
    """Attention of 100 queries in blocks of 64: its two products, the second of which takes a factor from registers."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((100, 32)).astype(np.float16) for _ in range(3))
    scores = np.exp(q.astype(np.float64) @ k.T.astype(np.float64) / 8)
    given = [q, k, v, np.zeros_like(q), np.zeros(100, np.float32), 0.125, 100]
    constants = {"CAUSAL": False, "D": 32, "BLOCK_M": 64, "BLOCK_N": 32}
    func = optimized(attention_kernel.prepare((2, 1), *given, **constants, backend="interp").compilation)
    return laid(func, 4), given, scores / scores.sum(1, keepdims=True) @ v.astype(np.float64)


def test_attention(tmp_path: Path) -> None:
    laid_out, given, wanted = attending()
    assert [op.held for op in laid_out.func.walk() if isinstance(op, ops.Dot)] == [False, True]
    simulate.run(laid_out, given, (2,), (2, 0, 3, 1))
    np.testing.assert_allclose(given[3], wanted, atol=2e-3)
    given[3][...] = 0
    types = [None] * 5 + [np.float32, np.int32]
    build([text_of(laid_out)], tmp_path).run(0, (2, 1, 1), given, types)
    np.testing.assert_allclose(given[3], wanted, atol=2e-3)


def test_numbers_of_mlir() -> None:
    from tests.backends.gpu_on_cpu import Kernels

    pairs = [(shape, element, flips, Target("mlir", "sm_90a", warps)) for shape, element, warps, flips in CASES]
    loops = [looped(2, 3, turn=True), looped(3, 5, num_warps=8)]
    kernels = Kernels(
        [(product(shape, element, flips, "tf32"), target) for shape, element, flips, target in pairs]
        + [(laid_out, Target("mlir", "sm_90a", laid_out.num_warps)) for laid_out, _, _ in loops]
        + [(chain(*shape), Target("mlir", "sm_90a", warps)) for shape, warps in CHAINS]
    )
    for number, (shape, element, flips, _) in enumerate(pairs):
        given = arrays(shape, element)
        wanted = total(given, flips)
        kernels.run(number, given, (1,))
        assert (given[2] == wanted).all()
    for number, (_, given, wanted) in enumerate(loops, len(CASES)):
        kernels.run(number, given, (1,))
        assert (given[2] == wanted).all()
    for number, (shape, _) in enumerate(CHAINS, len(CASES) + len(loops)):
        kernels.run(number, given := chained(*shape), (1,))
        assert (given[3] == of_chain(given)).all()


def test_numbers(tmp_path: Path) -> None:
    loops = [looped(1, 2), looped(2, 3, turn=True), looped(3, 5, num_warps=8)]
    texts = [text_of(laid(product(shape, type_, flips, "tf32"), warps)) for shape, type_, warps, flips in CASES]
    texts += [text_of(laid_out) for laid_out, _, _ in loops]
    texts += [text_of(laid(chain(*shape), warps)) for shape, warps in CHAINS]
    assert all("mt_wgmma_" in text for text, _ in texts)
    library = build(texts, tmp_path)
    for upwards in (False, True):
        for number, (shape, element, _, flips) in enumerate(CASES):
            given = arrays(shape, element)
            wanted = total(given, flips)
            library.run(number, (1, 1, 1), given, [None] * 3, upwards)
            assert (given[2] == wanted).all()
        for number, (_, given, wanted) in enumerate(loops, len(CASES)):
            given[2][...] = 0
            library.run(number, (1, 1, 1), given, [None] * 3 + [np.int32] * 2, upwards)
            assert (given[2] == wanted).all()
        for number, (shape, _) in enumerate(CHAINS, len(CASES) + len(loops)):
            library.run(number, (1, 1, 1), given := chained(*shape), [None] * 4, upwards)
            assert (given[3] == of_chain(given)).all()


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 2, 0)], ids=str)
def test_products_under_way_are_done_in_time(stages: int, order: tuple[int, ...]) -> None:
    """Though each is computed as late as may be, when it is finished."""
    laid_out, given, wanted = looped(stages, 5)
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    assert dot.begun
    (loop,) = (item for item in laid_out.items if isinstance(item, Nested) and isinstance(item.op, ops.For))
    assert not any(item.barrier for item in loop.blocks[0]), "but the one of the wait for copies"
    assert [change.rule for change in laid_out.changes if change.rule == "begin"] == ["begin"]
    simulate.run(laid_out, given, (1,), order)
    assert (given[2] == wanted).all()


def test_a_product_that_is_not_finished_is_seen() -> None:
    laid_out, given, _ = looped(2, 5)

    def lax(item: Item) -> Item:
        if isinstance(item, Exchange) and isinstance(item.op, Finish):
            return Exchange(Convert(source=item.op.source, through="registers", results=item.op.results))
        if isinstance(item, Nested):
            return replace(item, blocks=tuple(tuple(map(lax, block)) for block in item.blocks))
        return item

    with pytest.raises(InternalError, match="never finished"):
        simulate.run(replace(laid_out, items=tuple(map(lax, laid_out.items))), given, (1,))


@triton.jit
def moving(a, b, c, K, M: tl.constexpr, DEPTH: tl.constexpr, TURN: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, DEPTH)
    x = a + m[:, None] * K + k[None, :]
    y = b + k[:, None] + m[None, :] * K if TURN else b + k[:, None] * M + m[None, :]
    acc = tl.zeros((M, M), c.dtype.element_ty)
    for _ in range(0, K, DEPTH):
        acc = tl.dot(tl.load(x), tl.load(y), acc)
        x += DEPTH
        y += DEPTH if TURN else DEPTH * M
    tl.store(c + m[:, None] * M + m[None, :], acc)


@pytest.mark.parametrize(
    "types", ["*fp16:16, *fp16:16, *fp32:16", "*fp32:16, *fp32:16, *fp32:16", "*i8:16, *i8:16, *i32:16"]
)
@pytest.mark.parametrize("turn", [False, True])
def test_sums_stay_where_they_are(types: str, turn: bool) -> None:
    """Though the pointers that say how the factors lie are carried by the loop as well."""
    found = moving.compile(f"{types}, i32:16, 64, 64, {turn}", backend="cuda", chip="sm_90a").stage("layout").artifact
    (loop,) = (op for op in found.func.walk() if isinstance(op, ops.For))
    assert [op for op in loop.body.ops if isinstance(op, ops.Dot)]
    assert not [op for op in loop.body.ops if isinstance(op, Convert)]


@pytest.mark.parametrize("stages", [1, 3])
def test_the_assembler_keeps_products_under_way(stages: int) -> None:
    """It says so in its log where it waits for each, as what uses the sums is not in order."""
    signature, target = "*bf16:16, *bf16:16, *fp32:16, i32:16, i32:16, 128, 64, 32, False", Target("cuda", "sm_90a")
    found = multiply.compile(signature, target=replace(target, num_stages=stages))
    sass, ptx = found.stage("sass").text, found.stage("ptx").text
    assert found.stage("cubin").stats["spill_stores"] == 0
    assert sass.count("HGMMA") % (2 * 2) == 0 < sass.count("HGMMA")  # (a short loop is unrolled)
    assert ("fence.proxy.async" in ptx) == (stages == 1)  # what threads put there themselves
    assert ptx.count("cp.async.cg.shared.global") == (0 if stages == 1 else 3 * (128 * 32 + 32 * 64) // (128 * 8))
    assert "wgmma" not in link(ptx, "sm_90a").log

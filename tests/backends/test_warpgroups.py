"""Products by warpgroups in emitted code: their numbers on the host, and what the assembler makes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.backends.cuda.emit import emit
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.layout.assign import lay_out
from mytriton.target import Target
from mytriton.types import bf16, f16
from tests.backends.emulate import build
from tests.layout.test_mma import arrays, product

#: The shape (batch, rows, depth, columns), the factors' type, warps, and which factors are stored transposed.
CASES = [
    ((128, 32, 64), f16, 4, (False, False)),
    ((64, 128, 32), bf16, 8, (True, True)),
    ((128, 16, 128), f16, 8, (False, True)),
    ((2, 64, 64, 16), f16, 4, (True, False)),
    ((64, 512, 64), f16, 4, (False, False)),  # in rounds
]


def test_numbers(tmp_path: Path) -> None:
    texts = []
    for shape, element, num_warps, flips in CASES:
        target = Target(chip="sm_90a", num_warps=num_warps)
        lines = emit(lay_out(product(shape, element, flips), target), target)
        texts.append(("\n".join(line.text for line in lines) + "\n", target.threads))
    assert all("mt_wgmma_" in text for text, _ in texts)
    library = build(texts, tmp_path)
    for number, (shape, element, _, flips) in enumerate(CASES):
        for upwards in (False, True):
            given = arrays(shape, element)
            a, b = (x.astype(np.float32) for x in given[:2])
            a, b = (
                x.reshape(*x.shape[:-2], *reversed(x.shape[-2:])).swapaxes(-1, -2) if flip else x
                for x, flip in zip((a, b), flips, strict=True)
            )
            wanted = given[2] + a @ b
            library.run(number, (1, 1, 1), given, [None] * 3, upwards)
            assert (given[2] == wanted).all()


@triton.jit
def multiply(a, b, c, N, K, M: tl.constexpr, SIDE: tl.constexpr, DEPTH: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, SIDE), tl.arange(0, DEPTH)
    acc = tl.zeros((M, SIDE), tl.float32)
    for start in range(0, K, DEPTH):
        x = tl.load(a + m[:, None] * K + start + k[None, :])
        y = tl.load(b + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@pytest.mark.parametrize("stages", [1, 3])
def test_the_assembler_keeps_products_under_way(stages: int) -> None:
    """It says so in its log where it waits for each, as what uses the sums is not in order."""
    signature, target = "*bf16:16, *bf16:16, *fp32:16, i32:16, i32:16, 128, 64, 32", Target("cuda", "sm_90a")
    found = multiply.compile(signature, target=replace(target, num_stages=stages))
    sass, ptx = found.stage("sass").text, found.stage("ptx").text
    assert found.stage("cubin").stats["spill_stores"] == 0
    assert sass.count("HGMMA") == 2 * 2
    assert ptx.count("fence.proxy.async") == (stages == 1)  # what threads put there themselves
    assert ptx.count("cp.async.cg.shared.global") == (0 if stages == 1 else 3 * (128 * 32 + 32 * 64) // (128 * 8))
    assert "wgmma" not in link(ptx, "sm_90a").log

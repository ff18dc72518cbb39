"""What PTX says of products by tensor cores: how often each instruction is there, and that sums stay in registers."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import mytriton as triton
import mytriton.language as tl


@triton.jit
def product_kernel(a, b, c, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    i, k = tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    x = a + i[:, None] * K + k[None, :]
    y = b + k[:, None] * BLOCK + i[None, :]
    total = tl.dot(tl.load(x), tl.load(y))
    for _ in range(1, K // DEPTH):
        x += DEPTH
        y += DEPTH * BLOCK
        total += tl.dot(tl.load(x), tl.load(y))
    tl.store(c + i[:, None] * BLOCK + i[None, :], total)


@triton.jit
def loop_kernel(a, b, c, N, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    m, n = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, DEPTH)
    x, y = a + m[:, None] * K + k[None, :], b + k[:, None] * N + n[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for _ in range(0, K, DEPTH):
        total = tl.dot(tl.load(x), tl.load(y), total)
        x += DEPTH
        y += DEPTH * N
    tl.store(c + m[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
@pytest.mark.parametrize(
    ("factor", "total", "depth", "name", "steps", "reads"),
    [
        # Of a warp's 32 x 32: two tiles of rows, four of columns; a step of the first factor is two `ldmatrix.x4`, one
        # of the second two with `.trans`.
        ("fp16", "fp32", 32, "m16n8k16.row.col.f32.f16.f16.f32", 2, 4),
        ("bf16", "fp32", 64, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4),
        ("fp32", "fp32", 16, "m16n8k8.row.col.f32.tf32.tf32.f32", 2, 2),
        ("i8", "i32", 64, "m16n8k32.row.col.s32.s8.s8.s32", 2, 2),
    ],
)
def test_instructions(backend, factor, total, depth, name, steps, reads):
    types = f"*{factor}:16, *{factor}:16, *{total}:16, i32:16, 64, {depth}"
    compilation = product_kernel.compile(types, backend=backend, chip="sm_80")
    made = compilation.stage("ptx")
    compilation.raise_if_failed()
    if made.status == "skipped":
        pytest.skip(made.reason)
    products = re.findall(r"mma\.sync\.aligned\.(\S+)", made.text)
    assert products == [name] * (2 * steps * 8)  # before the loop, and in it
    assert len(re.findall(r"ldmatrix\.sync", made.text)) == 2 * steps * reads
    assert ".local" not in made.text


@pytest.mark.parametrize("chip", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_machine_code(backend, chip):
    """A loop of 64 x 64 x 64 in float16, copied two trips ahead by 16 bytes, in four warps."""
    types = "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, 64, 64"
    compilation = loop_kernel.compile(types, backend=backend, chip=chip)
    made = compilation.stage("sass")
    compilation.raise_if_failed()
    if made.status == "skipped":
        pytest.skip(made.reason)
    names = Counter(re.findall(r"\] (?:@!?U?P\d+ )?([A-Z][A-Z0-9]*)", made.text))
    copies = re.findall(r"LDGSTS\S*", made.text)
    assert names["HMMA"] == 4 * 2 * 4  # steps, tiles of rows, tiles of columns
    assert names["LDSM"] == 4 * (2 + 2)
    assert len(copies) == 3 * 8 and all(".128" in name for name in copies)
    assert names["LDL"] == names["STL"] == names["LDG"] == 0
    figures = compilation.stage("cubin").stats
    assert (figures["spill_stores"], figures["spill_loads"], figures["stack"]) == (0, 0, 0)
    assert figures["shared"] == 3 * 2 * 64 * 64 * 2

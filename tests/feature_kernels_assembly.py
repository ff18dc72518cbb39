"""Small kernels with inline assembly: elements that share registers, several results, scalars, addresses. They run on
NVIDIA's GPUs only."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def packed_kernel(x, y, out, halves, BLOCK: tl.constexpr):
    """Four bytes, and two halves, in a register each."""
    offs = tl.arange(0, BLOCK)
    bytes = tl.inline_asm_elementwise(
        "xor.b32 $0, $1, 0x80808080;", "=r,r", [tl.load(x + offs)], dtype=tl.uint8, is_pure=True, pack=4
    )
    tl.store(out + offs, bytes)
    magnitudes = tl.inline_asm_elementwise(
        "and.b32 $0, $1, 0x7fff7fff;", "=r,r", [tl.load(y + offs)], dtype=tl.float16, is_pure=True, pack=2
    )
    tl.store(halves + offs, magnitudes)


@packed_kernel.example(block=1024)
@packed_kernel.example(block=256)  # two registers in each thread
@packed_kernel.example(block=2)
def packed(block):
    x = (np.arange(block) * 37 % 256).astype(np.uint8)
    y = (np.arange(block) % 13 - 6).astype(np.float16)
    return triton.Example(
        args={"x": x, "y": y, "out": np.zeros_like(x), "halves": np.zeros_like(y), "BLOCK": block},
        grid=1,
        expected={"out": x ^ 0x80, "halves": np.abs(y)},
    )


@triton.jit
def several_kernel(x, y, sums, differences, scaled, N: tl.constexpr, BLOCK: tl.constexpr):
    """Two results, of a block and what broadcasts to it, in a loop; and an input in the register of the result."""
    offs = tl.arange(0, BLOCK)
    i, j = tl.arange(0, N)[:, None], tl.arange(0, BLOCK)[None, :]
    total = tl.zeros((N, BLOCK), tl.int32)
    for step in range(3):
        a, b = tl.load(x + i), tl.load(x + j)
        plus, minus = tl.inline_asm_elementwise(
            asm="""
                add.s32 $0, $2, $3;
                sub.s32 $1, $2, $3;
            """,
            constraints="=&r,=&r,r,r",
            args=[a * step, b],
            dtype=(tl.int32, tl.int32),
            is_pure=True,
            pack=1,
        )
        total += plus
        tl.store(differences + i * BLOCK + j, minus)
    tl.store(sums + i * BLOCK + j, total)
    v = tl.inline_asm_elementwise(
        "fma.rn.f32 $0, $1, $2, $3;", "=f,0,f,f", [tl.load(y + offs), 3.0, 0.5], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(scaled + offs, v)


@several_kernel.example(n=2, block=128)
@several_kernel.example(n=16, block=64)
def several(n, block):
    x = (np.arange(max(n, block)) * 7 % 31).astype(np.int32)
    y = np.arange(block).astype(np.float32)
    a, b = x[:n, None], x[None, :block]
    return triton.Example(
        args={
            "x": x, "y": y, "sums": np.zeros((n, block), np.int32), "differences": np.zeros((n, block), np.int32),
            "scaled": np.zeros_like(y), "N": n, "BLOCK": block,
        },
        grid=1,
        expected={"sums": 3 * (a + b), "differences": 2 * a - b, "scaled": y * 3 + 0.5},
    )  # fmt: skip


@triton.jit
def widths_kernel(x, words, bytes, doubles, out, BLOCK: tl.constexpr):
    """Registers of every width, of elements that fill them and of narrower ones; scalars, and nothing at all."""
    offs = tl.arange(0, BLOCK)
    word = tl.load(words + offs)
    word = tl.inline_asm_elementwise(
        "add.s16 $0, $1, $2;", "=h,h,h", [word, word], dtype=tl.int16, is_pure=True, pack=1
    )
    byte = tl.load(bytes + offs)
    byte = tl.inline_asm_elementwise("add.s32 $0, $1, 1;", "=r,r", [byte], dtype=tl.uint8, is_pure=True, pack=1)
    wide = tl.load(doubles + offs)
    wide = tl.inline_asm_elementwise(
        "mul.f64 $0, $1, $2;", "=d,d,d", [wide, wide], dtype=tl.float64, is_pure=True, pack=1
    )
    many = tl.inline_asm_elementwise(
        "add.s64 $0, $1, $2;", "=l,l,l", [byte.to(tl.int64), word.to(tl.int64)], dtype=tl.int64, is_pure=True, pack=1
    )
    tl.store(words + offs, word)
    tl.store(bytes + offs, byte)
    tl.store(doubles + offs, wide + many)
    # The bits of a scalar, a number out of nowhere, and memory that only the assembly knows of.
    bits = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,f", [tl.load(x)], dtype=tl.int32, is_pure=True, pack=1)
    number = tl.inline_asm_elementwise("mov.u32 $0, 42;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    tl.inline_asm_elementwise(
        "st.global.b32 [$1], $2; mov.u32 $0, $2;",
        "=&r,l,r",
        [out + 2 + offs, offs],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
    again = tl.inline_asm_elementwise(
        "ld.global.b32 $0, [$1];", "=r,l,~{memory}", [out + 2 + offs], dtype=tl.int32, is_pure=False, pack=1
    )
    tl.store(out + 2 + offs, again * 2)
    tl.store(out, bits)
    tl.store(out + 1, number)


@widths_kernel.example(block=512, warps=4)
@widths_kernel.example(block=8, warps=1)
def widths(block, warps):
    # All copies of an element run the assembly, at their warps' own times: so a small block has one warp.
    offs = np.arange(block)
    words, bytes, doubles = (offs - 5).astype(np.int16), (offs % 256).astype(np.uint8), offs * 0.5
    x = np.array([1.5], np.float32)
    after = words * np.int16(2), bytes + np.uint8(1)
    out = np.concatenate([x.view(np.int32), [42], 2 * offs]).astype(np.int32)
    return triton.Example(
        args={"x": x, "words": words, "bytes": bytes, "doubles": doubles, "out": np.zeros_like(out), "BLOCK": block},
        grid=1,
        options={"num_warps": warps},
        expected={
            "words": after[0], "bytes": after[1], "out": out,
            "doubles": doubles**2 + after[0].astype(np.int64) + after[1],
        },
    )  # fmt: skip


@triton.jit
def ordered_kernel(out, back, BLOCK: tl.constexpr):
    """What assembly writes, and reads, is ordered by barriers as other accesses are."""
    offs = tl.arange(0, BLOCK)
    other = BLOCK - 1 - offs
    tl.inline_asm_elementwise(
        "st.global.b32 [$1], $2; mov.u32 $0, $2;", "=&r,l,r", [out + offs, offs], tl.int32, is_pure=False, pack=1
    )
    tl.debug_barrier()
    tl.store(back + offs, tl.load(out + other) * 2)
    tl.debug_barrier()
    doubled = tl.inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [back + other], tl.int32, False, 1)
    tl.store(out + offs, doubled)


@ordered_kernel.example(block=1024)
def ordered(block):
    out = np.zeros(block, np.int32)
    return triton.Example(
        args={"out": out, "back": out.copy(), "BLOCK": block},
        grid=1,
        expected={"out": np.arange(block) * 2, "back": np.arange(block)[::-1] * 2},
    )

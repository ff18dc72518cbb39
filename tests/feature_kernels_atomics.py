"""Small kernels of atomic operations: kinds and types, blocks and scalars, what they return, locks."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def atomics_kernel(x, sums, least, most, counts, n, BLOCK: tl.constexpr):
    """Blocks whose lanes share addresses, and scalars; nothing is returned that depends on an order."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(x + offs, mask=mask, other=0)
    tl.atomic_add(sums + offs % 4, v, mask=mask)
    tl.atomic_min(least + offs % 4, v, mask=mask)
    tl.atomic_max(most + offs % 4, v, mask=mask, sem="relaxed")
    tl.atomic_add(sums + 4, tl.sum(tl.where(mask, v, 0), 0), scope="sys")
    tl.atomic_max(most + 4, tl.max(tl.where(mask, v, 0), 0), sem="release")
    tl.atomic_min(least + 4, tl.min(tl.where(mask, v, 0), 0), sem="acquire", scope="cta")
    before = tl.atomic_add(counts, 1)
    tl.atomic_add(counts + 1, before)


@atomics_kernel.example(n=1000, block=256, dtype="int32")
@atomics_kernel.example(n=50, block=16, dtype="uint64")
@atomics_kernel.example(n=300, block=64, dtype="float32")
@atomics_kernel.example(n=1, block=1, dtype="int64")
@atomics_kernel.example(n=200, block=128, dtype="float64")
def atomics(n, block, dtype):
    x = (np.arange(n) * 37 % 23 - (0 if dtype == "uint64" else 11)).astype(dtype)
    places = [x[i::4] for i in range(4)]
    low, high = np.array(100, dtype), np.array(0 if dtype == "uint64" else -100, dtype)
    sums = np.array([*(p.sum() for p in places), x.sum()], dtype)
    least = np.array([*(p.min(initial=low) for p in places), min(x.min(), 0) if n % block else x.min()], dtype)
    most = np.array([*(p.max(initial=high) for p in places), max(x.max(), 0) if n % block else x.max()], dtype)
    programs = triton.cdiv(n, block)
    blocks = [x[i : i + block] for i in range(0, n, block)]
    whole = [b if len(b) == block else np.append(b, np.zeros(1, dtype)) for b in blocks]
    least[4] = min(b.min() for b in whole)
    most[4] = max(b.max() for b in whole)
    return triton.Example(
        args={
            "x": x, "sums": np.zeros(5, dtype), "least": np.full(5, low), "most": np.full(5, high),
            "counts": np.zeros(2, np.int32), "n": n, "BLOCK": block,
        },
        grid=(programs,),
        expected={
            "sums": sums, "least": least, "most": most,
            "counts": np.array([programs, programs * (programs - 1) // 2], np.int32),
        },
    )  # fmt: skip


@triton.jit
def returned_kernel(x, out, S: tl.constexpr, BLOCK: tl.constexpr):
    """What was there, to blocks whose elements several threads hold, and to scalars that all threads use."""
    i, j = tl.arange(0, S), tl.arange(0, BLOCK)
    small = tl.atomic_add(x + i, 10)
    tl.store(out + j[:, None] * S + i[None, :], small[None, :] + j[:, None])
    old = tl.atomic_xchg(x + S, 7)
    swapped = tl.atomic_cas(x + S, 7, 9)
    same = tl.atomic_cas(x + S, 7, 5)
    tl.store(out + BLOCK * S + j, old * 100 + swapped * 10 + same)
    bits = tl.atomic_or(x + S + 1, 6) * 1000 + tl.atomic_and(x + S + 1, 12) * 100 + tl.atomic_xor(x + S + 1, 5)
    many = tl.atomic_xchg(x + S + 2 + j, j * 2)
    tl.store(out + BLOCK * (S + 1) + j, many + bits)


@returned_kernel.example(s=2, block=64)
@returned_kernel.example(s=16, block=256)
@returned_kernel.example(s=1, block=1)
def returned(s, block):
    x = np.arange(s + 2 + block, dtype=np.int32)
    x[s : s + 2] = 3, 9
    after = x.copy()
    after[:s] += 10
    after[s : s + 2] = 9, (9 | 6) & 12 ^ 5
    after[s + 2 :] = np.arange(block) * 2
    j = np.arange(block)
    many = x[s + 2 :] + 9 * 1000 + (9 | 6) * 100 + ((9 | 6) & 12)
    expected = [x[:s] + j[:, None], np.full(block, 3 * 100 + 7 * 10 + 9), many]
    out = np.concatenate([part.reshape(-1) for part in expected]).astype(np.int32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(out), "S": s, "BLOCK": block}, grid=1, expected={"out": out, "x": after}
    )


@triton.jit
def masked_kernel(x, out, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(out + offs, tl.atomic_add(x + offs, 5, mask=offs % 2 == 0))


@masked_kernel.example(block=16)
@masked_kernel.example(block=256)
def masked_off(block):
    x, even = np.arange(block, dtype=np.int32) + 1, np.arange(block) % 2 == 0
    return triton.Example(
        args={"x": x.copy(), "out": np.full_like(x, -1), "BLOCK": block},
        grid=1,
        expected={"out": np.where(even, x, 0), "x": np.where(even, x + 5, x)},
    )


@triton.jit
def halves_kernel(x, sums, words, out, BLOCK: tl.constexpr):
    """Sums of 16 bits that are exact, whatever the order, and words of 16 bits of which the second half is changed."""
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + offs)
    tl.atomic_add(sums + offs % 2, v, mask=offs < BLOCK - 3)
    tl.store(out + offs, tl.atomic_add(sums + 2 + offs, v))
    tl.atomic_add(sums + 2 + BLOCK, tl.sum(v, 0), sem="relaxed")
    word = words.dtype.element_ty
    tl.atomic_cas(words + offs, offs.to(word), (offs * 0 + 7).to(word))
    two = tl.atomic_cas(words + BLOCK + 1, tl.cast(2, word), tl.cast(3, word))
    tl.atomic_cas(words + BLOCK, tl.cast(1, word), two)


@halves_kernel.example(dtype="float16", word="int16")
@halves_kernel.example(dtype="bfloat16", word="uint16")
@halves_kernel.example(dtype="float16", word="bfloat16")
def halves(dtype, word, block=64):
    float_, word_ = (ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name) for name in (dtype, word))
    x = (np.arange(block) % 5 - 2).astype(float_)
    sums, words = np.zeros(block + 3, float_), np.arange(block + 2).astype(word_)
    words[block // 2 :] += np.array(1, word_)
    words[block:] = 1, 2
    kept = np.arange(block) < block - 3
    expected = sums.copy()
    expected[:2] = [x[kept & (np.arange(block) % 2 == i)].astype(np.float32).sum() for i in range(2)]
    expected[2:-1], expected[-1] = x, x.astype(np.float32).sum()
    changed = words.copy()
    changed[: block // 2] = 7
    changed[block:] = 2, 3
    return triton.Example(
        args={"x": x, "sums": sums, "words": words, "out": np.ones(block, float_), "BLOCK": block},
        grid=1,
        expected={"sums": expected, "words": changed, "out": np.zeros(block, float_)},
    )


@triton.jit
def lock_kernel(lock, total, BLOCK: tl.constexpr):
    """A sum of blocks in memory that one program at a time may change: what is stored inside is seen by the next."""
    offs = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + offs, tl.load(total + offs) * 2 + offs)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@lock_kernel.example(programs=7)
def locked(programs, block=128):
    offs, total = np.arange(block, dtype=np.int32), np.ones(block, np.int32)
    for _ in range(programs):
        total = total * 2 + offs
    return triton.Example(
        args={"lock": np.zeros(1, np.int32), "total": np.ones(block, np.int32), "BLOCK": block},
        grid=(programs,),
        expected={"total": total, "lock": np.zeros(1, np.int32)},
    )


@triton.jit
def floats_kernel(x, out, BLOCK: tl.constexpr):
    """NaN is ignored by `max` and `min`; floats are compared and exchanged by their bits."""
    offs = tl.arange(0, BLOCK)
    v = tl.load(x + offs)
    tl.atomic_max(out, tl.max(v, 0))
    tl.atomic_max(out + 1 + offs * 0, v)
    tl.atomic_min(out + 2 + offs * 0, v)
    zero = tl.atomic_cas(out + 3, 0.0, 2.0)
    minus = tl.atomic_cas(out + 4, 0.0, 2.0)
    tl.store(out + 5, zero + minus + tl.atomic_xchg(out + 6, 1.5))


@floats_kernel.example(dtype="float32")
@floats_kernel.example(dtype="float64")
def floats(dtype, block=64):
    x = np.random.default_rng(0).standard_normal(block).astype(dtype)
    x[3] = np.nan
    out = np.array([-9, -9, 9, 0.0, -0.0, 0, 4], dtype)
    largest = np.nanmax(x)
    expected = np.array([largest, largest, np.nanmin(x), 2.0, -0.0, 4, 1.5], dtype)
    return triton.Example(args={"x": x, "out": out, "BLOCK": block}, grid=1, expected={"out": expected})

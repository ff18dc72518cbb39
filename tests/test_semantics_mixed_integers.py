"""What integers of several types mean together, as offsets and as arguments, on every backend."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend
from tests.test_semantics_integers import DTYPES

pytestmark = on_every_backend


@triton.jit
def mixed(a8, a16, a32, b8, b32, b64, out, B: tl.constexpr):
    i = tl.arange(0, B)
    x, y, z = tl.load(a8 + i), tl.load(a16 + i), tl.load(a32 + i)
    u, v, w = tl.load(b8 + i), tl.load(b32 + i), tl.load(b64 + i)
    tl.store(out + i, x * x)  # int8 wraps at 8 bits
    tl.store(out + B + i, x + u)  # int8 with uint8: uint8
    tl.store(out + 2 * B + i, y + u)  # int16 with uint8: int16
    tl.store(out + 3 * B + i, z + v)  # int32 with uint32: uint32
    tl.store(out + 4 * B + i, (z < v).to(tl.int64))  # compared as uint32
    tl.store(out + 5 * B + i, (z + w).to(tl.int64))  # int32 with uint64: uint64
    tl.store(out + 6 * B + i, z >> v)  # uint32, but the sign of the left side is kept
    tl.store(out + 7 * B + i, (u << 4) >> 4)  # uint8 drops bits
    tl.store(out + 8 * B + i, u << y)  # int16
    tl.store(out + 9 * B + i, (u == v) << 3)  # bool counts as int32


def test_promotion_is_by_width_and_unsigned_wins_at_equal_width(run):
    i8, i16, i32, i64, u8, _, u32, u64 = DTYPES
    x, y, z = np.array([100, -3, 7, -128], i8), np.array([1, 9, 300, -1], i16), np.array([-1, 5, -(2**31), 8], i32)
    u, v, w = np.array([200, 1, 255, 8], u8), np.array([4, 5, 2**31, 31], u32), np.array([1, 2**63, 3, 4], u64)
    out = np.zeros((10, 4), i64)
    run(mixed, 1, x, y, z, u, v, w, out, B=4)
    zu = z.astype(u32)
    expected = [x * x, x.astype(u8) + u, y + u.astype(i16), zu + v, zu < v, (z.astype(u64) + w).astype(i64)]
    expected += [np.array([(a >> min(b, 32)) % 2**32 for a, b in zip(z.tolist(), v.tolist(), strict=True)])]
    expected += [u << 4 >> 4, np.array([400, 512, 0, 0]), (u == v) * 8]
    assert out.tolist() == [np.asarray(row).astype(i64).tolist() for row in expected]


@triton.jit
def offsets(x, out, small, big, step, B: tl.constexpr):
    i = tl.arange(0, B)
    j = tl.load(small + i)
    tl.store(out + i, tl.load(x + j))  # uint8 offsets are positive
    tl.store(out + B + i, tl.load(x + tl.load(big + i)))  # uint64
    tl.store(out + 2 * B + i, tl.load(x + 128 - (j - 128).to(tl.int8)))  # an int8 of -128, negated without wrapping
    tl.store(out + 3 * B + i, tl.load(x + i.to(tl.uint16) + step))
    tl.store(out + 4 * B + i, tl.load(x + (i << 2)))


def test_offsets_of_every_type_move_a_pointer_by_their_value(run):
    x, small = np.arange(300, dtype=np.int32), np.array([0, 128, 255, 200, 7, 8, 9, 254], np.uint8)
    big, out = small.astype(np.uint64)[::-1].copy(), np.zeros((5, 8), np.int32)
    run(offsets, 1, x, out, small, big, np.uint8(200), B=8)
    lanes = np.arange(8)
    assert out.tolist() == [small.tolist(), big.tolist(), (256 - small.astype(int)).tolist(), (lanes + 200).tolist(),
                            (lanes * 4).tolist()]  # fmt: skip


@triton.jit
def wrapped_block(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    narrow = (i + n).to(tl.int8)  # not consecutive beyond 127
    tl.store(out + i, tl.load(x + 128 + narrow))
    unsigned = (i - 3).to(tl.uint32) & 1023  # -1 and 0 are not neighbours
    tl.store(out + B + i, tl.load(x + unsigned))


def test_blocks_that_wrap_at_a_narrow_width_are_not_taken_for_consecutive(run):
    x, out = np.arange(1024, dtype=np.int32), np.zeros((2, 512), np.int32)
    run(wrapped_block, 1, x, out, 100, B=512)
    lanes = np.arange(512)
    assert out[0].tolist() == (128 + (lanes + 100).astype(np.int8).astype(int)).tolist()
    assert out[1].tolist() == ((lanes - 3) % 1024).tolist()


@triton.jit
def scalars(a, b, c, d, e, f, g, h, big, signed, unsigned):
    tl.store(signed, a)
    tl.store(signed + 1, b)
    tl.store(signed + 2, c)
    tl.store(signed + 3, d)
    tl.store(unsigned, e)
    tl.store(unsigned + 1, f)
    tl.store(unsigned + 2, g)
    tl.store(unsigned + 3, h)
    tl.store(unsigned + 4, big)
    tl.store(unsigned + 5, 18446744073709551615)
    tl.store(unsigned + 6, big >> 60)


def test_arguments_of_every_type_and_integers_above_int64(run):
    lowest = [np.iinfo(t).min for t in DTYPES[:4]]
    highest = [np.iinfo(t).max for t in DTYPES[4:]]
    values = [t.type(v) for t, v in zip(DTYPES, (*lowest, *highest), strict=True)]
    signed, unsigned = np.zeros(4, np.int64), np.zeros(7, np.uint64)
    run(scalars, 1, *values, 2**64 - 16, signed, unsigned)
    assert signed.tolist() == lowest
    assert unsigned.tolist() == [*highest, 2**64 - 16, 2**64 - 1, 15]

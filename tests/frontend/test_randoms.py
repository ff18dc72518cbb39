"""Random numbers: the generator against its authors' test vectors, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.feature_kernels_randoms import philox
from tests.frontend.support import errors, hints, interpret

#: Counters, key and result of ten rounds (Random123, `kat_vectors`).
VECTORS = [
    (32, "00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (32, "ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (32, "243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    (64, "0 0 0 0", "0 0", "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b"),
]


@pytest.mark.parametrize(("bits", "counters", "key", "result"), VECTORS)
def test_the_generator(bits, counters, key, result):
    ints = [[int(word, 16) for word in text.split()] for text in (counters, key, result)]
    assert philox(ints[0], ints[1], bits) == ints[2]
    dtype = np.dtype(f"u{bits // 8}")
    out, given = np.zeros(4, dtype), np.array(ints[0] + ints[1], dtype)
    text = """
    def k(x, out):
        c0, c1, c2, c3 = tl.load(x), tl.load(x + 1), tl.load(x + 2), tl.load(x + 3)
        r = tl.philox_impl(c0, c1, c2, c3, tl.load(x + 4), tl.load(x + 5))
        for i in tl.static_range(4):
            tl.store(out + i, r[i])
    """
    interpret(text, f"*u{bits}, *u{bits}", [given, out])
    assert out.tolist() == ints[2]


def test_a_generator_of_64_bits_takes_a_seed_of_64():
    out = np.zeros(4, np.uint64)
    text = """
    def k(out, seed, a):
        r = tl.philox(seed, a, a + 1, 2, 3)
        for i in tl.static_range(4):
            tl.store(out + i, r[i])
    """
    interpret(text, "*u64, i64, i64", [out, -7, 2**40])
    assert out.tolist() == philox([2**40, 2**40 + 1, 2, 3], [2**64 - 7, 0], 64)


@pytest.mark.parametrize(
    ("expression", "message", "hint"),
    [
        ("tl.rand(1.5, i)", "MT203 the seed must consist of integers, got 1.5", "convert it: x.to(tl.int32)"),
        (
            "tl.rand(n, f)",
            "MT203 the offsets of random numbers must consist of integers, got `f` (vector<8 x f32>)",
            "convert it: f.to(tl.int32)",
        ),
        (
            "tl.rand(n, i, 101)",
            "MT212 `n_rounds` must be from 0 to 100, got 101",
            "10 rounds are enough; 7 pass the usual tests",
        ),
        (
            "tl.philox(n, i.to(tl.int8), i, i, i)",
            "MT203 the counters of tl.philox have 32 or 64 bits, got `i.to(tl.int8)` (vector<8 x i8>)",
            "convert them: x.to(tl.uint32)",
        ),
        (
            "tl.philox_impl(i, i, i, i, n, n)",
            "MT203 tl.philox_impl takes uint32 or uint64, got `i` (vector<8 x i32>)",
            "convert them: i.to(tl.uint32)",
        ),
    ],
)
def test_a_mistake_says_what_to_do(expression, message, hint):
    text = f"def k(x, n):\n    i = tl.arange(0, 8)\n    f = tl.load(x + i)\n    r = {expression}\n    tl.store(x, n)"
    (found,) = errors(text, "*fp32, i32")
    assert found.split(" ", 1)[1] == message
    assert hints(text, "*fp32, i32") == [hint]

"""Bug kinds, continued: what goes wrong when a compiler moves loads, copies names one by one, or forgets that several
threads run a scalar. As one would write it, and with the order turned around; on every backend.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f32 = np.float32


# --- loads and stores around loops and branches -----------------------------------------------------------------------


@triton.jit
def load_before_a_loop(x, out, n):
    a = tl.load(x)
    for k in range(n):
        tl.store(x, 9.0 + k)
    tl.store(out, a)


@triton.jit
def load_before_a_while(x, out, n):
    a = tl.load(x)
    k = 0
    while k < n:
        tl.store(x, 9.0 + k)
        k += 1
    tl.store(out, a)


@triton.jit
def load_before_a_branch(x, out, n):
    a = tl.load(x)
    if n > 0:
        tl.store(x, 8.0 + n)
    tl.store(out, a)


@pytest.mark.parametrize("kernel", [load_before_a_loop, load_before_a_while, load_before_a_branch])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_load_stays_before_the_stores_that_follow_it(run, kernel, n):
    x, out = np.array([1], f32), np.zeros(1, f32)
    run(kernel, 1, x, out, n)
    assert (x[0], out[0]) == (8 + n if n else 1, 1)


@triton.jit
def load_in_a_loop_that_stores(x, out, n):
    total = 0.0
    for _ in range(n):
        total += tl.load(x)
        tl.store(x, tl.load(x) * 2)
    tl.store(out, total)


@triton.jit
def store_in_a_loop_that_loads(x, out, n):
    total = 0.0
    for _ in range(n):
        tl.store(x, tl.load(x) * 2)
        total += tl.load(x)
    tl.store(out, total)


@pytest.mark.parametrize(("kernel", "expected"), [(load_in_a_loop_that_stores, 7), (store_in_a_loop_that_loads, 14)])
def test_a_load_in_a_loop_sees_the_store_of_the_trip_before(run, kernel, expected):
    x, out = np.array([1], f32), np.zeros(1, f32)
    run(kernel, 1, x, out, 3)
    assert (x[0], out[0]) == (8, expected)


@triton.jit
def exchange_in_a_loop(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(n):
        a = tl.load(x + i)
        b = tl.load(y + i)
        tl.store(x + i, b)
        tl.store(y + i, a)


@triton.jit
def exchange_in_a_loop_reversed(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(n):
        b = tl.load(y + i)
        a = tl.load(x + i)
        tl.store(y + i, a)
        tl.store(x + i, b)


@pytest.mark.parametrize("kernel", [exchange_in_a_loop, exchange_in_a_loop_reversed])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_exchanging_two_arrays_again_and_again(run, kernel, n):
    x, y = np.arange(8, dtype=f32), -np.arange(8, dtype=f32)
    run(kernel, 1, x, y, n, B=8)
    first, second = (x, y) if n % 2 == 0 else (y, x)
    assert first.tolist() == list(range(8))
    assert second.tolist() == [-v for v in range(8)]


# --- parallel assignment ----------------------------------------------------------------------------------------------


@triton.jit
def swap_by_name(out, n):
    a, b = 1, 2
    for _ in range(n):
        t = a
        a = b
        b = t
    tl.store(out, a)
    tl.store(out + 1, b)


@triton.jit
def swap_declared_backwards(out, n):
    b = 2
    a = 1
    for _ in range(n):
        b, a = a, b
    tl.store(out + 1, b)
    tl.store(out, a)


@pytest.mark.parametrize("kernel", [swap_by_name, swap_declared_backwards])
@pytest.mark.parametrize(("n", "expected"), [(0, [1, 2]), (1, [2, 1]), (2, [1, 2])])
def test_swapping_two_names_in_a_loop(run, kernel, n, expected):
    out = np.zeros(2, np.int32)
    run(kernel, 1, out, n)
    assert out.tolist() == expected


@triton.jit
def rotate_left(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b, c = i + 1, i + 2, i + 3
    for _ in range(n):
        a, b, c = b, c, a
    tl.store(out + i, a * 100 + b * 10 + c)


@triton.jit
def rotate_right(out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    c, a, b = i + 3, i + 1, i + 2
    k = n
    while k > 0:
        c, a, b = b, c, a
        c, b, a = b, a, c
        k -= 1
    tl.store(out + i, c + b * 10 + a * 100)


def test_rotating_three_blocks_in_a_loop(run):
    out = np.zeros(2, np.int32)
    run(rotate_left, 1, out, 1, B=2)
    assert out.tolist() == [231, 342]
    run(rotate_left, 1, out, 2, B=2)
    assert out.tolist() == [312, 423]
    run(rotate_right, 1, out, 1, B=2)
    a, b, c = 3, 1, 2  # c, a, b = b, c, a of 1, 2, 3
    c, b, a = b, a, c
    assert out[0] == a * 100 + b * 10 + c


@triton.jit
def previous_and_this(x, out, n):
    previous = 0
    this = 1
    for k in range(n):
        tl.store(out + k, previous)
        following = previous + this
        previous = this
        this = following


def test_a_carried_value_that_another_one_follows(run):
    out = np.zeros(8, np.int32)
    run(previous_and_this, 1, np.zeros(1, f32), out, 8)
    assert out.tolist() == [0, 1, 1, 2, 3, 5, 8, 13]


# --- scalars and blocks in one program --------------------------------------------------------------------------------


@triton.jit
def count_up(c, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for _ in range(n):
        tl.store(out + i, 1.0)
        tl.store(c, tl.load(c) + 1.0)


@triton.jit
def count_up_first(c, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    k = 0
    while k < n:
        tl.store(c, tl.load(c) + 1.0)
        if k >= 0:
            tl.store(out + i, 1.0)
        k += 1


@pytest.mark.parametrize("kernel", [count_up, count_up_first])
def test_a_scalar_update_in_a_loop_happens_once_a_trip(run, kernel):
    c, out = np.zeros(1, f32), np.zeros(128, f32)
    run(kernel, 1, c, out, 5, B=128)
    assert c[0] == 5
    assert out.tolist() == [1] * 128


@triton.jit
def sum_in_a_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for k in range(n):
        tl.store(out + k, tl.sum(tl.load(x + k * B + i), axis=0))


@triton.jit
def sum_in_a_loop_carried(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = 0
    for k in range(n):
        total += tl.sum(tl.load(x + k * B + i), axis=0)
        tl.store(out + k, total)


@pytest.mark.parametrize("block", [4, 32, 128, 512])
def test_a_reduction_in_a_loop_has_one_value_everywhere(run, block):
    x, out = np.ones((5, block), np.int32), np.zeros(5, np.int32)
    run(sum_in_a_loop, 1, x, out, 5, B=block)
    assert out.tolist() == [block] * 5
    run(sum_in_a_loop_carried, 1, x, out, 5, B=block)
    assert out.tolist() == [block * k for k in range(1, 6)]


@triton.jit
def reduce_then_broadcast(x, out, n, B: tl.constexpr):
    """Every lane reads, after a reduction whose result counts, what other lanes wrote before it."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for _ in range(n):
        tl.store(out + i, v)
        total = tl.sum(v, axis=0)
        other = tl.load(out + (B - 1 - i))
        tl.debug_barrier()  # before the next trip stores
        v = other + (total >> 20)


def test_a_reduction_orders_memory_between_lanes(run):
    x, out = np.arange(256, dtype=np.int32), np.zeros(256, np.int32)
    run(reduce_then_broadcast, 1, x, out, 4, B=256)
    assert out.tolist() == x[::-1].tolist()

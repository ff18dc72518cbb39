"""Bug kinds, continued: pointers that loops move, constants, types and names, and what random kernels found here; on
every backend.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f32 = np.float32


# --- pointers ---------------------------------------------------------------------------------------------------------


@triton.jit
def carried_pointers(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    source = x + 4 + i
    target = out + i
    for _ in range(n):
        tl.store(target, tl.load(source))
        source += 2
        target += B


@triton.jit
def carried_bases(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    x += 4
    for _ in range(n):
        tl.store(out + i, tl.load(i + x))
        out = B + out
        x += 2


@pytest.mark.parametrize("kernel", [carried_pointers, carried_bases])
def test_pointers_that_move_in_a_loop_keep_every_offset(run, kernel):
    out = np.zeros((3, 4), f32)
    run(kernel, 1, np.arange(16, dtype=f32), out, 3, B=4)
    assert out.tolist() == [[4, 5, 6, 7], [6, 7, 8, 9], [8, 9, 10, 11]]


@triton.jit
def alternate_arrays(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p, q = x + i, y + i
    for k in range(n):
        tl.store(out + k * B + i, tl.load(p))
        p, q = q, p


def test_pointers_of_two_arrays_that_change_places(run):
    out = np.zeros((3, 4), f32)
    run(alternate_arrays, 1, np.zeros(4, f32), np.ones(4, f32), out, 3, B=4)
    assert out.tolist() == [[0] * 4, [1] * 4, [0] * 4]


# --- constants, types and names ---------------------------------------------------------------------------------------


@triton.jit
def largest_with_nan(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out, tl.max(v, axis=0))
    tl.store(out + 1, tl.min(v, axis=0))
    tl.store(out + 2, tl.max(tl.maximum(v, v), axis=0))


@pytest.mark.parametrize("at", [0, 1, 3])
def test_reductions_ignore_nan_as_maximum_does(run, at):
    x, out = np.array([3, 1, 2, 4], f32), np.zeros(3, f32)
    x[at] = np.nan
    run(largest_with_nan, 1, x, out, B=4)
    rest = np.delete(x, at)
    assert out.tolist() == [rest.max(), rest.min(), rest.max()]


@triton.jit
def halves(out, n, C: tl.constexpr):
    tl.store(out, n / 2)
    tl.store(out + 1, C / 2)
    half = 0.0
    for k in range(n):
        half = (k + 1) / 2
    tl.store(out + 2, half)


def test_a_slash_is_true_division_everywhere(run):
    out = np.zeros(3, f32)
    run(halves, 1, out, 7, C=7)
    assert out.tolist() == [3.5, 3.5, 3.5]


@triton.jit
def zero_trips_then_reuse(out, n, N: tl.constexpr):
    k = 7
    for _ in tl.static_range(0, N):
        k = 8
    for _ in range(n):
        k = 9
    tl.store(out, k)


@pytest.mark.parametrize(("n", "static", "expected"), [(0, 0, 7), (0, 2, 8), (1, 0, 9), (-1, 1, 8)])
def test_loops_without_a_trip_change_nothing(run, n, static, expected):
    out = np.zeros(1, np.int32)
    run(zero_trips_then_reuse, 1, out, n, N=static)
    assert out[0] == expected


@triton.jit
def names_of_other_languages(scf, gpu, n, B: tl.constexpr):
    tid = tl.arange(0, B)
    switch = 0
    for register in range(n):
        if register % 2 == 0:
            switch += register
        else:
            struct = register * 2
            switch += struct
    while switch > 100:
        switch -= 100
    lane = tl.sum(tl.load(scf + tid), axis=0)
    tl.store(gpu, switch + lane)


def test_names_that_mean_something_below_may_be_used_in_loops(run):
    out = np.zeros(1, np.int32)
    run(names_of_other_languages, 1, np.arange(8, dtype=np.int32), out, 20, B=8)
    expected = sum(k if k % 2 == 0 else 2 * k for k in range(20))
    while expected > 100:
        expected -= 100
    assert out[0] == expected + 28


# --- what random kernels found ----------------------------------------------------------------------------------------


@triton.jit
def changed_in_one_branch(x, out, t, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if t == 1:
        v = v * 2
    tl.store(out + i, v + 1)


@triton.jit
def changed_in_the_other_branch(x, out, t, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if t != 1:
        tl.store(out + i, v)
    else:
        v = v * 2
    tl.store(out + i, v + 1)


@pytest.mark.parametrize("kernel", [changed_in_one_branch, changed_in_the_other_branch])
@pytest.mark.parametrize("t", [0, 1])
def test_a_block_that_one_branch_leaves_as_it_is(run, kernel, t):
    x, out = np.arange(64, dtype=f32), np.zeros(64, f32)
    run(kernel, 1, x, out, t, B=64)
    assert out.tolist() == (x * (1 + t) + 1).tolist()


@triton.jit
def each_from_the_other(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    b = a * 2 + 1
    for j in range(n):
        a, b = b * 3, a * j + 1
    tl.store(out + i, a * 1000 + b)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_blocks_that_are_computed_from_each_other(run, n):
    x, out = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    run(each_from_the_other, 1, x, out, n, B=64)
    a, b = x, x * 2 + 1
    for j in range(n):
        a, b = b * 3, a * j + 1
    assert out.tolist() == (a * 1000 + b).tolist()


@triton.jit
def reduced_and_merged(x, out, t, B: tl.constexpr):
    i = tl.arange(0, 2)[:, None] * B + tl.arange(0, B)[None, :]
    flags = tl.load(x + i) > 2
    v = tl.broadcast_to(tl.max(flags.to(tl.int32), axis=1)[:, None], (2, B))
    w = v - tl.max(flags.to(tl.int32), axis=1)[:, None]
    if t == 1:
        v = (w == t).to(tl.int32)
    elif t == 2:
        tl.store(out + tl.arange(0, B), tl.min(flags.to(tl.int32), axis=0))
    tl.store(out + i, v * 10 + tl.sum(v))


@pytest.mark.parametrize("t", [0, 1, 2])
def test_a_reduction_spread_and_merged(run, t):
    x, out = np.array([[0, 1, 2, 0], [1, 2, 3, 4]], np.int32), np.zeros((2, 4), np.int32)
    run(reduced_and_merged, 1, x, out, t, B=4)
    v = np.zeros((2, 4), np.int64) if t == 1 else np.array([[0] * 4, [1] * 4])
    assert out.tolist() == (v * 10 + v.sum()).tolist()


@triton.jit
def address_chosen_by_a_loaded_value(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = i < n
    v = tl.load(x + i, mask=mask, other=7)
    w = tl.where(mask, tl.minimum(100, v) + 7.0, n)
    chosen = tl.load(y + (w.to(tl.int64) & 1), mask=mask, other=n)
    tl.store(out + i, chosen + tl.load(x + i, mask=mask, other=0))


@pytest.mark.parametrize("block", [1, 8])
def test_a_gather_by_a_loaded_value_before_a_store_to_the_same_memory(run, block):
    x, y = np.arange(block, dtype=f32), np.array([10, 20], np.uint8)
    run(address_chosen_by_a_loaded_value, 1, x, y, x, block, B=block)
    numbers = np.arange(block)
    assert x.tolist() == (y[(numbers + 7) % 2] + numbers).tolist()

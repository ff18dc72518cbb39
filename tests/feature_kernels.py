"""Small kernels, one for each part of the language, with what NumPy says of them. They run on every backend and in
Triton (test_features.py, test_against_triton.py). Loops and branches are here, the rest in feature_kernels_*.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import mytriton as triton
import mytriton.language as tl

X = np.random.default_rng(7).integers(-50, 50, 64, dtype=np.int32)
F = (X / 8).astype(np.float32)


def example(expected: Any, grid: Any = 1, **args: Any) -> triton.Example:
    """An example of a kernel whose result is `out`."""
    copies = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in args.items()}
    expected = np.asarray(expected)
    return triton.Example(args={**copies, "out": np.zeros_like(expected)}, grid=grid, expected={"out": expected})


# --- loops ------------------------------------------------------------------------------------------------------------


@triton.jit
def trips_kernel(out, start, end, step):
    count = 0
    last = -1000
    for k in range(start, end, step):
        count += 1
        last = k
    tl.store(out, count)
    tl.store(out + 1, last)


@trips_kernel.example(start=0, end=10, step=3)
@trips_kernel.example(start=10, end=0, step=3)
@trips_kernel.example(start=-7, end=20, step=1)
@trips_kernel.example(start=5, end=5, step=16)
def trips(start, end, step):
    numbers = list(range(start, end, step))
    expected = np.array([len(numbers), numbers[-1] if numbers else -1000], np.int32)
    return example(expected, start=start, end=end, step=step)


@triton.jit
def wide_trips_kernel(out, start, end):
    total = start - start
    for k in range(start, end):
        total += k - start + 1
    tl.store(out, total)


@wide_trips_kernel.example()
def wide_trips():
    return example(np.array([15], np.int64), start=2**40, end=2**40 + 5)


@triton.jit
def countdown_kernel(x, out, n):
    total = 0
    for k in range(n - 1, -1, -1):
        total = total * 3 + tl.load(x + k)
    tl.store(out, total)


@countdown_kernel.example(n=8)
@countdown_kernel.example(n=0)
def countdown(n):
    total = 0
    for k in range(n - 1, -1, -1):
        total = total * 3 + int(X[k])
    return example(np.array([total], np.int32), x=X, n=n)


@triton.jit
def nested_loops_kernel(x, out, rows, columns, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.int32)
    for r in range(rows):
        line = tl.zeros((B,), tl.int32)
        for c in range(r, columns):
            line += tl.load(x + (r * columns + c) % B) * i
        for _ in tl.static_range(2):
            line = line * 2 - r
        total += line
    tl.store(out + i, total)


@nested_loops_kernel.example(rows=3, columns=5)
@nested_loops_kernel.example(rows=4, columns=2)
@nested_loops_kernel.example(rows=0, columns=2)
def nested_loops(rows, columns):
    i = np.arange(16)
    total = np.zeros(16, np.int64)
    for r in range(rows):
        line = sum((X[(r * columns + c) % 16] * i for c in range(r, columns)), np.zeros(16, np.int64))
        total += 4 * line - 3 * r
    return example(total.astype(np.int32), x=X, rows=rows, columns=columns, B=16)


@triton.jit
def tl_range_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for k in tl.range(0, n, 2, num_stages=3, loop_unroll_factor=2):
        total += tl.load(x + (i + k) % 64)
    tl.store(out + i, total)


@tl_range_kernel.example(n=7)
def tl_range(n):
    i = np.arange(16)
    return example(sum(F[(i + k) % 64] for k in range(0, n, 2)), x=F, n=n, B=16)


@triton.jit
def while_kernel(x, out, n, limit):
    k = 0
    total = 0
    while (k < n) & (total < limit):
        total += tl.load(x + k)
        k += 1
    while total > 10:
        total -= 7
    tl.store(out, k)
    tl.store(out + 1, total)


@while_kernel.example(n=20, limit=1000)
@while_kernel.example(n=20, limit=30)
@while_kernel.example(n=0, limit=1)
def while_(n, limit):
    x, k, total = np.abs(X), 0, 0
    while k < n and total < limit:
        total, k = total + int(x[k]), k + 1
    while total > 10:
        total -= 7
    return example(np.array([k, total], np.int32), x=x, n=n, limit=limit)


# --- branches ---------------------------------------------------------------------------------------------------------


@triton.jit
def branches_kernel(x, out, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + pid * B + i)
    w = v
    if pid == 0:
        v += 100
    elif pid < 3:
        v, w = w * 2, v * 3
        if pid == 2:
            w -= 5
    elif not (pid == 4 or pid > 9):
        w = tl.where(v > 0, v, -v)
    else:
        pass
    tl.store(out + pid * B + i, v * 1000 + w)


@branches_kernel.example()
def branches():
    x = X[:40].reshape(5, 8)
    v, w = x.copy(), x.copy()
    v[0] += 100
    v[1:3], w[1:3] = x[1:3] * 2, x[1:3] * 3
    w[2] -= 5
    w[3] = np.abs(x[3])
    return example(v * 1000 + w, grid=5, x=x, B=8)


@triton.jit
def early_return_kernel(x, out, n, B: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, B)
    if pid >= n:
        tl.store(out + pid * B + i, -1)
        return
    v = tl.load(x + pid * B + i)
    if pid == 1:
        if n > 2:
            tl.store(out + pid * B + i, -2)
            return
        v += 1
    tl.store(out + pid * B + i, v)


@early_return_kernel.example(n=3)
@early_return_kernel.example(n=2)
def early_return(n):
    expected = X[:32].reshape(4, 8).copy()
    expected[n:] = -1
    expected[1] = -2 if n > 2 else expected[1] + 1
    return example(expected, grid=4, x=X, n=n, B=8)


@triton.jit
def conditions_kernel(x, out, n, flag):
    pid = tl.program_id(0)
    v = tl.load(x + pid)
    result = v if v > 0 else -v
    if n > 0 and v > 10:
        result += 1000
    if v < -10 or not flag:
        result += 2000
    if v >= 0 and v < 20:
        result += 4000
    result += 8000 if flag else 0
    tl.store(out + pid, result)


@conditions_kernel.example(n=1, flag=True)
@conditions_kernel.example(n=0, flag=False)
def conditions(n, flag):
    v = X.astype(np.int32)
    result = np.abs(v) + 1000 * ((n > 0) & (v > 10)) + 2000 * ((v < -10) | (not flag)) + 4000 * ((v >= 0) & (v < 20))
    return example((result + 8000 * flag).astype(np.int32), grid=64, x=X, n=n, flag=flag)


@triton.jit
def chained_kernel(x, out, low, high, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    inside = (low < v) & (v <= high)
    tl.store(out + i, tl.where(inside, 1, 0) + tl.where((v == low) | (v != high), 2, 0))


@chained_kernel.example()
def chained():
    inside = (X > -10) & (X <= 20)
    expected = inside + 2 * ((X == -10) | (X != 20))
    return example(expected.astype(np.int32), x=X, low=-10, high=20, B=64)


@triton.jit
def constexpr_kernel(out, MODE: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    HALF: tl.constexpr = N // 2 if N % 2 == 0 else -(N // -2)
    tl.static_assert(HALF * 2 >= N, "half of N, rounded up")
    if MODE == "square" and N > 2:
        v = i * i
    elif MODE in ("twice", "double"):
        v = i * 2
    else:
        v = i + HALF**2
    for k in tl.static_range(HALF):
        v += k
    tl.store(out + i, v)


@constexpr_kernel.example(mode="square", n=5)
@constexpr_kernel.example(mode="double", n=4)
@constexpr_kernel.example(mode="square", n=2)
def constexpr(mode, n):
    i = np.arange(8, dtype=np.int32)
    half = (n + 1) // 2
    v = i * i if mode == "square" and n > 2 else i * 2 if mode == "double" else i + half**2
    return example(v + np.int32(sum(range(half))), MODE=mode, N=n, B=8)

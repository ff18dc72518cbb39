"""Loops that end when their condition does: `while` on scalars, and on what a reduction says of a whole block."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def gcd_kernel(x, y, out):
    """Euclid's algorithm, one pair a program: both names change at once, as in Python."""
    i = tl.program_id(0)
    a = tl.load(x + i)
    b = tl.load(y + i)
    while b != 0:
        a, b = b, a % b
    tl.store(out + i, a)


@triton.jit
def search_kernel(table, keys, out, size):
    """Binary search, one key a program: the first position whose element is not below the key."""
    key = tl.load(keys + tl.program_id(0))
    low = 0
    high = size
    while low < high:
        middle = (low + high) // 2
        if tl.load(table + middle) < key:
            low = middle + 1
        else:
            high = middle
    tl.store(out + tl.program_id(0), low)


@triton.jit
def collatz_kernel(x, steps, n, BLOCK: tl.constexpr):
    """A block of numbers, each with its own count of steps: the loop runs as long as any lane has not arrived."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    number = tl.load(x + offs, mask=offs < n, other=1)
    count = tl.zeros((BLOCK,), tl.int32)
    while tl.max(number, axis=0) > 1:
        running = number > 1
        following = tl.where(number % 2 == 0, number // 2, 3 * number + 1)
        number = tl.where(running, following, number)
        count += running.to(tl.int32)
    tl.store(steps + offs, count, mask=offs < n)


@triton.jit
def cube_root_kernel(x, out, n, tolerance, BLOCK: tl.constexpr):
    """Newton's iteration until no lane moves by more than a tolerance, and no longer than 60 trips."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + offs, mask=offs < n, other=1.0)
    root = tl.maximum(value, 1.0)
    change = float("inf")
    trips = 0
    while change > tolerance and trips < 60:
        better = (2.0 * root + value / (root * root)) / 3.0
        change = tl.max(tl.abs(better - root) / root, axis=0)
        root = better
        trips += 1
    tl.store(out + offs, root, mask=offs < n)


@gcd_kernel.example(n=12)
@gcd_kernel.example(n=1)
@gcd_kernel.example(n=0)
def gcd(n):
    x, y = np.random.default_rng(0).integers(0, 10000, (2, n), dtype=np.int64)
    return triton.Example(args={"x": x, "y": y, "out": np.zeros_like(x)}, grid=n, expected={"out": np.gcd(x, y)})


@search_kernel.example(size=100, n=12)
@search_kernel.example(size=1, n=3)
@search_kernel.example(size=0, n=3)
def search(size, n):
    rng = np.random.default_rng(0)
    table, keys = np.sort(rng.integers(0, 100, size, dtype=np.int32)), rng.integers(-5, 105, n, dtype=np.int32)
    return triton.Example(
        args={"table": table, "keys": keys, "out": np.zeros(n, np.int32), "size": size},
        grid=n,
        expected={"out": np.searchsorted(table, keys)},
    )


@collatz_kernel.example(n=50)
@collatz_kernel.example(n=1)
def collatz(n):
    x = np.arange(1, n + 1, dtype=np.int32)
    number, steps = x.astype(np.int64), np.zeros(n, np.int32)
    while (number > 1).any():
        steps += number > 1
        number = np.where(number > 1, np.where(number % 2 == 0, number // 2, 3 * number + 1), number)
    return triton.Example(
        args={"x": x, "steps": np.zeros(n, np.int32), "n": n, "BLOCK": 32},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"steps": steps},
    )


@cube_root_kernel.example(n=100)
@cube_root_kernel.example(n=1)
def cube_root(n):
    x = np.random.default_rng(0).uniform(1e-3, 1e6, n).astype(np.float32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "tolerance": 1e-6, "BLOCK": 64},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": np.cbrt(x.astype(np.float64))},
        rtol=1e-5,
    )

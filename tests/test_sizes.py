"""Sizes that fill no block, bases that are not aligned, elements that are apart, and arrays of more than 2^31 elements,
for every dtype, against NumPy in float64."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.running import DeviceArray
from tests.running import GPU, runner

SIZES = (1, 31, 32, 33, 1000, 4095)
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DTYPES = (*INTEGERS, "float16", "bfloat16", "float32", "float64")
BLOCK = 512


@triton.jit
def sized_kernel(x, y, out, sums, n, apart, BLOCK: tl.constexpr):
    """out = 3 x - y, where the elements of x are apart, and the sum of each block of x."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    v = tl.load(x + offs * apart, mask=mask, other=0)
    tl.store(out + offs, v + v + v - tl.load(y + offs, mask=mask), mask=mask)
    tl.store(sums + tl.program_id(0), tl.sum(v.to(sums.dtype.element_ty), axis=0))


@triton.jit
def long_kernel(x, n, BLOCK: tl.constexpr):
    """Adds to each element the last bits of its index, which takes more than 32."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offs, tl.load(x + offs, mask=offs < n) + (offs % 101).to(tl.int8), mask=offs < n)


class Part:
    """Some elements of an array on the GPU: `size` of them from `first` on, `apart` from each other."""

    def __init__(self, whole: DeviceArray, first: int, size: int, apart: int) -> None:
        self.dtype, self.whole, described = whole.dtype, whole, whole.__cuda_array_interface__
        address, width = described["data"][0], self.dtype.itemsize
        place = {"data": (address + first * width, False), "strides": (apart * width,), "shape": (size,)}
        self.__cuda_array_interface__ = {**described, **place}


def numbers(dtype: np.dtype[Any], size: int, seed: int) -> np.ndarray[Any, Any]:
    """Small ones, whose sums every dtype holds; those of floats have fractions."""
    found = np.random.default_rng(seed).integers(0 if dtype.kind == "u" else -8, 9, size)
    return (found / (1 if dtype.kind in "iu" else 4)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", ["cpu", *(pytest.param(name, marks=pytest.mark.execution) for name in GPU)])
def test_sizes_bases_and_distances(backend: str, dtype: str) -> None:
    runner(backend)
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    host = backend == "cpu"
    if host and dtype not in ("int8", "float32"):
        pytest.skip("the GPU's accesses depend on the size of an element")
    for n, first, apart in product(SIZES, (0, 1) if host else (0, 1, 3), (1, 2)):
        whole, y = numbers(kind, first + n * apart, n), numbers(kind, first + n, n + 1)
        out, sums = np.zeros(first + n + 1, kind), np.zeros(triton.cdiv(n, BLOCK), np.float64)
        x = whole[first::apart][:n].astype(np.float64)
        wanted = (3 * x - y[first:].astype(np.float64)).astype(np.int64 if kind.kind in "iu" else kind).astype(kind)
        arrays: list[Any] = [whole[first:][: n * apart : apart], y[first:], out[first : first + n], sums]
        if not host:
            held = [DeviceArray(a) for a in (whole, y, out, sums)]
            arrays = [
                Part(a, *p) for a, p in zip(held, [(first, n, apart), (first, n, 1), (first, n, 1)], strict=False)
            ]
            arrays.append(held[3])
        sized_kernel[(len(sums),)](*arrays, n, apart, BLOCK=BLOCK, backend=backend)
        if not host:
            out[...], sums[...] = held[2].get(), held[3].get()
        assert np.array_equal(out[first : first + n], wanted), (n, first, apart)
        assert not out[:first].any() and not out[first + n], "elements beside the array"
        parts = np.pad(x, (0, -n % BLOCK)).reshape(-1, BLOCK).sum(axis=1)
        assert np.array_equal(sums, parts), (n, first, apart)


@pytest.mark.execution
@pytest.mark.parametrize("backend", GPU)
def test_an_array_of_more_than_2_to_the_31_elements(backend: str) -> None:
    runner(backend)
    cupy = pytest.importorskip("cupy")
    n = 2**31 + 4095
    x = cupy.ones(n + 1, dtype=cupy.int8)
    long_kernel[(triton.cdiv(n, 4096),)](x[:n], n, BLOCK=4096, backend=backend)
    for start in range(0, n, 1 << 28):
        part = x[start : min(start + (1 << 28), n)]
        wanted = (cupy.arange(start, start + part.size, dtype=cupy.int64) % 101 + 1).astype(cupy.int8)
        assert bool((part == wanted).all()), start
    assert int(x[n]) == 1

"""Products of blocks on the cpu backend: every schedule, shapes smaller than its tile, and what is added in place."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import mlir
from mytriton.backends.cpu import dots
from mytriton.backends.cpu.backend import PRODUCTS
from tests.running import runner


@triton.jit
def product_kernel(a, b, c, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr, TRANSPOSED: tl.constexpr):
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.load(a + m[:, None] * K + k[None, :])
    if TRANSPOSED:
        y = tl.trans(tl.load(b + n[:, None] * K + k[None, :]))
    else:
        y = tl.load(b + k[:, None] * N + n[None, :])
    at = m[:, None] * N + n[None, :]
    tl.store(out + at, tl.dot(x, y, tl.load(c + at)))


@triton.jit
def places_kernel(a, out, trips, N: tl.constexpr):
    """Sums that are read once, twice, after another product, and by an addition that is handed on."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(a + at)
    begun = x * 0.5
    once = tl.dot(x, x, begun)
    twice = tl.dot(x, once, once) + tl.dot(once, x, begun)
    carried, other = twice * 0.25, x
    for _ in range(trips):
        first = tl.dot(x, x, carried)
        second = tl.dot(first, x, other)
        other = first - x
        carried = second * 0.125 + first
    tl.store(out + at, carried + other)
    tl.store(out + N * N + at, tl.dot(x, x, x))


SHAPES = [(16, 16, 16), (1, 32, 16), (16, 1, 32), (2, 16, 1), (64, 128, 64), (4, 4, 128)]
SLENDER = [(1, 32, 64), (1, 1, 1), (2, 1, 1), (64, 64, 1), (16, 1, 16), (2, 2, 2), (2, 8, 2)]


@pytest.mark.parametrize("tile", ["8x32x8", "8x16x8", "4x16x8", "4x8x8"])
def test_every_schedule(tile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runner("cpu")
    monkeypatch.setattr(dots, "tile_of", lambda what: tile)
    kernel = triton.jit(product_kernel.function)  # compiled anew
    _check(kernel, 32, 64, 32, np.float32, False)


@pytest.mark.parametrize(("m", "k", "n"), SHAPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_shapes(m: int, k: int, n: int, transposed: bool) -> None:
    runner("cpu")
    _check(product_kernel, m, k, n, np.float32, transposed)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.int8])
@pytest.mark.parametrize(("m", "k", "n"), SLENDER)
def test_slender_blocks(m: int, k: int, n: int, dtype: type) -> None:
    """For which passes of MLIR do not come to an end."""
    runner("cpu")
    _check(product_kernel, m, k, n, dtype, False)


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, np.int8])
def test_types(dtype: type) -> None:
    runner("cpu")
    _check(product_kernel, 16, 32, 128, dtype, False)


def _check(kernel: triton.JITFunction, m: int, k: int, n: int, dtype: type, transposed: bool) -> None:
    rng = np.random.default_rng(0)
    integers = dtype is np.int8
    total = np.int32 if integers else np.float64 if dtype is np.float64 else np.float32
    a, b, c = (
        (rng.integers(0, 200, s) - 100 if integers else rng.standard_normal(s)) for s in ((m, k), (k, n), (m, n))
    )
    a, b, c = a.astype(dtype), b.astype(dtype), c.astype(total)
    out = np.zeros_like(c)
    given = np.ascontiguousarray(b.T) if transposed else b
    kernel[(1,)](a, given, c, out, M=m, K=k, N=n, TRANSPOSED=transposed, backend="cpu")
    wide = np.int64 if integers else np.float64
    np.testing.assert_allclose(out, c.astype(wide) + a.astype(wide) @ b.astype(wide), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_places(trips: int) -> None:
    runner("cpu")
    n = 64  # more columns than a panel has, but what is a first factor too is kept in rows
    a = np.random.default_rng(0).standard_normal((n, n), dtype=np.float32) / 9
    ours, theirs = np.zeros((2, n, n), np.float32), np.zeros((2, n, n), np.float32)
    places_kernel[(1,)](a, ours, trips, N=n, backend="cpu")
    places_kernel[(1,)](a, theirs, trips, N=n, backend="interp")
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_sums_are_added_up_in_place() -> None:
    runner("cpu")
    source = np.zeros((64, 64), np.float32)
    launch = product_kernel[(1,)](source, source, source, source, M=64, K=64, N=64, TRANSPOSED=False, backend="cpu")
    text = launch.compilation.stage("cpu/emit").text
    assert "intr.memcpy" not in text
    assert re.search(r"memref<64x(32|16)xf32> to tensor", text)  # a panel of the second factor, row after row
    assert re.search(r"memref<64x(32|16)xf32, strided<\[80, 1\]>> to tensor", text)  # the sums of its columns
    assembly = launch.compilation.stage("asm").text
    inner = assembly.partition("<dot.")[2]
    assert inner.count("vfmadd") or inner.count("fmla")
    products = launch.compilation.stage("cpu/products")
    assert "linalg" not in products.text
    assert "vector.fma" in products.text


@triton.jit
def places_of_rows_kernel(
    a, b, out, M, K, row, WAY: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr
):
    """The first factor is in rows at equal distances or not, or is overwritten before it is used."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    rows = m * m if WAY == "squares" else m
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        at = rows[:, None] * row + k[None, :]
        inside = (m[:, None] < M) & (k[None, :] < K)
        x = tl.load(a + at, mask=inside, other=0.0)
        y = tl.load(b + k[:, None] * BN + n[None, :], mask=k[:, None] < K, other=0.0)
        if WAY == "written":
            tl.store(a + at, x * 0.0, mask=inside)
        acc = tl.dot(x, y, acc)
    tl.store(out + m[:, None] * BN + n[None, :], acc, mask=m[:, None] < M)


@pytest.mark.parametrize("way", ["plain", "backwards", "squares", "written"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_where_the_first_factor_is(way: str, dtype: type) -> None:
    runner("cpu")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((70, 90)).astype(dtype), rng.standard_normal((90, 16)).astype(dtype)
    m, block = (8, 8) if way == "squares" else (70, 32)
    out = np.zeros((m, 16), np.float32)
    seen = {"backwards": a[::-1], "squares": a[np.arange(8) ** 2]}.get(way, a).astype(np.float64)
    given, row = (a[::-1], -90) if way == "backwards" else (a, 90)
    sizes = {"WAY": way, "BM": block, "BK": 32, "BN": 16}
    launch = places_of_rows_kernel[(-(-m // block),)](given, b, out, m, 90, row, **sizes, backend="cpu")
    np.testing.assert_allclose(out, seen @ b.astype(np.float64), rtol=1e-4, atol=1e-4)
    assert (".given:2 = scf.if" in launch.compilation.stage("cpu/emit").text) == (way != "written")


def test_the_schedules_may_lie_in_any_folder(tmp_path: Path) -> None:
    runner("cpu")
    folder = tmp_path / "a b,c"
    folder.mkdir()
    copy = folder / dots.SCHEDULES.name
    copy.write_text(dots.SCHEDULES.read_text())
    run = mlir.parse("func.func private @f()").run(PRODUCTS.replace(str(dots.SCHEDULES), str(copy))).run()
    assert [d.message for stage in run.stages for d in stage.diagnostics] == []

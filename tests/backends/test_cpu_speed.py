"""What the cpu backend does for speed: it must not show in results. Whole blocks without masks and stores past the
caches, rows fetched ahead, division by one number, and functions of processors with shorter vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from examples.kernels.softmax import online_softmax_kernel, softmax_kernel
from mytriton.backends.cpu import library, past, whole
from tests.running import runner


@pytest.fixture
def streaming(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least launch stores past the caches."""
    runner("cpu")
    monkeypatch.setattr(whole, "_MANY", 1)
    monkeypatch.setattr(past, "_LONG", 1)


def anew(kernel: triton.JITFunction) -> triton.JITFunction:
    """The kernel, not compiled yet."""
    return triton.jit(kernel.function)


def text(launch: Any, stage: str = "cpu/emit") -> str:
    return str(launch.compilation.stage(stage).text)


def softmax(x: Any) -> Any:
    numerator = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return numerator / numerator.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("columns", [1024, 1000])
@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("place", ["apart", "in place", "one element on"])
def test_stores_past_the_caches(streaming: None, columns: int, offset: int, place: str) -> None:
    rows = 5
    memory = np.full(2 * rows * columns + 64, 7, np.float32)
    start = offset + -(memory.ctypes.data // 4) % 16  # so many elements from a cache line's begin
    end = start + rows * columns
    x = memory[start:end].reshape(rows, columns)
    x[:] = np.random.default_rng(0).standard_normal(x.shape) * 9
    given = x.copy()
    at = {"apart": end, "in place": start, "one element on": start + 1}[place]
    out = memory[at : at + x.size].reshape(x.shape)
    kernel, expected = anew(softmax_kernel), softmax(given)
    if place == "one element on":  # each row is computed after the one before it was stored over its first element
        for row in range(1, rows):
            given[row, 0] = expected[row - 1, -1]
            expected[row] = softmax(given[row : row + 1])
    launch = kernel[(rows,)](out, x, columns, columns, columns, BLOCK=triton.next_power_of_2(columns), backend="cpu")
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-30)
    stored = {*range(at, at + x.size), *range(start, end)}
    assert (memory[[n for n in range(memory.size) if n not in stored]] == 7).all()
    assert "nontemporal" in text(launch)


@triton.jit
def doubled_kernel(x, out, first, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    """Elements from `first` to n, asked for in several ways; or to the same place by all programs."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WAY == "mirrored":
        mask = (n > offs) & (first <= offs)
    elif WAY == "not ordered":
        mask = (offs < n) & (offs >= first) & (offs != 40)
    else:
        mask = (offs <= n - 1) & (offs > first - 1)
    to = tl.arange(0, BLOCK) if WAY == "same place" else offs
    tl.store(out + to, tl.load(x + offs, mask=mask, other=0) * 2, mask=mask)


@pytest.mark.parametrize(
    ("way", "dtype", "streams"),
    [
        ("mirrored", np.float64, True),
        ("mirrored", np.int8, True),
        ("ordered", np.float32, True),
        ("ordered", np.float16, True),
        ("not ordered", np.float32, False),
        ("same place", np.float32, False),
    ],
)
def test_masks_of_whole_blocks(streaming: None, way: str, dtype: type, streams: bool) -> None:
    x = (np.arange(256) % 60).astype(dtype)
    kernel = anew(doubled_kernel)
    for first, n in ((0, 256), (1, 256), (0, 255), (70, 190), (64, 128), (300, 10)):
        out = np.full(x.size + 16, 7, dtype)
        start = -(out.ctypes.data // out.itemsize) % (64 // out.itemsize) % 16
        out = out[start : start + 256]
        before = out.copy()
        launch = kernel[(4,)](x, out, first, n, WAY=way, BLOCK=64, backend="cpu")
        places = [k for k in range(first, n) if way != "not ordered" or k != 40]
        for k in places:
            before[k % 64 if way == "same place" else k] = x[k] * 2
        np.testing.assert_array_equal(out, before)
    assert ("nontemporal" in text(launch)) == streams


@pytest.mark.parametrize("first", [2**31 - 100, -(2**31)])
def test_numbers_that_wrap_are_not_whole(streaming: None, first: int) -> None:
    """Offsets that wrap are not in order: that the last one is small says nothing of the others."""
    kernel, out = anew(wrapping_kernel), np.zeros(128, np.int32)
    kernel[(1,)](out, first, 0, BLOCK=128, backend="cpu")
    numbers = (np.int64(first) + np.arange(128)).astype(np.uint32).view(np.int32)
    np.testing.assert_array_equal(out, numbers < 0)


@triton.jit
def wrapping_kernel(out, first, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offs, 1, mask=first + tl.arange(0, BLOCK) < n)


@pytest.mark.parametrize("stride", [512, 600, -700])
def test_rows_are_fetched_ahead(stride: int) -> None:
    """Wherever the next one is, and none is after the last."""
    runner("cpu")
    memory = np.random.default_rng(0).standard_normal(4 * 700, dtype=np.float32)
    x = memory[2100:] if stride < 0 else memory
    seen = np.stack([memory[2100 * (stride < 0) + row * stride :][:512] for row in range(4)])
    for kernel in (softmax_kernel, online_softmax_kernel):
        out = np.zeros((4, 512), np.float32)
        launch = kernel[(4,)](out, x, 512, stride, 512, BLOCK=512, backend="cpu")
        np.testing.assert_allclose(out, softmax(seen), rtol=2e-6)
        assert text(launch).count('"llvm.intr.prefetch"') >= 1
    assert "prefetch" in text(launch, "asm") or "prfm" in text(launch, "asm")


@triton.jit
def divided_kernel(x, d, out, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    at = m[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(out + at, tl.load(x + at) / tl.load(d + m)[:, None])


@pytest.mark.parametrize(("bm", "bn", "many"), [(1, 256, True), (4, 128, True), (16, 16, False)])
def test_division_by_one_number_is_correctly_rounded(bm: int, bn: int, many: bool) -> None:
    """Any bits; and quotients next to the middle between two numbers, the hardest to round."""
    runner("cpu")
    rng = np.random.default_rng(0)
    rows = 1 << 12
    d = rng.integers(0, 2**32, rows, np.uint32).view(np.float32)
    x = rng.integers(0, 2**32, (rows, bn), np.uint32).view(np.float32)
    hard = slice(rows // 4, None)
    mantissas = rng.integers(2**23, 2**24, rows - rows // 4)
    odd = rng.integers(2**23, 2**24, (len(mantissas), bn)) * 2 + 1
    middles = (mantissas[:, None] * odd / 2**24).astype(np.float32)
    x[hard] = (middles.view(np.int32) + rng.integers(-1, 2, middles.shape, np.int32)).view(np.float32)
    d[hard] = mantissas
    x[:2, :12] = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, 2**-63, 2**65, 2**-64, -1]
    d[:64] = np.resize(np.float32([3, -3, 0, -0.0, np.inf, np.nan, 2**-30, 2**30, 2**31, 1e-45, 1e38, -7]), 64)
    out = np.zeros_like(x)
    launch = divided_kernel[(rows // bm,)](x, d, out, BM=bm, BN=bn, backend="cpu")
    with np.errstate(all="ignore"):
        expected = x / d[:, None]
    same = (out.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(out) & np.isnan(expected))
    assert same.all(), (x[~same][:3], np.argwhere(~same)[:3])
    assert ("@divide.v16f32" in text(launch)) == many


@triton.jit
def exponentials_kernel(x, out, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offs, tl.exp(tl.load(x + offs)))


@pytest.mark.parametrize("avx512", [True, False])
@pytest.mark.parametrize("block", [64, 8])
def test_exponentials(avx512: bool, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    runner("cpu")
    if not avx512:
        monkeypatch.setattr(library, "has_avx512", lambda: False)
    edges = np.float32(
        [np.inf, -np.inf, np.nan, 0, -0.0, 88.72, 88.73, -87.4, -103.9, -103.98, -104, 1e30, -1e30, 1e-30]
    )
    x = np.concatenate([np.linspace(-105, 89, 1 << 14, dtype=np.float32), np.resize(edges, 64)])
    out = np.zeros_like(x)
    anew(exponentials_kernel)[(x.size // block,)](x, out, BLOCK=block, backend="cpu")
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64))
        expected = exact.astype(np.float32)
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(out[~finite], expected[~finite])
    ulp = np.spacing(np.maximum(expected[finite], np.float32(1e-45))).astype(np.float64)
    assert (abs(out[finite] - exact[finite]) <= ulp).all()


@triton.jit
def extremes_kernel(x, out, BLOCK: tl.constexpr):
    values = tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))
    tl.store(out + tl.program_id(0), tl.max(values, axis=0))
    tl.store(out + tl.num_programs(0) + tl.program_id(0), tl.min(values, axis=0))


@pytest.mark.parametrize("block", [2, 256])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_pass_over_nan(block: int, dtype: type) -> None:
    """Unless there is nothing else; infinities are numbers."""
    runner("cpu")
    rows = np.full((8, block), np.nan, dtype)
    rows[1:] = np.random.default_rng(0).standard_normal((7, block))
    rows[2] = -np.inf
    rows[3] = np.inf
    rows[4, ::2] = np.nan
    rows[5, 1:] = np.nan
    rows[6, :-1] = np.nan
    rows[7, 0], rows[7, 1:] = -np.inf, np.nan
    out = np.zeros((2, 8), dtype)
    extremes_kernel[(8,)](rows, out, BLOCK=block, backend="cpu")
    np.testing.assert_array_equal(out, [np.fmax.reduce(rows, axis=1), np.fmin.reduce(rows, axis=1)])

"""What a launch has to do, counted by hand beside it; how samples are taken and summarised."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from examples.kernels.add import add_kernel
from examples.kernels.embedding import embedding_kernel
from examples.kernels.gemm import static_gemm_kernel
from examples.kernels.matmul import naive_matmul_kernel, tiled_matmul_kernel
from examples.kernels.softmax import softmax_kernel
from mytriton import BackendUnavailable, Target, backends, bench_example
from mytriton.backends.nvidia import peaks
from mytriton.backends.nvidia.device import probe
from mytriton.bench import Bench
from mytriton.ir.core import Func
from mytriton.roofline import Peak, _best_ever, _caches, gpu_peak, host_peak
from mytriton.running import DeviceArray, ReadyExample
from mytriton.testing import Samples, WallClock, do_bench, measure
from mytriton.work import Work, count_work
from tests.running import runner


def work_of(kernel: Any, case: triton.ExampleCase | triton.Example, **options: int) -> Work:
    """What a launch of an example does."""
    example = case.build() if isinstance(case, triton.ExampleCase) else case
    ready = ReadyExample(kernel, example, Target("interp"))
    func: Func = ready.launch.compilation.stage("opt/dce").artifact
    names = [name for name, _, _ in ready.launch.compilation.specialization.params]
    return count_work(func, [example.args[n] for n in names], ready.launch.grid, **options)


def case(kernel: Any, label: str) -> triton.ExampleCase:
    return next(c for c in kernel.examples if label in c.label)


def test_add() -> None:
    found = work_of(add_kernel, case(add_kernel, "n=1000"))
    assert (found.read, found.written, found.bytes) == (2 * 4000, 4000, 12000)
    assert found.flops == {"f32": 4 * 256}, "whole blocks: 4 programs of 256"
    assert (found.programs, found.counted, found.exact, found.reason) == (4, 4, True, "")


def test_softmax() -> None:
    found = work_of(softmax_kernel, case(softmax_kernel, "rows=5, columns=781"))
    assert (found.read, found.written) == (5 * 781 * 4, 5 * 781 * 4)
    row = 1023 + 1024 + 1024 + 1023 + 1024  # maximum, subtraction, exp, sum, division
    assert found.flops == {"f32": 5 * row}


def test_matmul_reads_each_element_once_however_many_programs_load_it() -> None:
    found = work_of(naive_matmul_kernel, case(naive_matmul_kernel, "m=20, n=50, k=10"))
    assert (found.read, found.written) == (4 * (20 * 10 + 10 * 50), 4 * 20 * 50)
    assert found.flops == {"f32": 4 * 10 * 2 * 16 * 32}, "4 programs, 10 trips, one product and one sum an element"
    tiled = work_of(tiled_matmul_kernel, case(tiled_matmul_kernel, "m=20, n=30, k=21"))
    trip = 16 * 8 * 16 + 16 * 7 * 16 + 16 * 16  # products, their sums over 8, the total
    assert tiled.flops == {"f32": 4 * 3 * trip}
    assert tiled.read == 4 * (20 * 21 + 21 * 30)


def test_a_dot_counts_each_product_and_each_sum() -> None:
    found = work_of(static_gemm_kernel, case(static_gemm_kernel, "m=16, n=16, dtype='float64'"))
    assert found.flops == {"f64": 2 * 16 * 16 * 32}
    assert (found.read, found.written) == (8 * (16 * 32 + 32 * 16), 8 * 16 * 16)
    integers = work_of(static_gemm_kernel, case(static_gemm_kernel, "m=20, n=30, dtype='int8'"))
    assert (integers.flops, integers.read) == ({}, 20 * 32 + 32 * 30)


def test_a_gather_reads_the_rows_that_are_asked_for() -> None:
    example = case(embedding_kernel, "count=9, columns=300")
    tokens = example.build().args["tokens"]
    rows = {t for t in tokens.tolist() if 0 <= t < 50}
    assert len(rows) < 9
    found = work_of(embedding_kernel, example)
    assert (found.read, found.written) == (9 * 4 + len(rows) * 300 * 4, 9 * 300 * 4)


def test_some_programs_stand_for_all_and_no_array_counts_more_than_once() -> None:
    example = case(add_kernel, "n=98432")
    exact = work_of(add_kernel, example)
    assert (exact.counted, exact.bytes, exact.flops) == (385, 12 * 98432, {"f32": 385 * 256})
    few = work_of(add_kernel, example, budget=200_000)
    assert 2 < few.counted < 20
    assert (few.programs, few.exact) == (385, False)
    assert (few.bytes, few.flops) == (exact.bytes, exact.flops)
    product = work_of(naive_matmul_kernel, case(naive_matmul_kernel, "m=20, n=50, k=10"), budget=1_000_000)
    assert (product.counted, product.read) == (2, 4 * (20 * 10 + 10 * 50)), "each array at most once"


def test_what_cannot_be_counted_says_why() -> None:
    heavy = work_of(naive_matmul_kernel, case(naive_matmul_kernel, "m=20, n=50, k=10"), budget=10_000)
    assert (heavy.bytes, heavy.flops) == (0, {})
    assert heavy.reason == "one program alone does too much to be interpreted"


@triton.jit
def kinds(x, out, n: tl.constexpr):
    i = tl.arange(0, n)
    a = tl.load(x + i)
    b = tl.fma(a, a, a)
    c = tl.where(b > 0, -b, tl.abs(b))
    tl.store(out + i, tl.exp(c.to(tl.float64)))
    tl.store(out + i, tl.load(x + i * 0).to(tl.float64), mask=i < 2)


def test_flops_by_type_and_ideal_bytes() -> None:
    args = {"x": np.ones(64, np.float32), "out": np.zeros(64, np.float64), "n": 64}
    found = work_of(kinds, triton.Example(args=args, grid=2))
    assert found.flops == {"f32": 2 * 2 * 64, "f64": 2 * 64}
    assert (found.read, found.written) == (64 * 4, 64 * 8), "both programs touch the same elements"
    assert work_of(kinds, triton.Example(args=args, grid=0)) == Work()


class Steady:
    """A clock by which each call takes a second, and counts them."""

    clock = "steady"

    def __init__(self) -> None:
        self.batches: list[int] = []

    def batch(self, call: Callable[[], object], count: int) -> list[float]:
        for _ in range(count):
            call()
        self.batches.append(count)
        return [1.0 + len(self.batches)] * count


def test_samples_and_their_spread() -> None:
    samples = Samples((4.0, 1.0, 3.0, 2.0, 5.0), "steady")
    assert (samples.median, samples.quantile(0.25), samples.quantile(0.1)) == (3.0, 2.0, pytest.approx(1.4))


def test_the_first_call_is_not_counted_and_there_are_enough_samples() -> None:
    calls: list[int] = []
    timer = Steady()
    told: list[tuple[int, int]] = []
    samples = measure(
        lambda: calls.append(1), timer, warmup=0, budget=1e-9, progress=lambda done, total: told.append((done, total))
    )
    assert len(samples.seconds) == len(calls) - 1
    assert samples.seconds[0] == 3.0
    assert told[0] == (1, 1)
    assert len(told) == len(samples.seconds)
    few = measure(lambda: None, Steady(), warmup=0, budget=60, at_most=2)
    assert few.seconds == (3.0, 4.0)


def test_a_progress_that_raises_ends_it() -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(lambda: None, WallClock(), progress=stop)


def test_do_bench_gives_what_tritons_does() -> None:
    assert do_bench(lambda: None, rep=1, device="cpu") > 0
    low, high = do_bench(lambda: None, rep=1, quantiles=(0.2, 0.8), device="cpu")
    assert low <= high
    assert isinstance(do_bench(lambda: None, rep=1, quantiles=[0.5], device="cpu"), float)
    assert len(do_bench(lambda: None, rep=1, return_mode="all", device="cpu")) >= 3
    assert triton.testing.do_bench is do_bench


def test_rates_follow_from_the_median() -> None:
    work = Work(6000, 2000, {"f32": 100, "f64": 300}, 1, 1)
    bench = Bench("add()", "cpu", "CPU", Samples((1e-6, 2e-6, 3e-6), ""), work, Peak(1e10, {"f32": 4e9, "f64": 2e9}))
    assert bench.bandwidth == pytest.approx(4e9)
    assert bench.flop_rate == pytest.approx(2e8)
    assert bench.peak_flops == 2e9, "most are of f64"
    assert str(bench) == (
        "add() on cpu (CPU): median 2.0 us of 3 runs, p20 to p80 1.4 us to 2.6 us, 4 GB/s (40% of the limit), "
        "0.2 GFLOP/s (10% of the limit)"
    )
    warm = dataclasses.replace(bench, warm=Samples((1e-6,), ""), peak=Peak(1e10))
    assert ", 1.0 us with a warm cache, 4 GB/s (40% of the limit), 0.2 GFLOP/s" in str(warm)
    assert "1e-06" not in repr(bench), "as many as there were runs"


def test_what_a_cache_holds_has_no_share_of_memory(tmp_path: Path) -> None:
    kinds = (("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "2M"), ("3", "Unified", "64M"))
    for index, files in enumerate(kinds):
        (tmp_path / f"index{index}").mkdir()
        for name, text in zip(("level", "type", "size"), files, strict=True):
            (tmp_path / f"index{index}" / name).write_text(f"{text}\n")
    peak = Peak(1e10, {"f32": 4e9}, caches=tuple(_caches(tmp_path)))
    assert [str(cache) for cache in peak.caches] == ["L1 cache of 48 kB", "L2 cache of 2 MB", "L3 cache of 64 MB"]
    assert [peak.cache(size, 9e9)[:2] for size in (0, 48 << 10, 49 << 10, 2 << 20, 3 << 20)] == [
        "",
        "L1",
        "L2",
        "L2",
        "",
    ]
    assert peak.cache(3 << 20, 2e10)[:2] == "L3", "others use it, too: faster than memory it was it"
    work = Work(8000, 4000, {"f32": 10}, 4, 4)
    text = str(Bench("add()", "cpu", "CPU", Samples((1e-6,), ""), work, peak))
    assert "12 GB/s out of the L1 cache of 48 kB, " in text


@pytest.mark.parametrize("backend", ["cpu", "interp"])
def test_benching_an_example(backend: str) -> None:
    if (reason := backends.get(backend).available()) is not None:
        pytest.skip(reason)
    told: list[str] = []
    bench = bench_example(
        add_kernel,
        case(add_kernel, "n=1000"),
        Target(backend),
        seconds=0.01,
        progress=lambda what, done, total: told.append(what),
    )
    assert (bench.label, bench.backend, bench.work.bytes) == ("add(n=1000)", backend, 12000)
    assert len(bench.samples.seconds) >= 3
    assert bench.samples.clock == "wall clock, caches as the run before left them"
    assert bench.peak == host_peak()
    assert set(told) == {"programs counted", "runs"} | ({"programs"} if backend == "interp" else set())


def test_the_host_s_limits_are_the_best_that_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(tmp_path))
    assert _best_ever({"bytes": 3e9, "f32": 5e9}, 2) == {"bytes": 3e9, "f32": 5e9}
    assert _best_ever({"bytes": 2e9, "f32": 6e9}, 2) == {"bytes": 3e9, "f32": 6e9}
    assert _best_ever({"bytes": 1e9, "f32": 1e9}, 2) == {"bytes": 3e9, "f32": 6e9}
    assert _best_ever({"bytes": 1e9, "f32": 1e9}, 1) == {"bytes": 1e9, "f32": 1e9}, "fewer cores"


def test_no_other_backend_is_tried() -> None:
    if backends.get("cuda").available() is None:
        pytest.skip("there is a GPU")
    with pytest.raises(BackendUnavailable):
        bench_example(add_kernel, add_kernel.examples[0], Target("cuda"))


def test_a_gpu_s_limits_follow_from_its_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {13: 1_980_000, 16: 132, 36: 3_201_000, 37: 6144, 75: 9, 76: 0}  # an H200
    monkeypatch.setattr(peaks, "attribute", lambda number, device=0: known[number])
    assert peaks.bandwidth() == 3.201e9 * 2 * 768
    f32 = 132 * 1.98e9 * 128 * 2
    assert peaks.flops() == {"f32": f32, "f16": f32, "bf16": f32, "f64": f32 / 2}
    known[75] = 99
    assert peaks.flops() == {}, "not known"


@pytest.mark.execution
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_benching_on_the_gpu(backend: str) -> None:
    bench = bench_example(add_kernel, case(add_kernel, "n=98432"), on_gpu(backend), seconds=0.1)
    assert (bench.work.bytes, bench.work.total_flops) == (12 * 98432, 385 * 256)
    assert bench.samples.clock.startswith("CUDA events, L2 cleared (")
    assert len(bench.samples.seconds) >= 3
    assert all(0 < s < 1 for s in bench.samples.seconds)
    assert 0 < bench.bandwidth < bench.peak.bandwidth, "the caches were cleared"
    assert bench.peak.flops["f32"] >= bench.peak.flops["f64"] > bench.flop_rate


@pytest.mark.execution
def test_do_bench_on_the_gpu_times_the_gpu() -> None:
    on_gpu("cuda")
    n = 1 << 24
    x, y, out = (DeviceArray(np.ones(n, np.float32)) for _ in range(3))
    milliseconds = do_bench(
        lambda: add_kernel[(n // 1024,)](x, y, out, n, BLOCK=1024, backend="cuda"), return_mode="median", rep=20
    )
    assert isinstance(milliseconds, float)
    assert 12 * n / (milliseconds / 1e3) < gpu_peak().bandwidth


def on_gpu(backend: str) -> Target:
    """The target for this machine's GPU; skips the test where there is none."""
    runner(backend)
    chip = probe().devices[0].chip
    assert chip is not None
    return Target(backend, chip)

"""Autotuning and heuristics: which config wins, for which launches, and what happens to the arrays meanwhile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import Config, LaunchError, Target, running, timings
from mytriton.backends.nvidia import driver
from mytriton.configs import Pruning
from mytriton.resetting import copy_of, restore, zero
from tests.running import runner


class Clock:
    """A `do_bench` that launches once and gives the next of the figures it was made with."""

    def __init__(self, *milliseconds: float, runs: int = 1) -> None:
        self.milliseconds, self.runs = list(milliseconds), runs
        self.quantiles: list[Sequence[float]] = []

    def __call__(self, fn: Callable[[], None], quantiles: Sequence[float]) -> list[float]:
        for _ in range(self.runs):
            fn()
        self.quantiles.append(quantiles)
        median = self.milliseconds.pop(0)
        return [median, median - 0.25, median + 0.5]


def body(x, out, n, BLOCK: tl.constexpr, SCALE: tl.constexpr = 1):
    """Adds to what `out` holds, so that a launch too many shows."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(out + at, mask=inside) + SCALE * tl.load(x + at, mask=inside), mask=inside)


CONFIGS = [Config({"BLOCK": 32}), Config({"BLOCK": 64}, num_warps=2), Config({"BLOCK": 128}, num_warps=8, num_stages=2)]


def tuned(clock: Any, configs: Sequence[Config] = CONFIGS, key: Sequence[str] = ("n",), **options: Any) -> Any:
    return triton.autotune(configs, key, do_bench=clock, **options)(triton.jit(body))


def grid(meta: Any) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def arrays(n: int = 100, dtype: Any = np.float32) -> tuple[Any, Any]:
    return np.arange(n, dtype=dtype), np.zeros(n, dtype)


def launch(kernel: Any, n: int = 100, dtype: Any = np.float32, **keywords: Any) -> Any:
    x, out = arrays(n, dtype)
    return kernel[grid](x, out, n, **{"backend": "interp", **keywords})


# --- choosing ---------------------------------------------------------------------------------------------------------


def test_the_config_with_the_lowest_median_is_launched() -> None:
    clock = Clock(3.0, 1.0, 2.0)
    kernel = tuned(clock)
    result = launch(kernel)
    assert result.ran
    assert result.config is kernel.best_config is CONFIGS[1]
    assert dict(result.compilation.specialization.constexprs)["BLOCK"] == 64
    assert result.compilation.target.num_warps == 2
    assert result.note == ""
    assert kernel.configs_timings == dict(zip(CONFIGS, ([3, 2.75, 3.5], [1, 0.75, 1.5], [2, 1.75, 2.5]), strict=True))
    assert clock.quantiles == [(0.5, 0.2, 0.8)] * 3


def test_a_choice_holds_for_its_key_its_dtypes_its_backend_and_its_options() -> None:
    kernel = tuned(Clock(3, 1, 2, 1, 2, 3, 3, 2, 1, 2, 1, 3, 1, 2, 3))
    assert launch(kernel).config is CONFIGS[1]
    assert launch(kernel).config is CONFIGS[1], "nothing is measured again"
    assert launch(kernel, 200).config is CONFIGS[0]
    assert launch(kernel, dtype=np.int32).config is CONFIGS[2]
    assert launch(kernel, enable_fp_fusion=False).config is CONFIGS[1]
    assert list(kernel.cache) == [
        (100, "float32", "float32", "backend=interp"),
        (200, "float32", "float32", "backend=interp"),
        (100, "int32", "int32", "backend=interp"),
        (100, "float32", "float32", "backend=interp", "enable_fp_fusion=False"),
    ]
    assert launch(kernel, 200).config is CONFIGS[0]
    kernel.clear_cache()
    assert (launch(kernel).config, list(kernel.cache)) == (CONFIGS[0], [(100, "float32", "float32", "backend=interp")])


def test_what_is_no_key_has_no_part_in_it() -> None:
    kernel = tuned(Clock(2, 1, 3), key=[])
    assert launch(kernel, 100).config is launch(kernel, 77).config is CONFIGS[1]


def test_one_config_is_not_measured_and_none_is_the_usual_one() -> None:
    kernel = tuned(Clock(), [Config({"BLOCK": 16}, num_warps=1)])
    x, out = arrays()
    assert kernel[grid](x, out, 100, backend="interp").compilation.target.num_warps == 1
    assert out.tolist() == x.tolist()
    usual = triton.autotune([], [])(triton.jit(body))
    assert usual[grid](x, out, 100, BLOCK=32, backend="interp").config == Config({})


def test_a_config_that_does_not_compile_is_never_the_fastest() -> None:
    broken = Config({"BLOCK": 100})
    kernel = tuned(Clock(2.0), [broken, CONFIGS[0]])
    assert launch(kernel).config is CONFIGS[0]
    assert kernel.configs_timings == {broken: [inf, inf, inf], CONFIGS[0]: [2.0, 1.75, 2.5]}
    assert "must be a power of 2, got 100" in kernel.tuning.trials[0].error
    with pytest.raises(triton.CompileError, match="must be a power of 2, got 100"):
        launch(tuned(Clock(), [broken, Config({"BLOCK": 96})]))


def test_a_config_that_takes_more_than_the_device_has_is_never_the_fastest() -> None:
    def clock(fn: Callable[[], None], quantiles: Sequence[float]) -> float:
        if not found:
            found.append(1)
            driver.check(driver.OUT_OF_RESOURCES, "launching the kernel", fake)
        return 5.0

    found: list[int] = []
    fake: Any = SimpleNamespace(cuGetErrorName=lambda code, name: 1, cuGetErrorString=lambda code, text: 1)
    kernel = tuned(clock)
    assert launch(kernel).config is CONFIGS[1]
    assert kernel.configs_timings == {CONFIGS[0]: [inf] * 3, CONFIGS[1]: [5.0] * 3, CONFIGS[2]: [5.0] * 3}
    assert kernel.tuning.trials[0].error.startswith("launching the kernel failed: ")


def test_host_arrays_and_empty_grids_cannot_be_timed() -> None:
    kernel = tuned(Clock(), [Config({"BLOCK": 100}), *CONFIGS])
    result = launch(kernel, backend="cuda")
    first = "BLOCK: 32, num_warps: 4, num_stages: 3 is the first config that compiles"
    assert (result.ran, result.config) == (False, CONFIGS[0])
    assert result.note == f"not tuned, since host arrays only say what to compile: {first}"
    assert repr(result) == f"<body on cuda: compiled, not run; {result.note}>"
    assert launch(kernel, 0).note == f"not tuned, since the grid is empty: {first}"
    assert kernel.cache == {}
    with pytest.raises(LaunchError, match="`body` cannot be tuned, since host arrays only say what to compile"):
        kernel.tune(grid, *arrays(), 100, backend="mlir")


def test_the_clock_of_the_backend_is_used_where_none_is_given() -> None:
    kernel = triton.autotune(CONFIGS[:2], ["n"], warmup=1, rep=1)(triton.jit(body))
    result = launch(kernel)
    assert result.config in CONFIGS[:2]
    for median, low, high in kernel.configs_timings.values():
        assert 0 < low <= median <= high


def test_tuning_tells_how_far_it_is_and_measures_anew() -> None:
    kernel, told = tuned(Clock(3, 1, 2, 1, 2, 3)), []
    launch(kernel)
    found = kernel.tune(grid, *arrays(), 100, backend="interp", progress=lambda *far: told.append(far))
    assert [trial.milliseconds[0] for trial in found.trials] == [1, 2, 3]
    assert (found.best.config, launch(kernel).config) == (CONFIGS[0], CONFIGS[0])
    assert list(dict.fromkeys(told)) == [("configs", 0, 3), ("configs", 1, 3), ("configs", 2, 3)]


def test_threads_wait_for_one_measurement() -> None:
    kernel, found = tuned(Clock(3, 1, 2)), []
    threads = [threading.Thread(target=lambda: found.append(launch(kernel).config)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [CONFIGS[1]] * 4


@pytest.mark.parametrize("name", ["MYTRITON_PRINT_AUTOTUNING", "TRITON_PRINT_AUTOTUNING"])
def test_what_was_chosen_is_printed(name: str, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setenv(name, "1")
    launch(tuned(Clock(2.0, 1.0), [CONFIGS[0], Config({"BLOCK": 7}), CONFIGS[1]]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "autotuning body: BLOCK: 32, num_warps: 4, num_stages: 3",
        "  2 ms (1.75 to 2.5)",
        "autotuning body: BLOCK: 7, num_warps: 4, num_stages: 3",
    ]
    assert lines[3].startswith("  failed: ")
    assert lines[-1].startswith("autotuned body for (100, 'float32', 'float32', 'backend=interp') in ")
    assert lines[-1].endswith(" s: BLOCK: 64, num_warps: 2, num_stages: 3")
    launch(tuned(Clock(), CONFIGS[:1]))
    assert capsys.readouterr().out == ""


# --- arrays and hooks -------------------------------------------------------------------------------------------------


def test_arrays_are_set_to_zero_before_each_launch_that_is_timed() -> None:
    kernel = tuned(Clock(3, 1, 2, runs=3), reset_to_zero=["out"])
    x, out = arrays()
    out += 1000
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == x.tolist()
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == (2 * x).tolist(), "only measuring sets it to zero, as in Triton"


def test_arrays_are_restored_after_each_launch_that_is_timed() -> None:
    kernel = tuned(Clock(3, 1, 2, runs=3), restore_value=["out"])
    x, out = arrays()
    out += 1000
    kernel[grid](x, out, 100, backend="interp")
    assert out.tolist() == (1000 + x).tolist()


def test_without_either_every_launch_leaves_its_traces() -> None:
    x, out = arrays()
    tuned(Clock(3, 1, 2, runs=3))[grid](x, out, 100, backend="interp")
    assert out.tolist() == (10 * x).tolist()


def test_arrays_are_restored_when_a_launch_fails() -> None:
    def clock(fn: Callable[[], None], quantiles: Sequence[float]) -> None:
        fn()
        out[...] += 1
        raise KeyboardInterrupt

    x, out = arrays()
    with pytest.raises(LaunchError, match="out"):  # reads beyond the array
        tuned(Clock(1, 1, 1), restore_value=["out"])[grid](x[:50], out, 100, backend="interp")
    assert out.tolist() == [0.0] * 100
    with pytest.raises(KeyboardInterrupt):
        tuned(clock, restore_value=["out"])[grid](x, out, 100, backend="interp")
    assert out.tolist() == [1.0] * 100


class Tensor:
    """What torch has for it instead."""

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def zero_(self) -> None:
        self.values = [0.0] * len(self.values)

    def clone(self) -> Tensor:
        return Tensor(list(self.values))

    def copy_(self, other: Tensor) -> None:
        self.values = list(other.values)


def test_tensors_are_reset_by_their_own_methods() -> None:
    tensor = Tensor([1.0, 2.0])
    copy = copy_of(tensor)
    zero(tensor)
    assert tensor.values == [0.0, 0.0]
    restore(tensor, copy)
    assert tensor.values == [1.0, 2.0]


def test_hooks_get_the_arguments_by_name() -> None:
    calls: list[Any] = []

    def before(arguments: dict[str, Any], reset_only: bool = False) -> None:
        calls.append(("before", arguments["BLOCK"], arguments["num_warps"], arguments["n"], reset_only))

    def after(arguments: dict[str, Any], exception: Exception | None) -> None:
        calls.append(("after", arguments["BLOCK"], exception))

    def own(arguments: dict[str, Any]) -> None:
        calls.append(("config", arguments["BLOCK"], arguments["num_stages"]))

    configs = [Config({"BLOCK": 32}, pre_hook=own), Config({"BLOCK": 64})]
    kernel = tuned(Clock(1, 2), configs, pre_hook=before, post_hook=after)
    launch(kernel)
    assert calls == [
        ("config", 32, 3), ("before", 32, 4, 100, False), ("after", 32, None),
        ("before", 64, 4, 100, False), ("after", 64, None),
        ("before", 32, 4, 100, True), ("config", 32, 3),
    ]  # fmt: skip
    calls.clear()
    launch(kernel)
    assert calls == [("config", 32, 3)]


# --- pruning ----------------------------------------------------------------------------------------------------------


def test_configs_are_pruned_before_they_are_measured() -> None:
    seen: list[Any] = []

    def early(configs: list[Config], named: dict[str, Any], **keywords: Any) -> list[Config]:
        seen.append((len(configs), sorted(named), keywords))
        return [c for c in configs if c.kwargs["BLOCK"] <= 64]

    kernel = tuned(Clock(2, 1), prune_configs_by={"early_config_prune": early})
    assert launch(kernel).config is CONFIGS[1]
    assert seen == [(3, ["n", "out", "x"], {"backend": "interp"})]
    assert list(kernel.configs_timings) == CONFIGS[:2]


@pytest.mark.parametrize(
    ("top_k", "kept"), [(1, [128]), (2, [128, 64]), (0.7, [128, 64]), (0.1, [128]), (1.0, [32, 64, 128])]
)
def test_a_model_keeps_the_most_promising(top_k: float, kept: list[int]) -> None:
    model = {"perf_model": lambda BLOCK, num_warps, n, **rest: n / BLOCK, "top_k": top_k}
    found = Pruning(model)(CONFIGS, {"n": 1000}, {})
    assert [config.kwargs["BLOCK"] for config in found] == kept


def test_a_single_config_that_is_left_is_not_measured() -> None:
    kernel = tuned(Clock(), prune_configs_by={"early_config_prune": lambda configs, named, **_: configs[2:]})
    assert launch(kernel).config is CONFIGS[2]


def test_wrong_pruning() -> None:
    with pytest.raises(LaunchError, match="early_config_prune left no config; it must return at least one"):
        launch(tuned(Clock(), prune_configs_by={"early_config_prune": lambda configs, named, **_: []}))
    with pytest.raises(TypeError, match=r"top_k is a fraction of the configs up to 1.0, or a number of them, not 1.5"):
        tuned(Clock(), prune_configs_by={"top_k": 1.5})
    with pytest.raises(ValueError, match="prune_configs_by has no field 'model'; its fields are early_config_prune, "):
        tuned(Clock(), prune_configs_by={"model": None})


# --- heuristics -------------------------------------------------------------------------------------------------------


def test_heuristics_see_the_arguments_and_the_config() -> None:
    seen: list[dict[str, Any]] = []

    def scale(arguments: dict[str, Any]) -> int:
        seen.append(dict(arguments))
        return 2 if arguments["n"] % arguments["BLOCK"] == 0 else 3

    kernel = triton.autotune(CONFIGS[:2], ["n"], do_bench=Clock(2, 1))(
        triton.heuristics({"SCALE": scale})(triton.jit(body))
    )
    x, out = arrays(96)
    result = kernel[grid](x, out, 96, backend="interp")
    assert dict(result.compilation.specialization.constexprs) == {"BLOCK": 64, "SCALE": 3}
    assert {call["BLOCK"] for call in seen} == {32, 64}
    assert sorted(seen[0]) == ["BLOCK", "backend", "n", "num_stages", "num_warps", "out", "x"]


def test_heuristics_alone() -> None:
    kernel = triton.heuristics(
        {"BLOCK": lambda a: triton.next_power_of_2(a["n"]), "SCALE": lambda a: a["BLOCK"] // 32}
    )(triton.jit(body))
    x, out = arrays()
    result = kernel[(1,)](x, out, 100, backend="interp")
    assert dict(result.compilation.specialization.constexprs) == {"BLOCK": 128, "SCALE": 4}
    assert out.tolist() == (4 * x).tolist()


# --- what is refused --------------------------------------------------------------------------------------------------


def test_mistakes() -> None:
    with pytest.raises(LaunchError, match="`body` got `BLOCK`, which autotune chooses; leave it away"):
        launch(tuned(Clock()), BLOCK=64)
    with pytest.raises(LaunchError, match="`body` got `BLOCK`, which autotune chooses; leave it away"):
        tuned(Clock())[(4,)](*arrays(), 100, 64, backend="interp")
    with pytest.raises(LaunchError, match="`body` got `num_warps`, which autotune chooses; leave it away"):
        launch(tuned(Clock()), num_warps=8)
    with pytest.raises(LaunchError, match="autotune's key `x` is an array; take numbers, such as its extents"):
        launch(tuned(Clock(), key=["x"]))
    for what in ("key", "reset_to_zero", "restore_value"):
        with pytest.raises(ValueError, match=f"{what} names `m`, which `body` has not; it has x, out, n, BLOCK, SCALE"):
            tuned(Clock(), **{what: ["m"]})
    with pytest.raises(ValueError, match="values names `Q`, which `body` has not"):
        triton.heuristics({"Q": len})(triton.jit(body))
    with pytest.raises(TypeError, match="`BLOCK` is computed by a function of the arguments: write lambda args: 64"):
        triton.heuristics({"BLOCK": 64})(triton.jit(body))  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"configs is a list of triton.Config, got \{.BLOCK.: 64\}"):
        triton.autotune([{"BLOCK": 64}], [])(triton.jit(body))  # type: ignore[list-item]
    with pytest.raises(TypeError, match="a Config begins with a dict of the parameters' values"):
        Config(None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"@autotune stands above @jit and decorates a kernel, got function"):
        triton.autotune(CONFIGS, [])(body)  # type: ignore[arg-type]
    with pytest.raises(LaunchError, match="reset_to_zero names `n`, which is 100 and not an array"):
        launch(tuned(Clock(), reset_to_zero=["n"]))
    with pytest.raises(LaunchError, match="ir_override"):
        Config({}, ir_override="a.ttgir")


def test_configs() -> None:
    first = Config({"BLOCK": 32}, num_stages=5)
    assert (first.num_warps, first.num_stages, first.num_ctas, first.maxnreg) == (4, 5, 1, None)
    assert first == Config({"BLOCK": 32}, 4, 5) != Config({"BLOCK": 32})
    assert len({first, Config({"BLOCK": 32}, num_stages=5)}) == 1
    assert str(first) == "BLOCK: 32, num_warps: 4, num_stages: 5"
    assert first.all_kwargs() == {"BLOCK": 32, "num_warps": 4, "num_ctas": 1, "num_stages": 5}
    assert str(Config({}, num_ctas=2, maxnreg=64)) == "num_warps: 4, num_ctas: 2, num_stages: 3, maxnreg: 64"


def test_num_stages_is_an_argument_where_a_parameter_has_its_name() -> None:
    @triton.jit
    def staged(out, num_stages: tl.constexpr):
        tl.store(out, num_stages)

    out = np.zeros(1, np.int32)
    triton.autotune([Config({}, num_stages=7)], [])(staged)[(1,)](out, backend="interp")
    assert out[0] == 7
    staged[(1,)](out, num_stages=2, backend="interp")
    assert out[0] == 2
    jitted, (x, out) = triton.jit(body), arrays()
    jitted[grid](x, out, 100, BLOCK=32, num_stages=2, backend="interp")
    assert out.tolist() == x.tolist()


# --- compiling, examples ----------------------------------------------------------------------------------------------


def example_of(kernel: Any, **more: Any) -> triton.ExampleCase:
    @kernel.example(n=100)
    def case(n: int) -> triton.Example:
        x, out = arrays(n)
        scale = 3 if kernel.base is not kernel.fn else more.get("SCALE", 1)
        return triton.Example({"x": x, "out": out, "n": n, **more}, grid, {"out": scale * x})

    return kernel.examples[-1]


def test_examples_run_in_the_first_config_as_far_as_they_say_nothing_else() -> None:
    kernel = tuned(Clock(), [CONFIGS[1], CONFIGS[0]])
    for more, block in (({}, 64), ({"BLOCK": 16, "SCALE": 2}, 16)):
        report = triton.check_example(kernel, example_of(kernel, **more), Target("interp"))
        assert report.ok, report
        assert dict(report.compilation.specialization.constexprs)["BLOCK"] == block
        assert report.compilation.target.num_warps == 2
    assert triton.bench_example(kernel, kernel.examples[0], Target("interp"), seconds=0.001).work.read == 800


def test_examples_get_what_heuristics_compute() -> None:
    kernel = triton.autotune(CONFIGS, [])(triton.heuristics({"SCALE": lambda a: a["BLOCK"] - 29})(triton.jit(body)))
    assert triton.check_example(kernel, example_of(kernel), Target("interp")).ok


def test_a_signature_may_leave_out_what_the_first_config_gives() -> None:
    kernel = tuned(Clock())
    found = [
        kernel.compile("*fp32, *fp32, i32"),
        kernel.compile("*fp32, *fp32, i32, 64"),
        kernel.compile("*fp32, *fp32, i32", BLOCK=8),
    ]
    assert [dict(c.specialization.constexprs)["BLOCK"] for c in found] == [32, 64, 8]


def test_an_autotuned_kernel_is_inlined_like_another() -> None:
    helper = triton.autotune([Config({"SCALE": 3})], [])(triton.jit(body))

    @triton.jit
    def caller(x, out, n, BLOCK: tl.constexpr):
        helper(x, out, n, BLOCK, 5)

    x, out = arrays()
    caller[(1,)](x, out, 100, BLOCK=128, backend="interp")
    assert out.tolist() == (5 * x).tolist()


# --- on a GPU ---------------------------------------------------------------------------------------------------------


class GpuBytes(np.ndarray):
    """Bytes on a GPU as CuPy has them, on the host."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.__array_interface__

    def get(self) -> Any:
        return np.array(self)


def test_copies_on_a_gpu_are_reset_and_keep_their_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(__name__="cupy", asarray=lambda data: data.copy().view(GpuBytes))
    monkeypatch.setattr(running, "_gpu_library", lambda: library)
    whole = np.arange(60, dtype=np.int32).reshape(6, 10)
    for host in (whole, whole[::2, 1], whole[:, ::-3], whole.T, np.array(5.0), whole[:0]):
        array = running.DeviceArray(host)
        interface = array.__cuda_array_interface__
        assert interface["shape"] == host.shape
        assert not host.size or interface["strides"] == host.strides
        assert array.get().tolist() == host.tolist()
        copy = copy_of(array)
        zero(array)
        assert (np.count_nonzero(array.get()), copy.get().tolist()) == (0, host.tolist())
        restore(array, copy)
        assert array.get().tolist() == host.tolist()


@pytest.mark.execution
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
@pytest.mark.parametrize("what", ["reset_to_zero", "restore_value"])
def test_configs_are_measured_on_the_gpu(backend: str, what: str) -> None:
    runner(backend)  # skips where it cannot run
    x, out = arrays(100_000)
    device_x, device_out = running.DeviceArray(x), running.DeviceArray(out)
    kernel = triton.autotune([*CONFIGS, Config({"BLOCK": 100})], ["n"], **{what: ["out"]})(triton.jit(body))  # type: ignore[arg-type]
    result = kernel[grid](device_x, device_out, 100_000, backend=backend)
    assert result.ran
    assert result.note == ""
    assert device_out.get().tolist() == x.tolist()
    assert [median < inf for median, *_ in kernel.configs_timings.values()] == [True, True, True, False]
    assert result.config is min(CONFIGS, key=lambda config: kernel.configs_timings[config])
    found = triton.tune_example(kernel, example_of(kernel), Target(backend))
    assert found.best is not None


# --- on the disk ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(timings, "cache_folder", lambda: tmp_path / "autotune")
    return tmp_path / "autotune"


def test_timings_are_kept_for_later_processes(folder: Path) -> None:
    configs = [*CONFIGS[:2], Config({"BLOCK": 100})]
    launch(tuned(Clock(3, 1), configs, cache_results=True))
    (path,) = folder.iterdir()
    assert path.name.startswith("body-")
    kept = json.loads(path.read_text())
    assert (kept["kernel"], kept["key"]) == ("body", [100, "float32", "float32", "backend=interp"])
    assert kept["best"] == "BLOCK: 64, num_warps: 2, num_stages: 3"
    assert [row["milliseconds"] for row in kept["configs"]] == [[3.0, 2.75, 3.5], [1.0, 0.75, 1.5], None]
    assert kept["configs"][1]["config"] == {"BLOCK": 64, "num_warps": 2, "num_ctas": 1, "num_stages": 3}
    assert "power of 2" in kept["configs"][2]["error"]
    again = tuned(Clock(), configs, cache_results=True)
    assert launch(again).config is configs[1]
    assert again.configs_timings == {configs[0]: [3, 2.75, 3.5], configs[1]: [1, 0.75, 1.5], configs[2]: [inf] * 3}


def test_timings_are_for_one_kernel_one_list_of_configs_one_key_and_one_target(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2), cache_results=True))
    launch(tuned(Clock(3, 1, 2), cache_results=True), 200)
    launch(tuned(Clock(3, 1), CONFIGS[:2], cache_results=True))
    launch(tuned(Clock(3, 1, 2), cache_results=True), enable_fp_fusion=False)

    @triton.jit
    def body(x, out, n, BLOCK: tl.constexpr):
        pass

    launch(triton.autotune(CONFIGS, ["n"], do_bench=Clock(3, 1, 2), cache_results=True)(body))
    assert len(list(folder.iterdir())) == 5
    launch(tuned(Clock(), cache_results=True))


def test_a_damaged_file_is_measured_anew(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2), cache_results=True))
    (path,) = folder.iterdir()
    whole = path.read_text()
    for damaged in ("", whole[:-40], "[]", "{}", whole.replace("2.75", '"x"')):
        path.write_text(damaged)
        assert launch(tuned(Clock(1, 2, 3), cache_results=True)).config is CONFIGS[0]
    assert [p.name for p in folder.iterdir()] == [path.name]


def test_nothing_is_kept_unless_asked_nor_where_a_hook_takes_part(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2)))
    launch(tuned(Clock(3, 1), [Config({"BLOCK": 32}, pre_hook=lambda a: None), CONFIGS[1]], cache_results=True))
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_a_warning(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.warns(RuntimeWarning, match="autotuning's timings could not be kept in .*body-"):
        assert launch(tuned(Clock(3, 1, 2), cache_results=True)).config is CONFIGS[1]


PROGRAM = """\
import math
import numpy as np
import mytriton as triton
import mytriton.language as tl
import helpers

FACTOR = tl.constexpr(2)

@triton.autotune([triton.Config({"B": 16}), triton.Config({"B": 32})], key=["n"], cache_results=True)
@triton.jit
def k(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, helpers.twice(FACTOR * tl.exp(at.to(tl.float32)) + math.pi), mask=at < n)

k[(1,)](np.zeros(8, np.float32), 8, backend="interp")
print(k.tuning.seconds)
"""


def test_another_process_finds_them(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("import mytriton as triton\n@triton.jit\ndef twice(x):\n    return x + x\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(tmp_path / "program.py")]
    first, second = (subprocess.run(command, capture_output=True, text=True, env=env, check=True) for _ in range(2))
    assert first.stdout == second.stdout, "the same measurement"
    (path,) = (tmp_path / "cache" / "mytriton" / "autotune").iterdir()
    assert json.loads(path.read_text())["key"] == [8, "float32", "backend=interp"]

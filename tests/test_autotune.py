"""Autotuning: which config wins, and for which launches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mytriton as triton
from mytriton import Config, LaunchError, Target, running
from mytriton.backends.nvidia import driver
from mytriton.configs import Pruning
from mytriton.resetting import copy_of, restore, zero
from tests.autotuning import CONFIGS, Clock, arrays, body, example_of, grid, launch, tuned
from tests.running import runner

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

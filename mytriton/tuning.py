"""The decorators that choose and compute what a launch leaves open: `@autotune` and `@heuristics`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from mytriton.autotuner import Autotuner
from mytriton.configs import Config, Hook, Pruning
from mytriton.decorated import Heuristics
from mytriton.launch import JITFunction
from mytriton.resetting import Resetting
from mytriton.target import GPU_BACKENDS
from mytriton.testing import do_bench as host_or_gpu_bench

#: Half of the launches took longer; a fifth took less; a fifth took longer.
QUANTILES = (0.5, 0.2, 0.8)


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Hook | None = None,
    post_hook: Hook | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[JITFunction], Autotuner]:
    """Has the fastest of `configs` measured at the first launch for new values of the parameters that `key` names.

    Every config is launched many times on the launch's own arguments, so a kernel that reads what it writes needs
    `reset_to_zero` or `restore_value`: names of arrays that are set to zero before, or restored after, each launch that
    is timed, which is timed as well. `pre_hook(arguments, reset_only=False)` and `post_hook(arguments, exception=None)`
    take their place. `prune_configs_by` may hold `early_config_prune`, `perf_model` and `top_k` (see `Pruning`).

    A config that does not compile counts as infinitely slow. Launches are timed by `do_bench(fn, quantiles=...)`, else
    by CUDA events on a GPU and the wall clock elsewhere, for `rep` milliseconds (100) after `warmup` (25);
    `use_cuda_graph` changes nothing. Where nothing can be timed, as with host arrays on a GPU backend, the first config
    that compiles is used, and `note` of the launch's result says so. With `cache_results` the timings are also kept in
    the user's cache folder, for later processes. MYTRITON_PRINT_AUTOTUNING=1 prints what is measured and chosen.
    """

    def bench(call: Callable[[], None], backend: str) -> Any:
        if do_bench is not None:
            return do_bench(call, quantiles=QUANTILES)
        device: Literal["cuda", "cpu"] = "cuda" if backend in GPU_BACKENDS else "cpu"
        times = (25 if warmup is None else warmup, 100 if rep is None else rep)
        return host_or_gpu_bench(call, *times, quantiles=QUANTILES, device=device)

    def decorate(fn: JITFunction) -> Autotuner:
        _check_kernel("autotune", fn)
        reset, restore = list(reset_to_zero or ()), list(restore_value or ())
        for what, names in (("key", key), ("reset_to_zero", reset), ("restore_value", restore)):
            _check_names(what, names, fn)
        for config in configs:
            if not isinstance(config, Config):
                raise TypeError(f"configs is a list of triton.Config, got {config!r}; write triton.Config({{...}})")
        resetting = Resetting(reset, restore, pre_hook, post_hook)
        return Autotuner(fn, configs, key, Pruning(prune_configs_by), resetting, bench, cache_results)

    return decorate


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[JITFunction], Heuristics]:
    """Has parameters computed at each launch: `values` maps their names to functions of the arguments by name. Below an
    `autotune` the functions see what the config gives; one that is above another sees less."""

    def decorate(fn: JITFunction) -> Heuristics:
        _check_kernel("heuristics", fn)
        _check_names("values", list(values), fn)
        for name, function in values.items():
            if not callable(function):
                raise TypeError(f"`{name}` is computed by a function of the arguments: write lambda args: {function!r}")
        return Heuristics(fn, values)

    return decorate


def _check_kernel(decorator: str, fn: Any) -> None:
    if not isinstance(fn, JITFunction):
        raise TypeError(f"@{decorator} stands above @jit and decorates a kernel, got {type(fn).__name__}")


def _check_names(what: str, names: Sequence[str], fn: JITFunction) -> None:
    unknown = next((name for name in names if name not in fn.arg_names), None)
    if unknown is not None:
        raise ValueError(f"{what} names `{unknown}`, which `{fn.name}` has not; it has {', '.join(fn.arg_names)}")

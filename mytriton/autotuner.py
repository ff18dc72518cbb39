"""The kernel that `@autotune` makes: which config a launch takes is measured."""

from __future__ import annotations

import dataclasses
import functools
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mytriton.arrays import array_info
from mytriton.configs import Config, Pruning
from mytriton.decorated import Decorated
from mytriton.diagnostics import CompileError, LaunchError, OutOfResources
from mytriton.examples import Example
from mytriton.frontend.kernel import Kernel
from mytriton.launch import JITFunction
from mytriton.launched import LaunchResult
from mytriton.options import SETTINGS, with_environment
from mytriton.ready import Launch
from mytriton.resetting import Resetting
from mytriton.running import Progress
from mytriton.timings import Trial, Tuning, read_timings, write_timings

#: The milliseconds that a call takes on a backend: the median, what a fifth of the calls did not take, and what a fifth
#: exceeded; or only one number.
Bench = Callable[[Callable[[], None], str], Any]

#: NumPy takes longer to spell a dtype than a launch has to take.
_spelled = functools.lru_cache(maxsize=256)(str)


class Autotuner(Decorated):
    """A kernel whose configuration is chosen by measuring: the first launch for new values of `key` (or new dtypes,
    another backend or other options) times every config on the launch's own arguments, later ones use the fastest.

    `best_config` is that of the latest launch, `configs_timings` the milliseconds of each config when it was last
    measured (median, 20th and 80th percentile), and `tuning` says more. `cache` holds the choices.
    """

    def __init__(
        self,
        fn: JITFunction,
        configs: Sequence[Config],
        key: Sequence[str],
        pruning: Pruning,
        resetting: Resetting,
        bench: Bench,
        cache_results: bool,
    ) -> None:
        super().__init__(fn)
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        #: What a launch must not say, since a config says it.
        self.chosen = list(
            dict.fromkeys([*(name for c in self.configs for name in c.kwargs), "num_warps", "num_stages"])
        )
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.best_config: Config | None = None
        self.tuning: Tuning | None = None
        self.cache_results = cache_results
        self._pruning, self._resetting, self._bench = pruning, resetting, bench
        self._tuning_lock = threading.RLock()

    @property
    def tuner(self) -> Autotuner:
        """This one."""
        return self

    @property
    def configs_timings(self) -> dict[Config, list[float]]:
        """The milliseconds of each config when it was last measured, infinite for one that does not compile."""
        return {trial.config: list(trial.milliseconds) for trial in self.tuning.trials} if self.tuning else {}

    @property
    def to_compile(self) -> Kernel:
        """The kernel with the first config's values as defaults."""
        kernel, first = self.fn.to_compile, self.configs[0].arguments(self.arg_names)
        params = [dataclasses.replace(p, default=first.get(p.name, p.default)) for p in kernel.params]
        return dataclasses.replace(kernel, params=tuple(params))

    def completed(self, example: Example) -> Example:
        """The example in the first config, as far as it says nothing else."""
        first = self.configs[0]
        args = {**first.arguments(self.arg_names), **example.args}
        options = {"num_warps": first.num_warps, "num_stages": first.num_stages, **example.options}
        return self.fn.completed(dataclasses.replace(example, args=args, options=options))

    def clear_cache(self) -> None:
        """Forget every compilation of this kernel, its source, and which configs were chosen."""
        super().clear_cache()
        self.cache.clear()

    # --- launching ---

    def prepare(self, grid: Any, /, *args: Any, **keywords: Any) -> Launch:
        """Like a launch, up to the point where something is compiled or run: in the config that was chosen for such
        launches, else in the first."""
        key = self._key(self._checked(args, keywords))
        return self.fn.prepare(grid, *args, **self._with(self.cache.get(key, self.configs[0]), keywords))

    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> Any:
        """Compile every config that is left after pruning: the results, in their order. Nothing is measured. Those that
        do not compile no launch would take, so they are left out; if none does, that is raised."""
        args, keywords = self._standing(args, keywords)
        self._checked(args, keywords)
        made: list[LaunchResult] = []
        errors: list[CompileError] = []
        for config in self._kept(args, keywords):
            try:
                result: LaunchResult = self.fn.warmup(*args, grid=grid, **self._with(config, keywords))
            except CompileError as error:
                errors.append(error)
                continue
            result.config = config
            made.append(result)
        if errors and not made:
            raise errors[0]
        return made

    def _launch(self, grid: Any, /, *args: Any, **keywords: Any) -> LaunchResult:
        named = self._checked(args, keywords)
        config, note = self._choose(named, grid, args, keywords)
        self.best_config = config
        keywords = self._with(config, keywords)
        if config.pre_hook is not None and self.fn.prepare(grid, *args, **keywords).runs:
            config.pre_hook({**named, **config.all_kwargs()})
        launched = self.fn._launch(grid, *args, **keywords)
        result = LaunchResult(launched.compilation, launched.ran)  # the other may be that of many launches
        result.config, result.note = config, note
        return result

    def bind(self, grid: Any, /, *args: Any, **keywords: Any) -> Callable[[], LaunchResult]:
        """What launches these arguments again and again in the config that is chosen now, after its `pre_hook`."""
        named = self._checked(args, keywords)
        config, _ = self._choose(named, grid, args, keywords)
        keywords, hook = self._with(config, keywords), config.pre_hook
        launch = self.fn.prepare(grid, *args, **keywords)
        bound = launch.bound()
        if hook is None or not launch.runs:
            return bound
        hooked = {**named, **config.all_kwargs()}

        def call() -> LaunchResult:
            hook(hooked)
            return bound()

        return call

    def _checked(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name; raises `LaunchError` if they hold what is to be chosen."""
        named = self._named(args, keywords)
        clash = next((name for name in self.chosen if name in named), None)
        if clash is not None:
            raise LaunchError(f"`{self.name}` got `{clash}`, which autotune chooses; leave it away")
        return named

    def _with(self, config: Config, keywords: Mapping[str, Any]) -> dict[str, Any]:
        return {
            **config.arguments(self.arg_names),
            **keywords,
            "num_warps": config.num_warps,
            "num_stages": config.num_stages,
        }

    def _key(self, named: Mapping[str, Any]) -> tuple[Any, ...]:
        """What a choice is for: the values of the key, the dtypes of the arrays, the backend and other options."""
        given = [name for name in self.keys if name in named]
        for name in given:
            if array_info(named[name]) is not None:
                raise LaunchError(f"autotune's key `{name}` is an array; take numbers, such as its extents")
        values = [tuple(v) if isinstance(v := named[name], list) else v for name in given]
        dtypes = [_spelled(v.dtype) for name, v in named.items() if name in self.arg_names and hasattr(v, "dtype")]
        options = with_environment({name: named[name] for name in SETTINGS if name in named})
        return (*values, *dtypes, *(f"{name}={options[name]}" for name in SETTINGS if name in options))

    # --- choosing ---

    def _choose(
        self, named: dict[str, Any], grid: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]
    ) -> tuple[Config, str]:
        """The config of a launch, and why it was not measured if it should have been."""
        if len(self.configs) == 1:
            return self.configs[0], ""
        key = self._key(named)
        with self._tuning_lock:  # one thread measures, the others wait for it and not beside it
            if key not in self.cache:
                kept = self._kept(args, keywords)
                if len(kept) == 1:
                    self.cache[key] = kept[0]
                else:
                    launches = [self.fn.prepare(grid, *args, **self._with(config, keywords)) for config in kept]
                    if why := _untimed(launches):
                        first = _first_that_compiles(kept, launches)
                        return first, f"not tuned, since {why}: {first} is the first config that compiles"
                    if not self._read(key, kept, launches[0]):
                        self._measure(key, kept, launches, named, None)
            return self.cache.get(key, self.configs[0]), ""

    def tune(self, grid: Any, /, *args: Any, progress: Progress | None = None, **keywords: Any) -> Tuning:
        """Measure all configs that are left after pruning, whatever is known already, and use the fastest from now on.
        `progress` is told how many configs are done; it may raise. Raises `LaunchError` if nothing can be measured."""
        named = self._checked(args, keywords)
        with self._tuning_lock:
            kept = self._kept(args, keywords)
            launches = [self.fn.prepare(grid, *args, **self._with(config, keywords)) for config in kept]
            if why := _untimed(launches):
                raise LaunchError(f"`{self.name}` cannot be tuned, since {why}")
            return self._measure(self._key(named), kept, launches, named, progress)

    def _kept(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[Config]:
        return self._pruning(self.configs, self._named(args, {}), keywords)

    def _measure(
        self,
        key: tuple[Any, ...],
        configs: Sequence[Config],
        launches: Sequence[Launch],
        named: Mapping[str, Any],
        progress: Progress | None,
    ) -> Tuning:
        begin, trials = time.perf_counter(), []
        for number, (config, launch) in enumerate(zip(configs, launches, strict=True)):

            def told(number: int = number) -> None:
                if progress is not None:
                    progress("configs", number, len(configs))

            _say(f"autotuning {self.name}: {config}")
            trials.append(self._time(config, launch, {**named, **config.all_kwargs()}, told))
            _say(f"  {trials[-1].outcome}")
        tuning = Tuning(self.name, key, tuple(trials), time.perf_counter() - begin)
        self.tuning, best = tuning, tuning.best
        if best is None:  # the launch will say what is wrong with the first
            return tuning
        self._resetting.before({**named, **best.config.all_kwargs()}, reset_only=True)
        self.cache[key] = best.config
        if self.cache_results:
            write_timings(self.base, tuning, launches[0].compilation.target)
        _say(f"autotuned {self.name} for {key} in {tuning.seconds:.2f} s: {best.config}")
        return tuning

    def _time(self, config: Config, launch: Launch, arguments: dict[str, Any], told: Callable[[], None]) -> Trial:
        def call() -> None:
            told()
            if config.pre_hook is not None:
                config.pre_hook(arguments)
            self._resetting.before(arguments)
            try:
                if (launcher := launch.launcher) is not None:
                    launcher(launch.grid, launch.args)
            except Exception as error:
                self._resetting.after(arguments, exception=error)
                raise
            self._resetting.after(arguments, exception=None)

        told()
        try:
            launch.load()
            found = self._bench(call, launch.compilation.target.backend)
        except (CompileError, OutOfResources) as error:
            return Trial(config, error=str(error))
        return Trial(config, tuple(map(float, found)) if isinstance(found, Sequence) else (float(found),) * 3)

    def _read(self, key: tuple[Any, ...], configs: Sequence[Config], launch: Launch) -> bool:
        """Take an earlier process's measurement from the disk, if there is one."""
        found = None
        if self.cache_results:
            found = read_timings(self.base, key, configs, launch.compilation.target)
        if found is None or found.best is None:
            return False
        self.tuning, self.cache[key] = found, found.best.config
        _say(f"autotuned {self.name} for {key} earlier: {found.best.config}")
        return True


def _untimed(launches: Sequence[Launch]) -> str:
    """Why launches cannot be timed; '' if they can."""
    if not all(launch.runs for launch in launches):
        return "host arrays only say what to compile"
    return "the grid is empty" if any(0 in launch.grid for launch in launches) else ""


def _first_that_compiles(configs: Sequence[Config], launches: Sequence[Launch]) -> Config:
    for config, launch in zip(configs, launches, strict=True):
        try:
            launch.load()
        except CompileError:
            continue
        return config
    return configs[0]  # whose error the launch raises


def _say(text: str) -> None:
    if "1" in (os.environ.get("MYTRITON_PRINT_AUTOTUNING"), os.environ.get("TRITON_PRINT_AUTOTUNING")):
        print(text, flush=True)

"""Launching: `@mytriton.jit` turns a function into a kernel, and `kernel[grid](...)` compiles and runs it."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Collection, Mapping
from types import MethodType
from typing import Any, overload

from mytriton import backends
from mytriton.compile import code_stage, compile_kernel
from mytriton.descriptors import array_in, opened
from mytriton.diagnostics import LaunchError
from mytriton.examples import Example, ExampleCase
from mytriton.frontend.decorators import UNSPECIALIZED
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.read import LiveKernel
from mytriton.keys import launch_key
from mytriton.launched import LaunchResult
from mytriton.options import (
    OPTIONS,
    SETTINGS,
    backend_of,
    grid_of,
    place_of,
    split_options,
    target_of,
    will_run,
    with_environment,
)
from mytriton.quick import Quick
from mytriton.ready import Entry, Launch, Repeat
from mytriton.repeat import CallShape
from mytriton.specialize import Specialization, bind, parse_signature, specialize, unpacked
from mytriton.stage import Compilation
from mytriton.target import GPU_BACKENDS, Target


class JITFunction:
    """A kernel. `kernel[grid](*args, **constexprs_and_options)` compiles it for the arguments and runs it.

    The function's body is read, never called. Compilations are cached by argument types, constexpr values, the values
    of the globals the kernel uses, and target; any number of threads may launch.
    """

    __mytriton_kernel__ = True

    def __init__(self, function: Callable[..., Any], unspecialized: Collection[Any] = ()) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.examples: list[ExampleCase] = []
        self.live = LiveKernel(function, unspecialized)
        self._shapes: dict[Any, CallShape] = {}
        self._latest: Callable[..., LaunchResult]
        self._quick = Quick(self.live, self._slowly, self)
        self._cache: dict[Any, Entry] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @functools.cached_property
    def arg_names(self) -> list[str]:
        """The parameters' names, in order."""
        return list(inspect.signature(self.function).parameters)

    @property
    def base(self) -> JITFunction:
        """The kernel itself, without the decorators around it that complete a launch's arguments."""
        return self

    def completed(self, example: Example) -> Example:
        """The example with all arguments and options that decorators around the kernel give it."""
        return example

    @property
    def to_compile(self) -> Kernel:
        """The kernel with the parameters' values that a signature may leave out."""
        return self.kernel

    @property
    def kernel(self) -> Kernel:
        """The kernel as the frontend takes it, with the values its globals have now. Raises `CompileError`."""
        return self.live.kernel

    def __getitem__(self, grid: Any) -> Callable[..., LaunchResult]:
        """A launcher for `grid`: an int, up to three ints, or a function of the arguments by name giving these."""
        return self._bound(grid)

    def _bound(self, grid: Any) -> Callable[..., LaunchResult]:
        if grid is None:  # which no method can be bound to
            raise LaunchError("a grid is an int, a tuple of up to three, or a function that gives these; got None")
        return MethodType(self._latest, grid)  # is made, and calls, faster than a `functools.partial`

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        raise LaunchError(
            f"a kernel is launched over a grid: write {self.name}[grid](...), with grid the number of programs"
        )

    def compile(
        self, signature: str = "", *, target: Target | None = None, **constexprs_and_options: Any
    ) -> Compilation:
        """A compilation for a signature in Triton's notation (see `parse_signature`) without any argument. It runs as
        far as it is read. Options are those of a launch; `target` gives all of them at once."""
        kernel = self.to_compile
        options, constexprs = split_options(constexprs_and_options, [p.name for p in kernel.params])
        _check_parameters(kernel)
        target = target or target_of(options, None)
        return self._entry(kernel, parse_signature(kernel, signature, constexprs), target).compilation

    def clear_cache(self) -> None:
        """Forget every compilation of this kernel, and its source."""
        with self._lock:
            self._cache.clear()
            self.live.forget()
            self._shapes = {}
            self._quick.clear()

    def example(self, **values: Any) -> Callable[[Callable[..., Example]], Callable[..., Example]]:
        """Declares an example launch: decorates a function of `values` that returns an `Example`. Stacked decorators
        give one example each; nothing is built before somebody asks for it."""

        def declare(build: Callable[..., Example]) -> Callable[..., Example]:
            case = ExampleCase(build, values)
            # Stacked decorators run from the bottom; the list keeps the order in which they are written.
            same = [i for i, other in enumerate(self.examples) if other.function is build]
            self.examples.insert(same[0] if same else len(self.examples), case)
            return build

        return declare

    # --- launching ---

    def _launch(self, grid: Any, /, *args: Any, **keywords: Any) -> LaunchResult:
        return self._latest(grid, *args, **keywords)

    def _slowly(self, grid: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> LaunchResult:
        """A launch that no short way is known for."""
        shapes, kernel = self._shapes, self.kernel
        given = with_environment(keywords)
        written = (len(args), *given)
        shape = shapes.get(written) or CallShape(kernel, len(args), given)
        values = shape.values(args, given)
        key = shape.key(kernel, values)
        repeat: Repeat | None = shape.repeats.get(key)
        if repeat is not None:
            result = repeat.run(grid, values)
        else:
            launch = self._prepare(kernel, grid, args, given)
            result = launch.run()
            if key is None or result.ran != launch.runs:  # an empty grid loads nothing
                return result
            repeat = shape.repeats[key] = Repeat(shape, kernel, values, launch)
            shapes[written] = shape
        if result.ran and repeat.is_quick:
            self._quick.learn(kernel, shape, args, keywords, repeat.launcher, repeat.runtime(values), result)
        return result

    def prepare(self, grid: Any, /, *args: Any, **keywords: Any) -> Launch:
        """Like `kernel[grid](*args, **keywords)`, up to the point where something is compiled or run."""
        return self._prepare(self.kernel, grid, args, keywords)

    def bind(self, grid: Any, /, *args: Any, **keywords: Any) -> Callable[[], LaunchResult]:
        """What launches these arguments again and again, with next to nothing on the host: they are checked and packed
        now. Arrays have at each call the elements they have then, but where they are they must stay: an array that is
        resized, made read-only or moved to other memory has to be bound again."""
        return self.prepare(grid, *args, **keywords).bound()

    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> Any:
        """Compile for the arguments of a launch to the code that would run, and run nothing. A dtype may stand for an
        array of it, whose address counts as divisible by 16. `grid` says nothing, and is taken as Triton takes it.
        What it gives is the result of a launch; of an autotuned kernel, one for each config that compiles."""
        launch = self._prepare(self.kernel, 1, *self._standing(args, keywords))
        launch.compilation.run(code_stage(launch.compilation.planned))
        launch.compilation.raise_if_failed()
        return LaunchResult(launch.compilation, ran=False)

    def _standing(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments with stand-ins for arrays in place of dtypes."""
        from mytriton.arrays import stand_in  # see `numbers`

        kept = {p.name for p in self.base.kernel.params if p.is_constexpr}.union(SETTINGS)
        named = zip(self.arg_names + [""] * len(args), args, strict=False)  # too many arguments are refused later
        positional = tuple(value if name in kept else stand_in(value) for name, value in named)
        return positional, {name: v if name in kept else stand_in(v) for name, v in keywords.items()}

    def _prepare(self, kernel: Kernel, grid: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Launch:
        from mytriton.arrays import array_info  # see `numbers`

        _check_parameters(kernel)
        options, keywords = split_options(keywords, [p.name for p in kernel.params])
        backend = backend_of(options)
        given = bind(kernel, args, keywords)
        kernel, bound = unpacked(kernel, given)
        constants = {p.name for p in kernel.params if p.is_constexpr}
        arrays = {n: a for n, v in bound.items() if n not in constants and (a := array_info(array_in(v))) is not None}
        place = place_of(arrays)
        if place is None and arrays:  # dtypes stand for arrays where the backend runs
            place = "device" if backend in GPU_BACKENDS else "host"
        runs = will_run(backend, place, arrays)
        target = target_of(options, place if runs else None)
        specialization = specialize(kernel, bound, runs, arrays)
        extents = grid_of(grid, given, target)
        if runs and backend in GPU_BACKENDS:
            from mytriton.backends.nvidia.nvjitlink import look_early

            look_early()
        entry = self._entry(kernel, specialization, target)
        passed = opened(bound)
        return Launch(entry, extents, [passed[name] for name, _, _ in specialization.params], runs)

    def _entry(self, kernel: Kernel, specialization: Specialization, target: Target) -> Entry:
        key = (launch_key(kernel), specialization.key, target)
        entry = self._cache.get(key)
        if entry is None:
            with self._lock:
                made = Entry(kernel, compile_kernel(kernel, specialization, target))
                entry = self._cache.setdefault(key, made)
        return entry


def _check_parameters(kernel: Kernel) -> None:
    """A kernel that is launched cannot have parameters named like options; one that is only called may."""
    clash = next((p.name for p in kernel.params if p.name in OPTIONS), None)
    if clash:
        raise LaunchError(f"`{kernel.name}` has a parameter `{clash}`, which is a launch option; rename it")


#: What Triton's `jit` takes besides the function.
_ADVICE = (
    "version", "repr", "launch_metadata", "do_not_specialize", "do_not_specialize_on_alignment", "debug", "noinline",
)  # fmt: skip


@overload
def jit(function: Callable[..., Any], **advice: Any) -> JITFunction: ...
@overload
def jit(**advice: Any) -> Callable[[Callable[..., Any]], JITFunction]: ...
def jit(
    function: Callable[..., Any] | None = None, **advice: Any
) -> JITFunction | Callable[[Callable[..., Any]], JITFunction]:
    """Makes a kernel of a function; `@mytriton.jit` and `@mytriton.jit()` are the same.

    `do_not_specialize` and `do_not_specialize_on_alignment` are lists of parameters, by name or number: one compilation
    serves all their values of a type, whether or not those are divisible by 16. The other keywords of Triton's `jit`
    (`noinline` and so on) are accepted and change nothing: helpers are always inlined."""
    unknown = next((name for name in advice if name not in _ADVICE), None)
    if unknown is not None:
        raise TypeError(f"@mytriton.jit has no option `{unknown}`; it accepts {', '.join(_ADVICE)}")
    unspecialized: list[Any] = []
    for name in UNSPECIALIZED:
        which = advice.get(name) or ()
        if isinstance(which, str):
            raise TypeError(f"{name} is a list of parameters: write {name}=[{which!r}]")
        unspecialized += which
    if function is None:
        return functools.partial(JITFunction, unspecialized=unspecialized)
    if not callable(function):
        raise TypeError(f"@mytriton.jit decorates a function, got {type(function).__name__}")
    return function if isinstance(function, JITFunction) else JITFunction(function, unspecialized)


def cuda_available() -> bool:
    """Whether kernels can run on a GPU here, through the `cuda` backend."""
    return backends.get("cuda").available() is None

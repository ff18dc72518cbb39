"""An example as the form has it: with other values, constexprs, types and options than the file says, or in one of the
configs that its kernel's `autotune` chooses from."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from explorer.engine import arguments
from explorer.engine.messages import RunRequest
from explorer.engine.plain import TYPE_NAMES, from_plain, plain, to_plain
from explorer.model.result import ExampleInfo
from mytriton.arrays import DTYPES, copied
from mytriton.decorated import Decorated
from mytriton.descriptors import array_in, is_descriptor, with_array
from mytriton.diagnostics import LaunchError
from mytriton.examples import Example, ExampleCase
from mytriton.frontend.kernel import MISSING
from mytriton.launch import JITFunction
from mytriton.specialize import Specialization, argument_type, bind, specialize
from mytriton.types import PointerType, ScalarType


def with_values(case: ExampleCase, values: Mapping[str, Any]) -> ExampleCase:
    """The example called with other values, of those it has."""
    known = {name: from_plain(value) for name, value in values.items() if name in case.values}
    return replace(case, values={**case.values, **known})


def in_config(kernel: JITFunction, case: ExampleCase, number: int | None) -> ExampleCase:
    """The example with what a config gives its arguments, whatever it says of them itself."""
    if number is None:
        return case
    tuner = kernel.tuner if isinstance(kernel, Decorated) else None
    if tuner is None or number >= len(tuner.configs):
        count = f"{len(tuner.configs)} configs" if tuner is not None else "no configs; put @autotune above @jit"
        raise LaunchError(f"there is no config {number}: `{kernel.name}` has {count}")
    config = tuner.configs[number]

    @functools.wraps(case.function)
    def build(**values: Any) -> Example:
        example = replace(case, values=values).build()
        args = {**example.args, **config.arguments(kernel.arg_names)}
        return replace(example, args=args, options={**example.options, "num_warps": config.num_warps})

    return replace(case, function=build)


def info(kernel: JITFunction, case: ExampleCase, example: Example) -> ExampleInfo:
    """Types, constexprs, grid and options of an example, from its inputs; raises `LaunchError`."""
    example = kernel.completed(example)
    bound = bind(kernel.kernel, (), example.args)
    found = specialize(kernel.kernel, bound, runs=False)
    types = {name: arguments.type_text(type_, known) for name, type_, known in found.params}
    for each in found.descriptors:
        types.update({each.name: str(each)})
        types = {name: text for name, text in types.items() if name not in each.numbers}
    constexprs = {name: to_plain(value) for name, value in found.constexprs}
    if MISSING in constexprs.values():
        return ExampleInfo("", error="one of its constexprs is too large to be shown")
    grid = example.grid(bound) if callable(example.grid) else example.grid
    extents = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    options = dict(example.options)
    num_warps = options.pop("num_warps", None)
    return ExampleInfo(case.label, types, constexprs, extents, num_warps, "", plain(case.values), plain(options))


@dataclass
class Redefined:
    """An example's case for a request. `converted` are the arguments that got another type when it was built: what the
    example expects is not what they give, so the interpreter is the reference then."""

    kernel: JITFunction
    request: RunRequest
    original: ExampleCase
    converted: list[str] = field(default_factory=list)

    @property
    def case(self) -> ExampleCase:
        """The example to run."""

        @functools.wraps(self.original.function)
        def build(**values: Any) -> Example:
            return self._build(values)

        return replace(with_values(self.original, self.request.values), function=build)

    @property
    def note(self) -> str:
        """What has to be said about it."""
        if not self.converted:
            return ""
        return f"converted inputs: {', '.join(self.converted)}; compared with the interpreter"

    def _build(self, values: Mapping[str, Any]) -> Example:
        request = self.request
        case = replace(self.original, values=values)
        example = case.build()
        options = {**example.options, **request.options}
        if request.num_warps is not None:
            options["num_warps"] = request.num_warps
        if not (request.defines or request.types or request.signature.strip()):
            return replace(example, options=options)
        given = info(self.kernel, case, example)
        chosen = arguments.choose(self.kernel.kernel, request.defines, request.signature, given, request.types)
        args = {**example.args, **self._constexprs(chosen), **self._converted(chosen, example.args)}
        return replace(example, args=args, options=options, expected=None if self.converted else example.expected)

    def _constexprs(self, chosen: Specialization) -> dict[str, Any]:
        named = {*self.request.defines, *self.request.types}
        return {name: value for name, value in chosen.constexprs if self.request.signature.strip() or name in named}

    def _converted(self, chosen: Specialization, args: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self.converted = []
        numbers = {number for each in chosen.descriptors for number in each.numbers}
        for each in chosen.descriptors:
            given = args[each.name]
            if is_descriptor(given) and tuple(given.block_shape) != each.block:
                args = {**args, each.name: (changed := replace(given, block_shape=each.block))}
                made[each.name] = changed
                self.converted.append(f"{each.name} in blocks of {each.block}")
        for name, type_, _ in chosen.params:
            if name in numbers:
                continue
            value = args[name]
            element = type_.element if isinstance(type_, PointerType) else type_
            if not isinstance(element, ScalarType) or argument_type(name, array_in(value))[0] == type_:
                continue
            dtype = DTYPES[element]
            if isinstance(array_in(value), np.ndarray):
                made[name] = with_array(value, functools.partial(copied, dtype=dtype))
            else:
                made[name] = np.asarray(value).astype(dtype)[()]
            self.converted.append(f"{name} as {TYPE_NAMES[element]}")
        return made

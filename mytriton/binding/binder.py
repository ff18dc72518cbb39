"""Launching again what was launched before, with as little on the host as Python allows: by code that is made for one
form of call, that is for so many arguments of these types with these keywords.

It looks up what was launched by what is compiled for, packs the parameters and launches. Whatever it has not
seen goes the long way, as does whatever may be wrong: there all checks and messages are. What it tells apart is finer
than what `repeat` does (tests/backends/test_binder.py).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from mytriton.binding.forms import Form
from mytriton.binding.rules import ARGUMENTS, CONSTANTS, Repeatable, Way
from mytriton.frontend.kernel import MISSING
from mytriton.frontend.read import Watched
from mytriton.launched import LaunchResult
from mytriton.options import VARIABLES
from mytriton.repeat import CallShape
from mytriton.target import MAX_GRID_YZ

#: Launches, given grid, positional arguments as a tuple, and keywords as a dictionary.
Long = Callable[[Any, tuple[Any, ...], dict[str, Any]], LaunchResult]

# What `os.environ` keeps inside: its own look-up encodes and decodes, and takes as long as half of the rest here.
_environment: Any = getattr(os.environ, "_data", os.environ)
_VARIABLES: Any = {
    option: name if _environment is os.environ else os.environ.encodekey(name) for option, name in VARIABLES.items()
}


# The signature takes calls of any form, so that Python itself binds those of this one; names of ours begin with `_`.
_TEXT = """\
def fresh():
    return {fresh}

def key({parameters}):
    {bind}
    return ({key}) if {holds} else None

def launch(_grid, {parameters}):
    if _rest or _more or not ({types}):
        return _other(_grid, *_given({args}, _rest, {keywords}, _more))
    if not ({fresh}):
        return _long(_grid, {args}, {keywords})
    {bind}
    if not ({holds}):
        return _long(_grid, {args}, {keywords})
    _found = _known.get(({key}))
    if _found is None:
        return _long(_grid, {args}, {keywords})
    _y = _z = 1
    if _grid.__class__ is int:
        _x = _grid
    elif _grid.__class__ is tuple and len(_grid) == 1:
        _x, = _grid
    else:
        if callable(_grid):
            _made = _grid({{{bound}}})
            if callable(_made):  # which is no grid, and is not called
                return _long(_grid, {args}, {keywords})
            _grid = _made
        _x, _y, _z = _extents(_grid)
    _most, _result, _own = _found
    if _x.__class__ is not int or not 0 < _x <= _most:
        return _long(_grid, {args}, {keywords})
    {call}
    return _result
"""


class Binder:
    """Launches for calls of one form (`launch`), given by one such call, by launchers of that `way`.
    `watched` is what the kernel takes from outside, `long` the long way, `other` takes calls of other types. Raises
    `LookupError` if there is no rule for an argument's type, or no array."""

    def __init__(
        self,
        shape: CallShape,
        args: Sequence[Any],
        keywords: dict[str, Any],
        watched: Sequence[Watched],
        way: Way,
        long: Long,
        other: Long,
    ) -> None:
        if any(name.startswith("_") for name in keywords):
            raise LookupError("names that begin with `_` are ours")
        names_outside = [name for option, name in _VARIABLES.items() if option not in keywords]
        watched = [*((_environment, name, _environment.get(name, MISSING)) for name in names_outside), *watched]
        self._way, self._other = way, other
        self._known: dict[Any, Any] = {}
        self._space: dict[str, Any] = {
            "_known": self._known, "_long": long, "_extents": _extents, "_missing": MISSING, "_other": other,
            "_given": _given, "_absent": _ABSENT, "_unpackable": (struct.error, OverflowError),
        }  # fmt: skip
        fresh = [self._unchanged(number, *watch) for number, watch in enumerate(watched)]
        positional = [f"_{i}" for i in range(len(args))]
        values = dict(zip(shape.names, (*args, *keywords.values()), strict=False))
        names = dict(zip(values, (*positional, *keywords), strict=True))
        types = [f"{variable}.__class__ is _t{i}" for i, variable in enumerate(names.values())]
        self._space |= {f"_t{i}": type(value) for i, value in enumerate(values.values())}
        for name, default in shape.defaults.items():
            if name not in names and name != "backend":
                names[name] = f"_default{len(names)}"
                self._space[names[name]] = values[name] = default
        bind, holds, key, packed = list[str](), list[str](), list[str](), dict[str, str]()
        addresses, arrays = list[str](), list[type]()
        for number, (name, variable) in enumerate(names.items()):
            type_ = type(values[name])
            rule = (CONSTANTS if name in shape.constants else ARGUMENTS).get(type_) or way.rule(type_)

            def text(code: str, variable: str = variable, number: int = number) -> str:
                return code.format(a=variable, n=number)

            bind += map(text, rule.setup)
            holds += map(text, rule.holds)
            key += map(text, rule.key)
            packed[name] = text(rule.packed)
            if rule.address:
                addresses.append(text(rule.address))
                arrays.append(type_)
        if not arrays:
            raise LookupError("no array says where to launch")
        call, names_of_call = way.call(arrays[0])
        self._space |= names_of_call
        given = [*(f"{variable}=_absent" for variable in positional), *["/"] * bool(positional), "*_rest"]
        as_given = {
            "args": "({})".format("".join(f"{variable}, " for variable in positional)),
            "keywords": "{{{}}}".format(", ".join(f"{name!r}: {name}" for name in keywords)),
        }
        values_packed = ", ".join(packed[name] for name in shape.params if packed[name])
        source = _TEXT.format(
            **as_given,
            parameters=", ".join((*given, *(f"{name}=_absent" for name in keywords), "**_more")),
            fresh=" and ".join(fresh) or "True",
            types=" and ".join(types),
            bind="\n    ".join(bind),
            holds=" and ".join(holds),
            key="".join(f"{part}, " for part in (*key, _aligned(addresses))),
            bound=", ".join(f"{name!r}: {names[name]}" for name in shape.params),
            call=call.format(**as_given, packed=values_packed),
        )
        exec(compile(source, "<mytriton binder>", "exec"), self._space)
        self.launch: Callable[..., LaunchResult] = self._space["launch"]
        of_types = [type(value) for value in (*args, *keywords.values())]
        try:
            self._form: Form | None = Form(shape, of_types, len(args), tuple(keywords), watched, way)
        except LookupError:
            self._form = None

    def _unchanged(self, number: int, owner: Any, name: str, value: Any) -> str:
        """The code that looks whether something outside is what it was."""
        self._space[f"_v{number}"] = value
        if isinstance(owner, dict):
            self._space[f"_o{number}"] = owner.get
            return f"_o{number}({name!r}, _missing) is _v{number}"
        self._space[f"_o{number}"] = owner
        return f"_o{number}.{name} is _v{number}"

    def quicken(self, module: ModuleType) -> None:
        """Launch by the code in C from now on."""
        if self._form is not None and self.launch is self._space["launch"]:
            self.launch = self._form.made(module, self.launch, self._pass_on)

    def _pass_on(self, grid: Any, /, *args: Any, **keywords: Any) -> LaunchResult:
        return self._other(grid, args, keywords)

    def forget(self) -> None:
        """Have all such calls go the long way."""
        self._known.clear()
        if self._form is not None:
            self._form.forget()

    @property
    def fresh(self) -> bool:
        """Whether what the kernel takes from outside is what it was when this was made."""
        return bool(self._space["fresh"]())

    def learn(
        self, args: tuple[Any, ...], keywords: dict[str, Any], launcher: Repeatable, runtime: Sequence[Any],
        result: LaunchResult,
    ) -> None:  # fmt: skip
        """Let such calls take the short way from now on: this one, whose parameters are `runtime`, went well
        and gave what they all will give."""
        key = self._space["key"](*args, **keywords)
        if key is None or launcher.way != self._way:
            return
        self._known[key] = (launcher.max_programs, result, launcher.known(runtime))
        in_c = launcher.in_c(runtime)
        if self._form is not None and in_c is not None:
            self._form.learn((*args, *keywords.values()), launcher, in_c, result)


#: What stands for an argument that was not given.
_ABSENT: Any = object()


def _given(
    args: tuple[Any, ...], rest: tuple[Any, ...], keywords: dict[str, Any], more: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of another form, by position and by name."""
    given = tuple(arg for arg in args if arg is not _ABSENT)
    return (*given, *rest), {name: value for name, value in keywords.items() if value is not _ABSENT} | more


def _aligned(addresses: Sequence[str]) -> str:
    """The part of a key that says which addresses are divisible by 16: True if all are, as nearly always."""
    each = ", ".join(f"{address} & 15 == 0" for address in addresses)
    return f"({' | '.join(addresses)}) & 15 == 0 or ({each},)"


def _extents(grid: Any) -> tuple[Any, int, int]:
    """The extents of a grid of several; 0 for the first if there is anything unusual, which the long way looks at."""
    if grid.__class__ is int:
        return grid, 1, 1
    if grid.__class__ is tuple and 1 <= len(grid) <= 3:
        x, y, z = (*grid, 1, 1)[:3]
        if type(y) is type(z) is int and 0 < y <= MAX_GRID_YZ and 0 < z <= MAX_GRID_YZ:
            return x, y, z
    return 0, 1, 1

"""Launching again what was launched before, with as little on the host as Python allows: by code that is made for one
form of call, that is for so many arguments of these types with these keywords.

It looks up what was launched by what is compiled for, packs the parameters and calls the driver. Whatever it has not
seen goes the long way, as does whatever may be wrong: there all checks and messages are. What it tells apart is finer
than what `repeat` does (tests/backends/test_binder.py).
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from mytriton.array_keys import NUMBERS, library_of
from mytriton.arrays import in_whole_elements
from mytriton.backends.nvidia import driver
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.forms import Form
from mytriton.backends.nvidia.launch import ArrayAbi, CubinLauncher, driver_calls, retry
from mytriton.frontend.kernel import MISSING
from mytriton.frontend.read import Watched
from mytriton.launched import LaunchResult
from mytriton.records import dataclass
from mytriton.repeat import CallShape
from mytriton.target import MAX_GRID_YZ
from mytriton.types import ScalarType

#: Launches, given grid, positional arguments as a tuple, and keywords as a dictionary.
Long = Callable[[Any, tuple[Any, ...], dict[str, Any]], LaunchResult]

# What `os.environ` keeps inside: its own look-up encodes and decodes, and takes as long as half of the rest here.
_environment: Any = getattr(os.environ, "_data", os.environ)
_BACKEND: Any = "MYTRITON_BACKEND" if _environment is os.environ else os.environ.encodekey("MYTRITON_BACKEND")


@dataclass(frozen=True)
class _Rule:
    """The code about one argument: names it needs computed, what must hold, its parts of the key, how it is packed,
    and for an array its address, its number of elements, its GPU and its library's current stream. `{a}` stands for
    the argument, `{n}` for its number."""

    setup: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    packed: str = "{a}"
    address: str = ""
    size: str = ""
    gpu: str = ""
    stream: str = ""


_CUPY = _Rule(
    setup=("_d{n} = {a}.data", "_p{n} = _d{n}.ptr"),
    holds=("({a}.{contiguous} or _whole({a}.strides, {a}.itemsize))",),
    key=("{a}.dtype",),
    address="_p{n}",
    size="{a}.size",
    gpu="_d{n}.device_id",
    stream="_stream(_device).ptr",
)
_TORCH = _Rule(
    setup=("_p{n} = {a}.data_ptr() if {a}.is_cuda and not {a}.is_sparse and not {a}.is_neg() else None",),
    holds=("_p{n} is not None",),
    key=("{a}.dtype",),
    address="_p{n}",
    size="{a}.numel()",
    gpu="{a}.get_device()",
    stream="_stream(_device)",
)
#: Whether it is divisible by 16, and plus 2 if it takes an i64; -1 for 1. What does not fit is not packed.
_INTEGER = _Rule(key=("-1 if {a} == 1 else ({a} & 15 == 0) + (0 if -0x80000000 <= {a} <= 0x7FFFFFFF else 2)",))
_ARGUMENTS: dict[type, _Rule] = {int: _INTEGER, float: _Rule(), bool: _Rule(), type(None): _Rule(packed="")}
for _type in NUMBERS:
    _ARGUMENTS[_type] = _Rule(key=("int({a}) & 15 == 0",) if issubclass(_type, np.integer) else ())
_CONSTANTS: dict[type, _Rule] = {t: _Rule(key=("{a}",), packed="") for t in (int, bool, str, type(None), ScalarType)}
_CONSTANTS[float] = _Rule(key=("{a}.hex()",), packed="")  # 0.0 == -0.0, but each compiles differently


def _array_rule(type_: type) -> tuple[_Rule, Callable[..., Any]]:
    """The rule of an array and what gives its library's current stream. Raises `LookupError` for any other type."""
    library = library_of(type_)
    if library == "cupy":
        return _CUPY, sys.modules["cupy"].cuda.get_current_stream
    if library == "torch":
        return _TORCH, sys.modules["torch"]._C._cuda_getCurrentRawStream
    raise LookupError


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
            _grid = _grid({{{bound}}})
        _x, _y, _z = _extents(_grid)
    _function, _device, _most, _threads, _shared, _pack, _local, _result = _found
    if _x.__class__ is not int or not 0 < _x <= _most:
        return _long(_grid, {args}, {keywords})
    {switch}
    _queue = {stream}
    _buffer, _extra = _local.both
    try:
        _pack(_buffer, 0, {packed})
    except _unpackable:
        return _long(_grid, {args}, {keywords})
    try:
        _call(_function, _x, _y, _z, _threads, 1, 1, _shared, _queue, 0, _extra)
    except _failure as _error:
        _retry(_error, _device, _function, _x, _y, _z, _threads, 1, 1, _shared, _queue, 0, _extra)
    return _result
"""


class Binder:
    """Launches for calls of one form (`launch`), given by one such call, by launchers that take arrays as `arrays`.
    `watched` is what the kernel takes from outside, `long` the long way, `other` takes calls of other types. Raises
    `LookupError` if there is no rule for an argument's type, or no array."""

    def __init__(
        self,
        shape: CallShape,
        args: Sequence[Any],
        keywords: dict[str, Any],
        watched: Sequence[Watched],
        arrays: ArrayAbi,
        long: Long,
        other: Callable[..., LaunchResult],
    ) -> None:
        if any(name.startswith("_") for name in keywords):
            raise LookupError("names that begin with `_` are ours")
        if "backend" not in keywords:
            watched = [(_environment, _BACKEND, _environment.get(_BACKEND, MISSING)), *watched]
        self._arrays = arrays
        self._known: dict[Any, Any] = {}
        call, current, failure = driver_calls()
        self._space: dict[str, Any] = {
            "_known": self._known, "_long": long, "_whole": in_whole_elements, "_extents": _extents,
            "_missing": MISSING, "_call": call, "_current": current, "_failure": failure, "_retry": retry,
            "_use_device": driver.use_device, "_other": other, "_given": _given, "_absent": _ABSENT,
            "_unpackable": (struct.error, OverflowError), "_contexts": driver.primary_context,
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
        several = len(probe().devices) != 1
        bind, holds, key, packed = list[str](), list[str](), list[str](), dict[str, str]()
        addresses, stream = list[str](), ""
        for number, (name, variable) in enumerate(names.items()):
            type_ = type(values[name])
            rule = (_CONSTANTS if name in shape.constants else _ARGUMENTS).get(type_)
            if rule is None:
                rule, current_stream = _array_rule(type_)
                if not stream:
                    stream, self._space["_stream"] = rule.stream, current_stream
            contiguous = "_c_contiguous" if hasattr(type_, "_c_contiguous") else "flags.c_contiguous"

            def text(code: str, variable: str = variable, number: int = number, how: str = contiguous) -> str:
                return code.format(a=variable, n=number, contiguous=how)

            bind += map(text, rule.setup)
            holds += map(text, rule.holds)
            key += map(text, (*rule.key, rule.gpu) if rule.gpu and several else rule.key)
            packed[name] = text(rule.packed)
            if rule.address:
                addresses.append(text(rule.address))
                packed[name] = arrays.packed.format(address=text(rule.address), size=text(rule.size))
        if not stream:
            raise LookupError("no array says where to launch")
        given = [*(f"{variable}=_absent" for variable in positional), *["/"] * bool(positional), "*_rest"]
        source = _TEXT.format(
            parameters=", ".join((*given, *(f"{name}=_absent" for name in keywords), "**_more")),
            args="({})".format("".join(f"{variable}, " for variable in positional)),
            keywords="{{{}}}".format(", ".join(f"{name!r}: {name}" for name in keywords)),
            fresh=" and ".join(fresh) or "True",
            types=" and ".join(types),
            bind="\n    ".join(bind),
            holds=" and ".join(holds),
            key="".join(f"{part}, " for part in (*key, _aligned(addresses))),
            packed=", ".join(packed[name] for name in shape.params if packed[name]),
            bound=", ".join(f"{name!r}: {names[name]}" for name in shape.params),
            # Where there is one GPU only, a thread without a context is what can be wrong: then the driver refuses.
            switch="if _current() != _contexts(_device): _use_device(_device)" if several else "",
            stream=stream,
        )
        exec(compile(source, "<mytriton binder>", "exec"), self._space)
        self.launch: Callable[..., LaunchResult] = self._space["launch"]
        of_types = [type(value) for value in (*args, *keywords.values())]
        try:
            self._form: Form | None = Form(shape, of_types, len(args), tuple(keywords), watched, arrays, several)
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
            self.launch = self._form.made(module, self.launch)

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
        self, args: tuple[Any, ...], keywords: dict[str, Any], launcher: CubinLauncher, runtime: Sequence[Any],
        result: LaunchResult,
    ) -> None:  # fmt: skip
        """Let such calls take the short way from now on: this one, whose parameters are `runtime`, went well
        and gave what they all will give."""
        key = self._space["key"](*args, **keywords)
        if key is None or launcher.arrays is not self._arrays:
            return
        device, target = launcher.device(runtime), launcher.target
        limits = target.max_programs, target.threads, launcher.shared
        pack = launcher.packer.pack_into, launcher.local
        self._known[key] = (launcher.function(device), device, *limits, *pack, result)
        if self._form is not None:
            self._form.learn((*args, *keywords.values()), launcher, device, result)


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

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
from typing import Any

from mytriton.arrays import in_whole_elements
from mytriton.backends.nvidia import driver
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.launch import POINTER, CubinLauncher, driver_calls, refuse
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
    and for an array its GPU and its library's current stream. `{a}` stands for the argument, `{n}` for its number."""

    setup: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    packed: str = "{a}"
    gpu: str = ""
    stream: str = ""


_INTEGER = _Rule(
    setup=("i{n} = -0x80000000 <= {a} <= 0x7FFFFFFF",),
    holds=("(i{n} or -0x8000000000000000 <= {a} <= 0x7FFFFFFFFFFFFFFF)",),
    key=("i{n}", "{a} & 15 == 0"),
)
_CUPY = _Rule(
    setup=("d{n} = {a}.data", "p{n} = d{n}.ptr"),
    # An empty array's interface gives another address than its memory's, hence another alignment.
    holds=("{a}.size", "({a}.{contiguous} or whole({a}.strides, {a}.itemsize))"),
    key=("{a}.dtype", "p{n} & 15 == 0"),
    packed="p{n}",
    gpu="d{n}.device_id",
    stream="stream().ptr",
)
_TORCH = _Rule(
    setup=("p{n} = {a}.data_ptr() if {a}.is_cuda and not {a}.is_sparse and not {a}.is_neg() else None",),
    holds=("p{n} is not None",),
    key=("{a}.dtype", "p{n} & 15 == 0"),
    packed="p{n}",
    gpu="{a}.get_device()",
    stream="stream(device)",
)
_ARGUMENTS: dict[type, _Rule] = {int: _INTEGER, float: _Rule(), bool: _Rule(), type(None): _Rule(packed="")}
_CONSTANTS: dict[type, _Rule] = {t: _Rule(key=("{a}",), packed="") for t in (int, bool, str, type(None), ScalarType)}
_CONSTANTS[float] = _Rule(key=("{a}.hex()",), packed="")  # 0.0 == -0.0, but each compiles differently


def _array_rule(type_: type) -> tuple[_Rule, Callable[..., Any]]:
    """The rule of an array and what gives its library's current stream. Raises `LookupError` for any other type."""
    cupy, torch = sys.modules.get("cupy"), sys.modules.get("torch")
    if cupy is not None and type_ is cupy.ndarray:
        return _CUPY, cupy.cuda.get_current_stream
    if torch is not None and type_ is torch.Tensor:
        return _TORCH, torch._C._cuda_getCurrentRawStream
    raise LookupError


_TEXT = """\
def fresh():
    return {fresh}

def key(args, keywords):
    {unpack}
    {bind}
    return ({key}) if {holds} else None

def launch(grid, /, *args, **keywords):
    try:
        {unpack}
    except wrong:
        return other(grid, args, keywords)
    if not ({types}):
        return other(grid, args, keywords)
    if not ({fresh}):
        return long(grid, args, keywords)
    {bind}
    if not ({holds}):
        return long(grid, args, keywords)
    found = known.get(({key}))
    if found is None:
        return long(grid, args, keywords)
    y = z = 1
    if grid.__class__ is int:
        x = grid
    elif grid.__class__ is tuple and len(grid) == 1:
        x, = grid
    else:
        if callable(grid):
            grid = grid({{{bound}}})
        x, y, z = extents(grid)
    function, context, device, most, threads, shared, pack, local, result = found
    if x.__class__ is not int or not 0 < x <= most:
        return long(grid, args, keywords)
    if current() != context:
        use_device(device)
    queue = {stream}
    buffer, extra = local.both
    try:
        pack(buffer, 0, {packed})
    except unpackable:
        return long(grid, args, keywords)
    try:
        call(function, x, y, z, threads, 1, 1, shared, queue, 0, extra)
    except failure as error:
        refuse(error)
    return result
"""


class Binder:
    """Launches for calls of one form (`launch`), given by one such call. `watched` is what the kernel takes from
    outside, `long` the long way, `other` takes calls of other types. Raises `LookupError` if there is no rule for an
    argument's type, or no array."""

    def __init__(
        self,
        shape: CallShape,
        args: Sequence[Any],
        keywords: dict[str, Any],
        watched: Sequence[Watched],
        long: Long,
        other: Long,
    ) -> None:
        self._known: dict[Any, Any] = {}
        call, current, failure = driver_calls()
        self._space: dict[str, Any] = {
            "known": self._known, "long": long, "whole": in_whole_elements, "extents": _extents, "missing": MISSING,
            "call": call, "current": current, "failure": failure, "use_device": driver.use_device, "refuse": refuse,
            "other": other, "wrong": (ValueError, KeyError), "unpackable": (struct.error, OverflowError),
            "environment": _environment.get, "BACKEND": _BACKEND, "backend": _environment.get(_BACKEND),
        }  # fmt: skip
        fresh = [] if "backend" in keywords else ["environment(BACKEND) == backend"]
        fresh += [self._unchanged(number, *watch) for number, watch in enumerate(watched)]
        written = len(args) + len(keywords)
        values = dict(zip(shape.names, (*args, *keywords.values()), strict=False))
        unpack = ["".join(f"a{i}, " for i in range(len(args))) + "= args"] if args else []
        unpack += [f"a{i} = keywords[{name!r}]" for i, name in enumerate(keywords, len(args))]
        types = [f"len(args) + len(keywords) == {written}", *(f"a{i}.__class__ is t{i}" for i in range(written))]
        self._space |= {f"t{i}": type(value) for i, value in enumerate(values.values())}
        bind: list[str] = []
        holds, key, packed, stream = list[str](), list[str](), dict[str, str](), ""
        several = len(probe().devices) != 1
        names = dict(zip(values, (f"a{i}" for i in range(written)), strict=True))
        for name, default in shape.defaults.items():
            if name not in names and name != "backend":
                names[name] = f"a{len(names)}"
                self._space[names[name]] = values[name] = default
        for number, (name, variable) in enumerate(names.items()):
            type_ = type(values[name])
            rule = (_CONSTANTS if name in shape.constants else _ARGUMENTS).get(type_)
            if rule is None:
                rule, current_stream = _array_rule(type_)
                if not stream:
                    stream, self._space["stream"] = rule.stream, current_stream
            contiguous = "_c_contiguous" if hasattr(type_, "_c_contiguous") else "flags.c_contiguous"

            def text(code: str, variable: str = variable, number: int = number, how: str = contiguous) -> str:
                return code.format(a=variable, n=number, contiguous=how)

            bind += map(text, rule.setup)
            holds += map(text, rule.holds)
            key += map(text, (*rule.key, rule.gpu) if rule.gpu and several else rule.key)
            packed[name] = text(rule.packed)
        if not stream:
            raise LookupError("no array says where to launch")
        source = _TEXT.format(
            fresh=" and ".join(fresh) or "True",
            unpack="; ".join(unpack),
            types=" and ".join(types),
            bind="\n    ".join(bind),
            holds=" and ".join(holds),
            key="".join(f"{part}, " for part in key),
            packed=", ".join(packed[name] for name in shape.params if packed[name]),
            bound=", ".join(f"{name!r}: {names[name]}" for name in shape.params),
            stream=stream,
        )
        exec(compile(source, "<mytriton binder>", "exec"), self._space)
        self.launch: Callable[..., LaunchResult] = self._space["launch"]

    def _unchanged(self, number: int, owner: Any, name: str, value: Any) -> str:
        """The code that looks whether something outside is what it was."""
        self._space[f"v{number}"] = value
        if isinstance(owner, dict):
            self._space[f"o{number}"] = owner.get
            return f"o{number}({name!r}, missing) is v{number}"
        self._space[f"o{number}"] = owner
        return f"o{number}.{name} is v{number}"

    def forget(self) -> None:
        """Have all such calls go the long way."""
        self._known.clear()

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
        key = self._space["key"](args, keywords)
        if key is None or launcher.arrays is not POINTER:
            return
        device, target = launcher.device(runtime), launcher.target
        function = launcher.function(device)
        where = function, driver.primary_context(device), device
        limits = target.max_programs, target.threads, launcher.shared
        self._known[key] = (*where, *limits, launcher.packer.pack_into, launcher.local, result)


def _extents(grid: Any) -> tuple[Any, int, int]:
    """The extents of a grid of several; 0 for the first if there is anything unusual, which the long way looks at."""
    if grid.__class__ is int:
        return grid, 1, 1
    if grid.__class__ is tuple and 1 <= len(grid) <= 3:
        x, y, z = (*grid, 1, 1)[:3]
        if type(y) is type(z) is int and 0 < y <= MAX_GRID_YZ and 0 < z <= MAX_GRID_YZ:
            return x, y, z
    return 0, 1, 1

"""What code that launches again has to know: of an argument by its type, and of how a backend launches."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from mytriton.array_keys import NUMBERS
from mytriton.records import dataclass
from mytriton.types import ScalarType


@dataclass(frozen=True)
class Rule:
    """The code about one argument: names it needs computed, what must hold, its parts of the key, how it is packed, and
    for an array its address. `{a}` stands for the argument, `{n}` for its number."""

    setup: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    packed: str = "{a}"
    address: str = ""


#: Whether it is divisible by 16, and plus 2 if it takes an i64; -1 for 1. What does not fit is not packed.
_INTEGER = Rule(key=("-1 if {a} == 1 else ({a} & 15 == 0) + (0 if -0x80000000 <= {a} <= 0x7FFFFFFF else 2)",))
#: Of run-time arguments that are no arrays, and of constexprs and options.
ARGUMENTS: dict[type, Rule] = {int: _INTEGER, float: Rule(), bool: Rule(), type(None): Rule(packed="")}
for _type in NUMBERS:
    ARGUMENTS[_type] = Rule(key=("int({a}) & 15 == 0",) if issubclass(_type, np.integer) else ())
CONSTANTS: dict[type, Rule] = {t: Rule(key=("{a}",), packed="") for t in (int, bool, str, type(None), ScalarType)}
CONSTANTS[float] = Rule(key=("{a}.hex()",), packed="")  # 0.0 == -0.0, but each compiles differently


@dataclass(frozen=True)
class Native:
    """What the code in C has to know of a way: which property of a torch tensor says that it runs there; what gives the
    addresses of the driver's cuLaunchKernel and cuCtxGetCurrent, zeros where code runs on the host; what gives the
    current stream; whether arrays are passed as memref descriptors; whether there are several GPUs."""

    here: str
    driver: Callable[[], tuple[int, int]]
    stream: Any = None
    memref: bool = False
    several: bool = False


class Way(Protocol):
    """How a backend launches again. Launchers whose calls the same code serves have equal ways."""

    def rule(self, type_: type) -> Rule:
        """The rule of an array's type. Raises `LookupError` if there is none."""

    def call(self, type_: type) -> tuple[str, dict[str, Any]]:
        """The code of a launch on arrays of which the first is of this type, and the names it uses. It finds what was
        `known` in `_own`, the grid in `_x`, `_y` and `_z`; `{packed}` are the parameters."""

    def native(self, library: str) -> Native:
        """What C has to know for arrays of a library. Raises `LookupError` if it does not do them."""


class Repeatable(Protocol):
    """A launcher whose launches may be repeated the short way. `formats` are those of its parameters for `packer`, and
    along the first axis there may be `max_programs`."""

    formats: Sequence[str]
    packer: struct.Struct
    max_programs: int

    @property
    def way(self) -> Way | None:
        """The way of its launches; None if they have no short one."""

    def __call__(self, grid: tuple[int, int, int], args: Sequence[Any]) -> None:
        """Launch the long way."""

    def bind(self, grid: tuple[int, int, int], args: Sequence[Any], result: Any) -> Callable[[], Any]:
        """What launches these arguments in Python, checked and packed once, and gives `result`."""

    def pack(self, grid: tuple[int, int, int], args: Sequence[Any]) -> tuple[bytes, str]:
        """The parameters of a launch, and the library on whose stream it goes."""

    def known(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What the code in Python takes for launches like the one on these arguments (`Way.call`)."""

    def in_c(self, args: Sequence[Any]) -> tuple[int, ...] | None:
        """The same for C: function, context, device, programs at most, threads, and bytes of memory. None if C is not
        to launch it."""

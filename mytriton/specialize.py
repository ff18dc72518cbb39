"""What a kernel is compiled for besides the target: argument types, what is known of them, and constexpr values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mytriton.ir.core import ParamInfo
from mytriton.types import Type


@dataclass(frozen=True, slots=True)
class Specialization:
    """`params` are the runtime parameters in order (name, type, what is known), `constexprs` the others by name."""

    params: tuple[tuple[str, Type, ParamInfo], ...]
    constexprs: tuple[tuple[str, Any], ...] = ()

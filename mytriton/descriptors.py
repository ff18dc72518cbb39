"""Tensor descriptors among a launch's arguments: how they are handed over, and how a signature writes them.

A kernel's parameter that gets one becomes several: the array, under the parameter's name, and the numbers that the
descriptor holds, so that whoever runs code knows only arrays and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mytriton.diagnostics import LaunchError
from mytriton.frontend.names import SIGNATURE_TYPES
from mytriton.ir.core import ParamInfo
from mytriton.tools.tensor_descriptor import checked
from mytriton.types import PointerType, ScalarType, Type, i64, is_float

#: What the types of descriptors begin with in a signature.
DESCRIPTOR = "tensordesc"
_TEXT = re.compile(r"tensordesc<\s*(\w+)\s*\[([\d\s,]+)\]\s*(?:,\s*(zero|nan)\s*)?>\s*(:\s*16)?")
_NOTATION = "a descriptor is written tensordesc<fp16[128,64]>, with :16 if its numbers and address are divisible by 16"
_NAMES = {type_: name for name, type_ in reversed(SIGNATURE_TYPES.items())}


@dataclass(frozen=True, slots=True)
class Described:
    """What a descriptor is compiled for. `numbers` are the parameters that hold its shape and its strides, but for the
    last one; `divisible` says that these and the array's address are divisible by 16."""

    name: str
    element: ScalarType
    block: tuple[int, ...]
    padding: str
    divisible: bool
    numbers: tuple[str, ...]

    @property
    def params(self) -> list[tuple[str, Type, ParamInfo]]:
        """The parameters that it becomes."""
        known = ParamInfo(self.divisible)
        return [(self.name, PointerType(self.element), known), *((number, i64, known) for number in self.numbers)]

    def __str__(self) -> str:
        """In the notation of signatures."""
        padding = ",nan" if self.padding == "nan" else ""
        block = ",".join(map(str, self.block))
        return f"tensordesc<{_NAMES[self.element]}[{block}]{padding}>{':16' if self.divisible else ''}"


def is_descriptor(value: Any) -> bool:
    """Whether a value is a tensor descriptor, ours or Triton's."""
    return is_descriptor_type(type(value)) and hasattr(value, "block_shape")


def is_descriptor_type(type_: type) -> bool:
    """Whether values of a type are tensor descriptors."""
    return type_.__name__ == "TensorDescriptor"


def described(name: str, value: Any, array: tuple[Type, ParamInfo], taken: Collection[str]) -> Described:
    """What a descriptor is compiled for, with the type of its `array` and what is known of its address."""
    pointer, known = array
    assert isinstance(pointer, PointerType)
    checked(value)
    divisible = known.divisible_by_16 and all(n % 16 == 0 for n in (*value.shape, *value.strides[:-1]))
    return _described(name, pointer.element, tuple(value.block_shape), value.padding, divisible, taken)


def parsed(name: str, text: str, taken: Collection[str]) -> Described | None:
    """The descriptor that an entry of a signature writes; None if it writes none. Raises `LaunchError`."""
    if not text.startswith(DESCRIPTOR):
        return None
    match = _TEXT.fullmatch(text)
    element = SIGNATURE_TYPES.get(match[1]) if match else None
    extents = [part.strip() for part in match[2].split(",")] if match else []
    if match is None or element is None or not all(extents):
        raise LaunchError(f"{text!r} is not a type of a signature; {_NOTATION}")
    block = tuple(map(int, extents))
    if any(extent < 1 or extent & (extent - 1) for extent in block):
        raise LaunchError(f"{text!r} is not a type of a signature; the extents of a block are powers of 2")
    return _described(name, element, block, match[3] or "zero", match[4] is not None, taken)


def _described(
    name: str, element: ScalarType, block: tuple[int, ...], padding: str, divisible: bool, taken: Collection[str]
) -> Described:
    if padding == "nan" and not is_float(element):
        raise LaunchError(f"the descriptor `{name}` is padded with NaN, which {element} has not; use zero")
    return Described(name, element, block, padding, divisible, _numbers(name, len(block), taken))


def _numbers(name: str, rank: int, taken: Collection[str]) -> tuple[str, ...]:
    names = [f"{name}_shape_{n}" for n in range(rank)] + [f"{name}_stride_{n}" for n in range(rank - 1)]
    while set(names) & set(taken):
        names = [f"{each}_" for each in names]
    return tuple(names)


def opened(args: Mapping[str, Any]) -> dict[str, Any]:
    """A launch's arguments with what descriptors become in their place."""
    values = dict(args)
    for name, value in args.items():
        if is_descriptor(value):
            names = _numbers(name, len(value.shape), args)
            values[name] = value.base
            values |= {each: number_in(number, value) for number, each in enumerate(names)}
    return values


def number_in(number: int, descriptor: Any) -> int:
    """One of the numbers that a descriptor is handed over as: its shape, and its strides but for the last."""
    return int((*descriptor.shape, *descriptor.strides[:-1])[number])


def array_in(value: Any) -> Any:
    """The array of a descriptor; anything else as it is."""
    return value.base if is_descriptor(value) else value


def with_array(value: Any, function: Callable[[Any], Any]) -> Any:
    """What `function` makes of an array; of a descriptor, one of what it makes of its array; of anything else, that."""
    import numpy as np

    if is_descriptor(value):
        return replace(value, base=with_array(value.base, function))
    return function(value) if isinstance(value, np.ndarray) else value


def arrays_of(args: Mapping[str, Any]) -> dict[str, Any]:
    """The NumPy arrays among arguments, those of descriptors too, by the names of their parameters."""
    import numpy as np

    return {name: array for name, value in args.items() if isinstance(array := array_in(value), np.ndarray)}

"""The memory behind a kernel's pointer arguments, as both interpreters see it: addresses, bounds, and elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mytriton.analysis.written import written_params
from mytriton.diagnostics import LaunchError
from mytriton.ir import ops
from mytriton.ir.arithmetic import ANY_BASE, DTYPES, POINTER, Array, convert, evaluate
from mytriton.ir.core import Func, Value
from mytriton.layout import routes
from mytriton.layout.staging import AsyncCopy, Staged
from mytriton.records import dataclass
from mytriton.types import PointerType, element_of, i1, shape_of


class OutOfBounds(Exception):
    """An access outside its array: position in the block, element index and parameter number; of an address in none of
    the arrays, that and `ANY_BASE`."""

    def __init__(self, position: int, index: int, parameter: int) -> None:
        self.position, self.index, self.parameter = position, index, parameter


#: How an element lies in memory where that differs: any non-zero byte is true.
_IN_MEMORY = {i1: np.dtype(np.uint8)}


@dataclass(frozen=True)
class Buffer:
    """The memory behind a pointer argument. `start` is the address of element 0, `flat` all elements from the lowest
    address (`low`) up: they differ only for arrays with negative strides."""

    start: int
    low: int
    flat: Array

    def read(self, offset: Array, dtype: np.dtype[Any]) -> Array:
        """The elements of a type at offsets in bytes."""
        if dtype == self.flat.dtype:
            return np.asarray(self.flat[offset // dtype.itemsize])
        places = offset[..., None] + np.arange(dtype.itemsize)  # through a pointer that was cast to another type
        return np.asarray(self.flat.view(np.uint8)[places].view(dtype)[..., 0])

    def write(self, offset: Array, values: Array) -> None:
        """Put elements at offsets in bytes."""
        values = values.view(np.uint8) if values.dtype == bool else values
        size = values.itemsize
        if values.dtype == self.flat.dtype:
            self.flat[offset // size] = values
        else:
            self.flat.view(np.uint8)[offset[..., None] + np.arange(size)] = np.ascontiguousarray(
                values[..., None]
            ).view(np.uint8)


class Memory:
    """The arrays a launch may touch, by parameter number."""

    def __init__(self, func: Func, args: Sequence[Any]) -> None:
        if len(args) != len(func.params):
            raise LaunchError(f"`{func.name}` takes {len(func.params)} runtime arguments, got {len(args)}")
        self.buffers: dict[int, Buffer] = {}
        self.values: dict[Value, Array] = {}
        self._rings: dict[tuple[int, int], Array] = {}  # what copies have put in shared memory
        for number, (param, arg) in enumerate(zip(func.params, args, strict=True)):
            if isinstance(param.type, PointerType):
                self.buffers[number] = _buffer(func, param, arg)
                self.values[param] = np.array((number, self.buffers[number].start), POINTER)
            else:
                element = element_of(param.type)
                assert not isinstance(element, PointerType)
                number_ = np.asarray(arg)
                self.values[param] = convert(number_, element) if element.is_float8 else number_.astype(DTYPES[element])

    def load(self, op: ops.Load | AsyncCopy, pointer: Array, mask: Array | None, other: Array | None) -> Array:
        """The loaded block; only elements whose mask is true are touched."""
        source = element_of(op.pointer.type)
        assert isinstance(source, PointerType)
        element = source.element
        result = np.zeros(pointer.shape, DTYPES[element]) if other is None else np.array(other)
        for active, buffer, offset in self._accesses(pointer, mask, DTYPES[element].itemsize):
            values = buffer.read(offset, _IN_MEMORY.get(element, DTYPES[element]))
            result[active] = values != 0 if element == i1 else values
        return result

    def copy(self, op: AsyncCopy, pointer: Array, stage: int, mask: Array | None) -> None:
        """Load a block into a buffer of a ring."""
        loaded = self.load(op, pointer, mask, None).reshape(-1)
        cells = self._rings.setdefault((op.ring.number, stage), np.zeros(loaded.size, loaded.dtype))
        cells[[routes.number(op.place, position) for position in range(loaded.size)]] = loaded

    def staged(self, op: Staged, stage: int) -> Array:
        """The block in a buffer of a ring."""
        cells, shape = self._rings[op.ring.number, stage], shape_of(op.ring.type)
        return cells[[routes.number(op.ring.slot, position) for position in range(cells.size)]].reshape(shape)

    def store(self, pointer: Array, value: Array, mask: Array | None) -> None:
        """Write the elements whose mask is true; of several with one address, the last wins."""
        for active, buffer, offset in self._accesses(pointer, mask, value.itemsize):
            buffer.write(offset, value[active])

    def atomic(self, op: ops.Atomic, pointer: Array, value: Array, mask: Array | None, compare: Array | None) -> Array:
        """Update the elements whose mask is true, in order; what was there, and 0 for the others."""
        found = np.zeros(value.shape, value.dtype)
        for active, buffer, offset in self._accesses(pointer, mask, value.itemsize):
            ours, given = found[active].reshape(-1), value[active].reshape(-1)
            expected = None if compare is None else compare[active].reshape(-1)
            for n, at in enumerate(offset.reshape(-1)):
                old = ours[n] = buffer.read(at, value.dtype)
                buffer.write(at, _updated(op.kind, old, given[n], None if expected is None else expected[n]))
            found[active] = ours.reshape(found[active].shape)
        return found

    def _accesses(self, pointer: Array, mask: Array | None, size: int) -> list[tuple[Any, Buffer, Array]]:
        """For each array touched by accesses of `size` bytes: which elements of the block touch it, and at which
        offsets in bytes from its lowest address."""
        active: Any = ... if mask is None else mask
        pointer = self._based(pointer)
        bases = np.unique(pointer["base"][active])
        found = []
        for base in bases:
            if len(bases) > 1:
                same = pointer["base"] == base
                active = same if mask is None else same & mask
            positions = np.arange(pointer.size).reshape(pointer.shape)[active].reshape(-1)
            if base == ANY_BASE:
                raise OutOfBounds(int(positions[0]), int(pointer["address"][active].reshape(-1)[0]), ANY_BASE)
            buffer = self.buffers[int(base)]
            offset = pointer["address"][active] - buffer.low
            outside = (offset < 0) | (offset + size > buffer.flat.nbytes)
            if outside.any():
                first = int(np.argmax(outside))
                element = (int(offset.reshape(-1)[first]) - (buffer.start - buffer.low)) // size
                raise OutOfBounds(int(positions[first]), element, int(base))
            found.append((active, buffer, offset))
        return found

    def _based(self, pointer: Array) -> Array:
        """The pointers, those made of numbers with the array that they lie in as their base, if they lie in one."""
        if not (pointer["base"] == ANY_BASE).any():
            return pointer
        pointer = np.array(pointer)
        for number, buffer in self.buffers.items():
            address = pointer["address"]
            inside = (address >= buffer.low) & (address < buffer.low + buffer.flat.nbytes)
            pointer["base"] = np.where(inside & (pointer["base"] == ANY_BASE), number, pointer["base"])
        return pointer


def _updated(kind: str, old: Any, given: Any, expected: Any) -> Array:
    """What an atomic operation writes."""
    if kind == "xchg":
        return np.asarray(given)
    if kind == "cas":  # floats are compared by their bits
        bits = f"u{old.dtype.itemsize}"
        return np.asarray(given if old.view(bits) == expected.view(bits) else old)
    return np.asarray(evaluate(_UPDATES[kind](lhs=_ANY, rhs=_ANY), [np.asarray(old), np.asarray(given)]))


_ANY = Value("", i1)
_UPDATES: dict[str, type[ops.Binary]] = {
    "add": ops.Add,
    "max": ops.Maximum,
    "min": ops.Minimum,
    "and": ops.And,
    "or": ops.Or,
    "xor": ops.Xor,
}


def _buffer(func: Func, param: Value, arg: Any) -> Buffer:
    assert isinstance(param.type, PointerType)
    dtype = DTYPES[param.type.element]
    if not isinstance(arg, np.ndarray):
        raise LaunchError(
            f"argument `{param.id}` must be a NumPy array or a torch CPU tensor, got {type(arg).__name__}"
        )
    if arg.dtype != dtype:
        raise LaunchError(f"argument `{param.id}` holds {arg.dtype}; the kernel was compiled for {dtype}")
    if not arg.flags.writeable and param in written_params(func):
        raise LaunchError(f"argument `{param.id}` is read-only, and the kernel may store to it; pass a copy")
    start = arg.__array_interface__["data"][0]
    arg = np.atleast_1d(arg)  # an array without axes cannot be sliced without copying it
    view = arg[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in arg.strides)]
    extent = sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True)) // dtype.itemsize + 1
    size = extent if arg.size else 0
    bits = view.view(f"u{dtype.itemsize}")  # NumPy has no name for all of our dtypes
    flat = np.lib.stride_tricks.as_strided(bits, (size,), (dtype.itemsize,)).view(dtype)
    if param.type.element == i1:
        flat = flat.view(np.uint8)  # any non-zero byte is true
    return Buffer(start, view.__array_interface__["data"][0], flat)

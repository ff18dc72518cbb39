"""Forms of calls for the code in C (`native/form.c`): what it needs to know of one, and of each launch it learns."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from types import MethodType, ModuleType
from typing import Any

import numpy as np

from mytriton.array_keys import library_of
from mytriton.arrays import address_of
from mytriton.binding.rules import Repeatable, Way
from mytriton.checked import ArgumentError
from mytriton.frontend.kernel import MISSING
from mytriton.frontend.read import Watched
from mytriton.launched import LaunchResult
from mytriton.repeat import CallShape

#: What C is told of an argument: its kind, by its type.
_KINDS: dict[type, str] = {int: "i", float: "f", bool: "b", type(None): "n"}
#: The `struct` format that C packs each kind in, for what `_number` gives it.
_PACKED = {("i", -1): "i", ("i", 0): "i", ("i", 1): "i", ("i", 2): "q", ("i", 3): "q", ("f", 0): "f", ("b", 0): "?"}
#: Of which dtypes a tensor may be lazily negated: those of the parts of complex numbers.
_NEGATED = ("torch.float16", "torch.float32", "torch.float64")

#: For how many arguments, and names from outside, C has room.
_MOST = 64
#: And for how many bytes of packed parameters.
_BYTES = 4096
#: DLPack's codes of torch's dtypes: kind, and bits.
_KIND_CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6, "float8_e4m3fn": 10, "float8_e5m2": 12}


class Form:
    """Calls of one form: arguments of these types, the first `positional` by position, the others by `keywords`. Raises
    `LookupError` for those that C does not do."""

    def __init__(
        self,
        shape: CallShape,
        types: Sequence[type],
        positional: int,
        keywords: Sequence[str],
        watched: Sequence[Watched],
        way: Way,
    ) -> None:
        if max(len(shape.params), len(types), len(watched)) > _MOST:
            raise LookupError("too many for C")
        self._shape = shape
        given = dict(zip(shape.names, types, strict=False))
        self._kinds = {
            name: "c" if name in shape.constants else _KINDS.get(type_, "a") for name, type_ in given.items()
        }
        found = {library_of(given[name]) for name, kind in self._kinds.items() if kind == "a"}
        if len(found) != 1:
            raise LookupError("arrays of several libraries")
        self._defaults = {name: value for name, value in shape.defaults.items() if name not in given}
        for name, value in self._defaults.items():
            self._kinds[name] = "c" if name in shape.constants else _KINDS[type(value)]
        self._given = tuple(given)
        numbers = {name: number for number, name in enumerate(given)}
        meta = tuple(numbers.get(name, (self._defaults.get(name),)) for name in shape.params)
        kinds = "".join(self._kinds[name] for name in given).encode()
        (library,) = found
        native = way.native(library)
        self._config = (
            positional, tuple(keywords), tuple(types), kinds, tuple(map(_watch, watched)), tuple(shape.params), meta,
            library[0], _attributes(library, native.here), native.memref, native.several, native.stream, "ptr",
        )  # fmt: skip
        self._driver = native.driver
        self._learnt: list[tuple[Any, ...]] = []
        self._native: Any = None

    def made(
        self, module: ModuleType, fallback: Callable[..., LaunchResult], other: Callable[..., LaunchResult]
    ) -> Callable[..., LaunchResult]:
        """What launches such calls by C, and by `fallback` if there is anything unusual; calls of another form by
        `other`."""
        native = self._native = module.Form(fallback, other, *self._config, *self._driver())
        for learnt in self._learnt:  # twice what another thread learns meanwhile, which does no harm
            native.learn(*learnt)
        launch: Callable[..., LaunchResult] = native
        return launch

    def forget(self) -> None:
        """Have all such calls go to the fallback."""
        self._learnt.clear()
        if self._native is not None:
            self._native.forget()

    def learn(self, values: Sequence[Any], launcher: Repeatable, in_c: tuple[int, ...], result: LaunchResult) -> None:
        """Launch calls like this one, of these arguments, from now on."""
        by_name = {**self._defaults, **dict(zip(self._given, values, strict=True))}
        places = dict.fromkeys(self._given, (0, 0, 0, 0, 0, 0))
        formats, before, fixed = iter(launcher.formats), "@", list[Any]()
        for name in self._shape.params:
            kind, value = self._kinds[name], by_name[name]
            if kind in "cn":
                continue
            number, format_ = _number(kind, value), next(formats)
            if kind != "a" and _PACKED.get((kind, number)) != format_[0]:
                return  # a number that is too large for C's
            offset = struct.calcsize(f"{before}0{format_[0]}")
            before += format_
            fixed += [value] if name in self._defaults else [0] * len(format_.rstrip("x1234567"))
            dtype = str(getattr(value, "dtype", ""))
            writable = getattr(getattr(value, "flags", None), "writeable", False)
            places[name] = number, offset, _itemsize(value), dtype not in _NEGATED, _code(dtype), writable
        expected = (
            value.dtype if self._kinds[n] == "a" else value for n, value in zip(self._given, values, strict=True)
        )
        packed = launcher.packer.pack(*fixed)
        learnt = tuple(expected), tuple(places[name] for name in self._given), *in_c, packed, result, launcher
        self._learnt = [*self._learnt[-7:], learnt]
        if self._native is not None:
            self._native.learn(*learnt)


def fixed(
    module: ModuleType,
    launcher: Repeatable,
    grid: tuple[int, int, int],
    args: Sequence[Any],
    result: LaunchResult,
    fallback: Callable[[], LaunchResult],
) -> Callable[[], LaunchResult] | None:
    """What launches these arguments by C, as they are packed now: a form without any. `fallback` launches them where
    anything is unusual. None if C does not do such launches."""
    way, in_c = launcher.way, launcher.in_c(args)
    if way is None or in_c is None:
        return None
    packed, library = launcher.pack(grid, args)
    if len(packed) > _BYTES:
        return None
    try:
        native = way.native(library)
    except LookupError:
        return None

    def unusual(_: Any) -> LaunchResult:
        return fallback()

    def given(_: Any, *args: Any, **keywords: Any) -> LaunchResult:
        raise nothing_taken()

    form = module.Form(
        unusual, given, 0, (), (), b"", (), (), (),
        library[0], _attributes(library, native.here), native.memref, native.several, native.stream, "ptr",
        *native.driver(),
    )  # fmt: skip
    form.learn((), (), *in_c, packed, result, (launcher, args))
    return MethodType(form, grid)


def nothing_taken() -> ArgumentError:
    """The error of a bound launch that is called with arguments."""
    return ArgumentError("a bound launch takes no arguments: `bind` was given them; bind again for others")


def _number(kind: str, value: Any) -> int:
    """What C knows an argument by besides its type: see `rules._INTEGER`."""
    if kind == "i":
        return -1 if value == 1 else int(value & 15 == 0) + (0 if -0x80000000 <= value <= 0x7FFFFFFF else 2)
    if kind == "a":
        return int(_address(value) % 16 == 0)
    return 0


def _address(array: Any) -> int:
    if isinstance(array, np.ndarray):
        return address_of(array)
    address: int = array.data_ptr() if hasattr(array, "data_ptr") else array.data.ptr
    return address


def _itemsize(value: Any) -> int:
    """The bytes of an array's element; 0 of anything else."""
    size: int = value.element_size() if hasattr(value, "element_size") else getattr(value, "itemsize", 0)
    return size


def _code(dtype: str) -> int:
    """DLPack's code of one of torch's dtypes; -1 if it is not known here."""
    name = dtype.removeprefix("torch.")
    kind = name if name in _KIND_CODES else name.rstrip("0123456789")
    if kind not in _KIND_CODES:
        return -1
    bits = int(name.removeprefix(kind) or 8)
    return _KIND_CODES[kind] | bits << 8 | 1 << 16


def _watch(watch: Watched) -> tuple[Any, ...]:
    owner, name, value = watch
    return (owner, name) if value is MISSING else (owner, name, value)


def _attributes(name: str, here: str) -> tuple[Any, ...]:
    """What C asks an array of a library for: name, whether it is a method, and what the type has under it, in the order
    of `form_new`; last the capsule of DLPack's exchange."""
    library: Any = sys.modules[name]

    def of(owner: Any, *names: str, method: bool = False) -> list[Any]:
        return [(name, method, getattr(owner, name, None)) for name in names]

    if name == "torch":
        type_ = library.Tensor
        pointer, gpu, size, negated = of(type_, "data_ptr", "get_device", "numel", "is_neg", method=True)
        dtype, is_here = of(type_, "dtype", here)
        exchange = getattr(type_, "__dlpack_c_exchange_api__", None)
        return None, pointer, dtype, None, None, gpu, size, negated, is_here, exchange
    if name == "cupy":
        data, dtype, contiguous, strides, size = of(
            library.ndarray, "data", "dtype", "_c_contiguous", "strides", "size"
        )
        pointer, gpu = of(getattr(library.cuda, "MemoryPointer", None), "ptr", "device_id")
        return data, pointer, dtype, contiguous, strides, gpu, size
    return ()  # it knows NumPy's arrays from NumPy's headers

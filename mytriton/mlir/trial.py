"""A function called on generated arguments, before some passes and after: whether they keep what it computes.

The reference is the module as it was, lowered by `LOWERING`; what passes leave is lowered by the rest of it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mytriton.comparison import OutputReport, compare, tolerance
from mytriton.diagnostics import LaunchError, MytritonError
from mytriton.mlir.bounds import VERIFY, tried
from mytriton.mlir.jit import BUFFERS, LOWERING, Library, has_tensors
from mytriton.mlir.module import Module
from mytriton.mlir.signature import ArrayType, Signature, signatures
from mytriton.mlir.symbols import symbol
from mytriton.records import dataclass

#: What a caller needs of functions: it must be asked for before they are lowered.
WRAPPERS = "func.func(llvm-request-c-wrappers)"
#: The extent of axes that a type leaves open, integers and floats, where nobody gives others.
SIZE, INTEGER, FLOAT = 64, 2, 0.5

_TYPE = re.compile(r"strided<[^>]*>|,\s*affine_map<[^>]*>")


@dataclass(frozen=True, slots=True)
class Result:
    """What a call left: its arrays, and what it returned, by name; `seconds` is one call."""

    values: Mapping[str, Any]
    seconds: float


def on_buffers(module: Module, function: str) -> Module:
    """The module with functions on memrefs in place of those on tensors, which get what they return into if the
    function of that name returns several; raises `CompileError` if that cannot be."""
    module = module.run(BUFFERS).result if has_tensors(module) else module
    several = _type_of(module, function).rpartition(" -> ")[2].startswith("(memref")
    return module.run("buffer-results-to-out-params{modify-public-functions=true}").result if several else module


def callable_module(module: Module) -> Module:
    """The module with what is needed to call its functions after any passes; its text and its places are the same."""
    return module.run(WRAPPERS).result


def arguments(signature: Signature, names: Sequence[str], values: Mapping[str, Any]) -> list[Any]:
    """Arguments for a function: the same random numbers each time, and `values` (by name, `size` for open extents).
    Raises `LaunchError` for a value that is none."""
    random = np.random.default_rng(0)
    made: list[Any] = []
    for name, type_ in zip(names, signature.arguments, strict=True):
        if isinstance(type_, ArrayType):
            made.append(_array(type_, _size(values), random))
        else:
            default = True if type_.text == "i1" else FLOAT if "f" in type_.text else INTEGER
            made.append(values.get(name, default))
    return made


def _size(values: Mapping[str, Any]) -> int:
    size = values.get("size", SIZE)
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        raise LaunchError(f"size={size!r}: the open extents of arrays are a whole number from 1 on")
    return size


def _array(type_: ArrayType, size: int, random: np.random.Generator) -> np.ndarray[Any, Any]:
    shape = tuple(size if extent is None else extent for extent in type_.shape)
    try:
        return _filled(type_, shape, random)
    except (MemoryError, ValueError) as error:  # which NumPy says of more than there can be
        raise LaunchError(f"an array of {type_} with size={size} is too large: {error}") from None


def _filled(type_: ArrayType, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray[Any, Any]:
    if type_.dtype.kind in "iub":  # small: they may be indices, of the same extents
        most = max(1, min(2 if type_.dtype.kind == "b" else 8, *shape, 8))
        return random.integers(0, most, shape).astype(type_.dtype)
    return random.standard_normal(shape).astype(type_.dtype)


class Caller:
    """Calls one function of a module, whatever passes made of it."""

    def __init__(self, module: Module, function: str, names: Sequence[str]) -> None:
        """`names` are those of the arguments. Raises `MytritonError` for a function that cannot be called."""
        self._buffers = on_buffers(module, function)
        found, refused = signatures(self._buffers, function)
        if function in refused:
            raise LaunchError(refused[function])
        if function not in found:
            raise LaunchError(f"there is no function `{function}` with a body that is not private")
        self.signature = found[function]
        more = range(len(self.signature.arguments) - len(names))
        self._names = (*names, *(f"result {number}" for number in more))
        self._type = _type_of(self._buffers, function)

    def verify(self, values: Mapping[str, Any]) -> None:
        """Call it in a copy of the process; raises `OutOfBounds` for an access that is. What else may end the copy ends
        any process."""
        lowered = self._buffers.run(f"{VERIFY},{LOWERING}").result
        tried(self.bound(Library(self._buffers, lowered, only=self.signature.name), values)[1], self._buffers.unit)

    def library(self, made: Module | None = None) -> Library:
        """The compiled module, or what passes made of it. Raises `CompileError` where it cannot be lowered, and
        `MytritonError` if the function is another one by now."""
        if made is None:
            return Library(self._buffers, self._buffers.run(LOWERING).result, only=self.signature.name)
        made = on_buffers(made, self.signature.name)
        now = _type_of(made, self.signature.name)
        if now and now != self._type:
            raise MytritonError(f"the passes make `{self.signature.name}` {now}, which was {self._type}")
        return Library(self._buffers, made.run(LOWERING).result, only=self.signature.name)

    def bound(self, library: Library, values: Mapping[str, Any]) -> tuple[list[Any], Callable[[], Any]]:
        """Arguments made for the function, and a call with them."""
        args = arguments(self.signature, self._names, values)
        return args, library[self.signature.name].bind(*args)

    def call(self, library: Library, values: Mapping[str, Any]) -> Result:
        """Call it once."""
        args, call = self.bound(library, values)
        start = time.perf_counter()
        returned = call()
        seconds = time.perf_counter() - start
        found = {n: a for n, a in zip(self._names, args, strict=True) if isinstance(a, np.ndarray)}
        if self.signature.result is not None:
            found["result"] = np.asarray(returned)
        return Result(found, seconds)


def compared(made: Result, reference: Result) -> tuple[OutputReport, ...]:
    """Each array, and the result, against the reference. Passes may add up in another order: what that makes of sums
    over an axis is allowed for."""
    longest = max((extent for value in reference.values.values() for extent in value.shape), default=1)
    reports = []
    for name, value in reference.values.items():
        found = np.asarray(made.values[name])
        rtol, atol = (each * max(1, longest) for each in tolerance(found.dtype))
        reports.append(compare(name, found, value, rtol, atol))
    return tuple(reports)


def _type_of(module: Module, function: str) -> str:
    """The type of a function, layouts of its arrays aside (descriptors say them); '' once it is of the LLVM dialect."""
    with module.native() as native:
        for op in native.body.operations:
            if op.operation.name == "func.func" and symbol(op.operation) == function:
                return re.sub(r",\s*(?=>)", "", _TYPE.sub("", str(op.operation.attributes["function_type"])))
    return ""

"""MLIR functions as Python functions on NumPy arrays, compiled for the processor they are called on.

    double = jit(parse(text))["double"]
    double(array)

Arrays are passed as they are, by descriptors; numbers by value. What does not fit the function's types is refused
before anything runs, as machine code would not notice.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from mytriton import checked
from mytriton.backends.mlir.run import native_stderr
from mytriton.diagnostics import CompileError, Diagnostic, LaunchError, MytritonError, OptionError
from mytriton.mlir import memref
from mytriton.mlir.bounds import VERIFY, tried
from mytriton.mlir.module import Module, source_lines, span_of
from mytriton.mlir.signature import ArrayType, NumberType, Signature, signatures
from mytriton.mlir.symbols import undefined
from mytriton.source import SourceUnit

#: From functions on memrefs, vectors and structured control flow to the LLVM dialect, for the processor at hand.
LOWERING = (
    "func.func(llvm-request-c-wrappers),convert-vector-to-scf,convert-linalg-to-loops,lower-affine,convert-scf-to-cf,"
    "expand-strided-metadata,lower-affine,"
    "convert-vector-to-llvm{enable-x86vector=true vector-contract-lowering=outerproduct},"
    "convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-index-to-llvm,finalize-memref-to-llvm,"
    "convert-func-to-llvm,convert-cf-to-llvm,convert-ub-to-llvm,reconcile-unrealized-casts"
)

#: From functions on tensors to functions on memrefs in row-major order, which `LOWERING` takes.
BUFFERS = (
    "one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},"
    "canonicalize,cse"
)

#: How the functions begin that take descriptors by pointers.
_INTERFACE = "_mlir_ciface_"


def has_tensors(module: Module) -> bool:
    """Whether operations of a module are on tensors, or functions of it."""
    with module.native() as native:
        return "tensor<" in str(native)


def jit(
    module: Module,
    pipeline: str = LOWERING,
    *,
    libraries: Sequence[str | Path] = (),
    level: int = 3,
    check_bounds: bool = False,
) -> Library:
    """Lower a module by a pipeline and compile it at an optimization level of LLVM (0 to 3). `libraries` are paths of
    shared libraries that it calls. With `check_bounds` accesses of memrefs are checked, and a call that has one out of
    bounds raises `OutOfBounds` before it changes any array: each is made twice, first in a copy of the process
    (`bounds.tried`). Raises `CompileError` with the pass that failed, `MytritonError` if operations are left that LLVM
    does not know."""
    checked.module(module, "mlir.jit")
    checked.expect(pipeline, str, "mlir.jit", "the text of a pipeline")
    checked.expect_all(libraries, (str, Path), "mlir.jit", "a list of the paths of libraries")
    if level not in range(4):
        raise OptionError(f"level={level!r}: the optimization levels of LLVM are 0, 1, 2 and 3")
    if not isinstance(check_bounds, bool):
        raise OptionError(f"check_bounds={check_bounds!r}: it is True or False")
    lowered = module.run(f"{VERIFY},{pipeline}" if check_bounds else pipeline).result
    return Library(module, lowered, [str(path) for path in libraries], level, tried=check_bounds)


class Library(Mapping[str, "Function"]):
    """The compiled functions of a module, by name. Their code lives as long as any of them. `LaunchError` says why one
    that is asked for cannot be called."""

    def __init__(
        self,
        module: Module,
        lowered: Module,
        libraries: Sequence[str] = (),
        level: int = 3,
        only: str = "",
        tried: bool = False,
    ) -> None:
        """`lowered` is what became of `module`, whose functions have their types from it; `only` names one of them;
        calls are `tried` if it has checks."""
        from mlir.execution_engine import ExecutionEngine

        found, self._refused = signatures(module, only)
        if self._refused and not found:
            raise LaunchError(next(iter(self._refused.values())))
        error, self.lowered = "", lowered
        with lowered.native() as native:
            if rest := _not_lowered(native):
                raise MytritonError(f"these operations are not lowered to LLVM: {', '.join(rest)}")
            missing = undefined(native, libraries)
            missing.pop(memref.COPY, None)
            if missing:
                raise _undefined(lowered, missing)
            with native_stderr() as stderr:
                try:
                    self._engine = ExecutionEngine(native, opt_level=level, shared_libs=list(libraries))
                    self._engine.raw_register_runtime(memref.COPY, ctypes.cast(memref.copy_function(), ctypes.c_void_p))
                    functions = {
                        name: Function(self._engine, s, module.unit if tried else None) for name, s in found.items()
                    }
                except RuntimeError as raised:
                    error = str(raised)
        if error:
            raise MytritonError("\n".join(filter(None, ("LLVM cannot link the module:", error, stderr()))))
        self._functions = MappingProxyType(functions)

    def __repr__(self) -> str:
        return f"<Library of {'; '.join(str(f.signature) for f in self.values()) or 'no functions'}>"

    def __getitem__(self, name: str) -> Function:
        try:
            return self._functions[name]
        except KeyError:
            if name in self._refused:
                raise LaunchError(self._refused[name]) from None
            raise KeyError(f"no function {name!r}; there are {', '.join(self._functions) or 'none'}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._functions

    def __iter__(self) -> Any:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)


class Function:
    """One compiled function. Calling it releases the GIL."""

    def __init__(self, engine: Any, signature: Signature, unit: SourceUnit | None = None) -> None:
        """Of a function with checks `unit` is the text that they are about."""
        self.signature = signature
        self._unit = unit
        self._engine = engine  # keeps the code
        self._entry = engine.lookup(signature.name)

    def __repr__(self) -> str:
        return f"<Function {self.signature}>"

    def __call__(self, *args: Any) -> Any:
        """Run on NumPy arrays, in place, and numbers; what the function returns, arrays as copies. Raises `LaunchError`
        for arguments that are not of its types."""
        return self.bind(*args)()

    def bind(self, *args: Any) -> Callable[[], Any]:
        """A call with these arguments, checked and packed once."""
        signature = self.signature
        if len(args) != len(signature.arguments):
            raise LaunchError(f"`{signature.name}` takes {len(signature.arguments)} arguments, got {len(args)}")
        slots: list[Any] = []
        for number, (type_, arg) in enumerate(zip(signature.arguments, args, strict=True)):
            where = f"argument {number} of `{signature.name}`"
            slots.append(_array(type_, arg, where) if isinstance(type_, ArrayType) else _number(type_, arg, where))
        returned = _returned(signature)
        # Arrays are handed back through pointers to descriptors, which come first; numbers through the last slot.
        first = isinstance(signature.result, ArrayType)
        every = [returned, *slots] if first else [*slots, *([] if returned is None else [returned])]
        descriptors = [s for s in every if isinstance(s, ctypes.Array)]
        held = {id(d): ctypes.pointer(d) for d in descriptors}
        packed = (ctypes.c_void_p * max(1, len(every)))(
            *(ctypes.addressof(held[id(s)]) if id(s) in held else ctypes.addressof(s) for s in every)
        )
        entry, finish = self._entry, _finish(signature, returned, slots)

        vars(packed)["needs"] = (self, args, every, held)  # what the pointers point to lives as long

        def call() -> Any:
            entry(packed)
            return finish() if finish is not None else None

        unit = self._unit
        if unit is None:
            return call

        def checked_call() -> Any:
            if cause := tried(partial(entry, packed), unit):
                why = f"ends its process by {cause}, and no access that MLIR can check is out of bounds"
                raise LaunchError(f"`{signature.name}` {why}")
            return call()

        return checked_call


def _array(type_: ArrayType, arg: Any, where: str) -> ctypes.Array[ctypes.c_int64]:
    if not isinstance(arg, np.ndarray):
        raise LaunchError(f"{where} must be a NumPy array ({type_}), got {type(arg).__name__}")
    if problem := type_.refuses(arg):
        raise LaunchError(f"{where} is {type_}; {problem}")
    return memref.descriptor(arg)


def _number(type_: NumberType, arg: Any, where: str) -> Any:
    try:
        return type_.packed(arg)
    except (TypeError, ValueError, OverflowError) as error:
        raise LaunchError(f"{where} is {type_}; {error}") from None


def _returned(signature: Signature) -> Any:
    match signature.result:
        case ArrayType() as type_:
            return memref.empty(len(type_.shape))
        case NumberType() as type_:
            return type_.packed(0)
    return None


def _finish(signature: Signature, returned: Any, slots: Sequence[Any]) -> Callable[[], Any] | None:
    match signature.result:
        case NumberType() as number:
            return lambda: number.unpacked(returned)
        case ArrayType() as type_:
            given = {slot[0] for slot in slots if isinstance(slot, ctypes.Array)}
            free = ctypes.CDLL(None).free
            free.argtypes, free.restype = [ctypes.c_void_p], None

            def take() -> Any:
                array = memref.taken(returned, type_.dtype)
                if returned[0] not in given:  # the function allocated it
                    free(returned[0])
                return array

            return take
    return None


def _undefined(module: Module, missing: Mapping[str, str]) -> CompileError:
    """An error at the first use of each of these names."""
    hint = "give the path of the shared library that has it: jit(module, libraries=[...])"
    source = source_lines(module.unit.text)
    found = [
        Diagnostic("MT608", f"{_called(name)} is declared, but nothing defines it", span_of(where, source), hint=hint)
        for name, where in missing.items()
    ]
    return CompileError(found, (module.unit,))


def _called(name: str) -> str:
    plain = name.removeprefix(_INTERFACE)
    return f"`{name}`" + (f", the C interface of `{plain}`," if plain != name else "")


def _not_lowered(native: Any) -> list[str]:
    from mytriton.mlir.module import operations

    return sorted(name for name in operations(native) if name.split(".")[0] not in ("llvm", "builtin"))

"""The types of a module's functions, and what may be passed for them."""

from __future__ import annotations

import ctypes
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

from mytriton.diagnostics import MytritonError
from mytriton.mlir.module import Module
from mytriton.mlir.symbols import symbol
from mytriton.records import dataclass

#: Element types by MLIR's names, as NumPy holds them. Signs are the operations' business in MLIR.
DTYPES: dict[str, tuple[np.dtype[Any], ...]] = {
    "i1": (np.dtype(bool),),
    **{f"i{bits}": (np.dtype(f"i{bits // 8}"), np.dtype(f"u{bits // 8}")) for bits in (8, 16, 32, 64)},
    "index": (np.dtype(np.int64), np.dtype(np.uint64)),
    "f16": (np.dtype(np.float16),),
    "bf16": (np.dtype(ml_dtypes.bfloat16),),
    "f32": (np.dtype(np.float32),),
    "f64": (np.dtype(np.float64),),
    "f8E4M3FN": (np.dtype(ml_dtypes.float8_e4m3fn),),
    "f8E5M2": (np.dtype(ml_dtypes.float8_e5m2),),
}

#: Operations that only read an argument.
_READS = (
    *("affine.load", "memref.dim", "memref.load"),
    *("vector.gather", "vector.load", "vector.maskedload", "vector.transfer_read"),
)


@dataclass(frozen=True, slots=True)
class ArrayType:
    """`memref<4x?xf32>`: extents, and the distances between elements in elements, None where any will do. `strides` is
    None if elements are to be in row-major order. `offset` is that of the first element; `written` says whether the
    function may write to it."""

    text: str
    element: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...] | None = None
    offset: int | None = 0
    written: bool = True

    @property
    def dtype(self) -> np.dtype[Any]:
        """What arrays of this type hold, where one is made."""
        return DTYPES[self.element][0]

    def refuses(self, array: np.ndarray[Any, Any]) -> str:
        """Why an array cannot be passed, and what would do; '' if it can."""
        if array.dtype not in DTYPES[self.element]:
            return f"the array holds {array.dtype}; use .astype({DTYPES[self.element][0]})"
        if array.ndim != len(self.shape):
            return f"the array has {array.ndim} axes"
        if any(want not in (None, have) for want, have in zip(self.shape, array.shape, strict=True)):
            return f"the array is of shape {array.shape}"
        if self.offset:
            return "an array begins with its first element; write `offset: 0` or `offset: ?`"
        if self.strides is None and not array.flags.c_contiguous:
            return "the array is not contiguous; pass a copy, or give the memref a strided layout"
        if self.strides is not None:
            distances = zip(self.strides, array.strides, array.shape, strict=True)
            if any(n > 1 and want not in (None, have / array.itemsize) for want, have, n in distances):
                return f"the array has strides of {array.strides} bytes; write `?` for those that vary"
        if self.written and not array.flags.writeable:
            return "the array is read-only, and the function may write to it; pass a copy"
        return "" if array.flags.aligned else "the array is not aligned to its elements; pass a copy"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class NumberType:
    """An integer, `index` or float."""

    text: str

    def packed(self, number: Any) -> Any:
        """The number as it lies in memory; raises TypeError, ValueError or OverflowError if it is none of this type."""
        dtype = DTYPES[self.text][0]
        array = np.asarray(number)
        if array.shape != ():
            raise TypeError(f"got an array of shape {array.shape}")
        if dtype.kind in "iu":
            if array.dtype.kind not in "iub":
                raise TypeError(f"got {array.dtype}")
            value, bits = int(array), dtype.itemsize * 8
            if not -(1 << bits - 1) <= value < 1 << bits:
                raise OverflowError(f"{value} does not fit")
            raw = (value % (1 << bits)).to_bytes(dtype.itemsize, "little")
        else:
            with np.errstate(over="ignore"):
                made = array.astype(dtype)
            if np.isfinite(array) and not np.isfinite(made.astype(np.float64)):
                raise OverflowError(f"{number} does not fit")
            raw = made.tobytes()
        return ctypes.c_uint64(int.from_bytes(raw, "little"))

    def unpacked(self, memory: Any) -> Any:
        """The Python number in memory."""
        dtype = DTYPES[self.text][0]
        return np.frombuffer(memory, dtype, 1)[0].item()

    def __str__(self) -> str:
        return self.text


Type: TypeAlias = "ArrayType | NumberType"


@dataclass(frozen=True, slots=True)
class Signature:
    """A function's name, the types of its arguments, and that of its result, if it has one."""

    name: str
    arguments: tuple[Type, ...]
    result: Type | None

    def __str__(self) -> str:
        made = f"{self.name}({', '.join(map(str, self.arguments))})"
        return made if self.result is None else f"{made} -> {self.result}"


def signatures(module: Module, only: str = "") -> tuple[dict[str, Signature], dict[str, str]]:
    """Those of the functions that have a body and are not private, or of one alone; and of those that cannot be called,
    as no argument here can be of a type of theirs, why."""
    found: dict[str, Signature] = {}
    refused: dict[str, str] = {}
    with module.native() as native:
        for view in native.body.operations:
            op = view.operation
            if op.name != "func.func" or not op.regions[0].blocks:
                continue
            if "sym_visibility" in op.attributes and str(op.attributes["sym_visibility"]) == '"private"':
                continue
            name = symbol(op)
            if only not in ("", name):
                continue
            try:
                found[name] = _signature(name, op)
            except MytritonError as error:
                refused[name] = str(error)
    return found, refused


def _signature(name: str, op: Any) -> Signature:
    """That of a native function; raises `MytritonError` for a type that no argument here can be."""
    from mlir import ir

    type_ = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    results = [_type(t, f"result of `{name}`") for t in type_.results]
    if len(results) > 1:
        raise MytritonError(f"`{name}` returns {len(results)} values; return one, and write others to memrefs")
    given = enumerate(zip(type_.inputs, op.regions[0].blocks[0].arguments, strict=True))
    arguments = tuple(_type(t, f"argument {i} of `{name}`", _may_write(value)) for i, (t, value) in given)
    return Signature(name, arguments, results[0] if results else None)


def _type(native: Any, where: str, written: bool = True) -> Type:
    from mlir import ir

    text = str(native)
    if text in DTYPES:
        return NumberType(text)
    if isinstance(native, ir.MemRefType) and str(native.element_type) in DTYPES:
        shape = tuple(None if native.is_dynamic_dim(i) else native.get_dim_size(i) for i in range(native.rank))
        return ArrayType(text, str(native.element_type), shape, *_layout(native), written)
    raise MytritonError(f"{where} is {text}, for which no NumPy array or number can be passed")


def _layout(native: Any) -> tuple[tuple[int | None, ...] | None, int | None]:
    """The strides and the offset of a memref: None for what varies, and for strides that say row-major order."""
    from mlir import ir

    if ir.AffineMapAttr.get(ir.AffineMap.get_identity(native.rank)) == native.layout:
        return None, 0
    strides, offset = native.get_strides_and_offset()
    varies = ir.ShapedType.get_dynamic_stride_or_offset()
    known = tuple(None if stride == varies else stride for stride in strides)
    return known, None if offset == varies else offset


def _may_write(argument: Any) -> bool:
    """Whether something else than a load is done with a native argument."""
    return any(use.owner.name not in _READS for use in argument.uses)

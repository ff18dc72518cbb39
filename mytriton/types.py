"""The types of the tile language: scalars, pointers, blocks, and how two of them combine.

Promotion follows Triton (SEMANTICS "promotion"): the higher kind wins (bool < int < float), then the wider type, and
unsigned at equal width; f16 with bf16 gives f32; a Python number takes the type of the block or scalar it meets if its
kind allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind = Literal["bool", "int", "float"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar element type. `bits` is its width in registers and, but for i1 (one byte), in memory; `signed` matters
    for integers only."""

    name: str
    kind: Kind
    bits: int
    signed: bool = field(default=True, repr=False)

    def __str__(self) -> str:
        return "bool" if self.kind == "bool" else self.name

    @property
    def is_float8(self) -> bool:
        """Whether the elements are floats of 8 bits: moved, chosen among and converted; all else is of float32."""
        return self.kind == "float" and self.bits == 8

    @property
    def computed(self) -> ScalarType:
        """The type in which the language computes with such elements: f32 for float8, else their own."""
        return f32 if self.is_float8 else self

    @property
    def bytes(self) -> int:
        """Bytes one element takes in memory; i1 takes one byte, any non-zero value being true."""
        return max(1, self.bits // 8)

    @property
    def low(self) -> int:
        """The least value of an integer type."""
        return -(1 << self.bits - 1) if self.signed else 0

    @property
    def high(self) -> int:
        """The greatest value of an integer type."""
        return (1 << self.bits - self.signed) - 1

    @property
    def signless(self) -> str:
        """The name in languages where operations, not integer types, are signed or not (MLIR, LLVM IR). A float8 is
        held as its bits there."""
        return self.name if self.signed and not self.is_float8 else f"i{self.bits}"


@dataclass(frozen=True, slots=True)
class PointerType:
    """A pointer to global memory holding elements of one scalar type."""

    element: ScalarType

    def __str__(self) -> str:
        return f"ptr<{self.element}>"


@dataclass(frozen=True, slots=True)
class BlockType:
    """A block (tile) of scalars or pointers; extents are powers of two."""

    shape: tuple[int, ...]
    element: ScalarType | PointerType

    def __str__(self) -> str:
        return f"vector<{'x'.join(map(str, self.shape))} x {self.element}>"


Type: TypeAlias = ScalarType | PointerType | BlockType

i1 = ScalarType("i1", "bool", 1)
i8 = ScalarType("i8", "int", 8)
i16 = ScalarType("i16", "int", 16)
i32 = ScalarType("i32", "int", 32)
i64 = ScalarType("i64", "int", 64)
u8 = ScalarType("u8", "int", 8, signed=False)
u16 = ScalarType("u16", "int", 16, signed=False)
u32 = ScalarType("u32", "int", 32, signed=False)
u64 = ScalarType("u64", "int", 64, signed=False)
f8e4nv = ScalarType("f8e4nv", "float", 8)
f8e5 = ScalarType("f8e5", "float", 8)
f16 = ScalarType("f16", "float", 16)
bf16 = ScalarType("bf16", "float", 16)
f32 = ScalarType("f32", "float", 32)
f64 = ScalarType("f64", "float", 64)

INTEGERS = (i8, i16, i32, i64, u8, u16, u32, u64)
FLOAT8 = (f8e4nv, f8e5)
#: The largest number of each: what is beyond it, and infinity, become it.
FLOAT8_LARGEST = {f8e4nv: 448.0, f8e5: 57344.0}
#: The floats that are computed with.
FLOATS = (f16, bf16, f32, f64)
SCALARS: dict[str, ScalarType] = {t.name: t for t in (i1, *INTEGERS, *FLOAT8, *FLOATS)}

_RANK = {"bool": 0, "int": 1, "float": 2}


def element_of(type_: Type) -> ScalarType | PointerType:
    """The element type of a block, or the scalar itself."""
    return type_.element if isinstance(type_, BlockType) else type_


def shape_of(type_: Type) -> tuple[int, ...]:
    """The shape of a block; () for a scalar."""
    return type_.shape if isinstance(type_, BlockType) else ()


def with_element(type_: Type, element: ScalarType | PointerType) -> Type:
    """`type_` with another element type and the same shape."""
    return BlockType(type_.shape, element) if isinstance(type_, BlockType) else element


def is_float(type_: Type) -> bool:
    """Whether the elements are floating point."""
    element = element_of(type_)
    return isinstance(element, ScalarType) and element.kind == "float"


def is_float8(type_: Type) -> bool:
    """Whether the elements are floats of 8 bits."""
    element = element_of(type_)
    return isinstance(element, ScalarType) and element.is_float8


def is_integer(type_: Type) -> bool:
    """Whether the elements are integers (i1 is not one)."""
    element = element_of(type_)
    return isinstance(element, ScalarType) and element.kind == "int"


def is_unsigned(type_: Type) -> bool:
    """Whether the elements are unsigned integers."""
    element = element_of(type_)
    return isinstance(element, ScalarType) and element.kind == "int" and not element.signed


def is_bool(type_: Type) -> bool:
    """Whether the elements are i1."""
    return element_of(type_) == i1


def is_pointer(type_: Type) -> bool:
    """Whether the elements are pointers."""
    return isinstance(element_of(type_), PointerType)


def counts_as(element: ScalarType | PointerType) -> ScalarType:
    """The type that operators take a number in: i32 for a bool, f32 for a float8, else its own."""
    assert isinstance(element, ScalarType)
    return i32 if element == i1 else element.computed


def promote(a: ScalarType, b: ScalarType) -> ScalarType:
    """The common type of two runtime operands: kind, then width, then unsigned; f16 with bf16 gives f32, and so does
    bf16 with an integer or bool (Triton's rule: an integer rarely survives bf16's 8 bits). Two different float8 give
    f16, which holds both; float8 with bf16, an integer or a bool gives f32."""
    if a == b:
        return a
    if _RANK[a.kind] != _RANK[b.kind]:
        higher = a if _RANK[a.kind] > _RANK[b.kind] else b
        return f32 if higher == bf16 or higher.is_float8 else higher
    if a.is_float8 or b.is_float8:
        return f16 if a.bits == b.bits else f32 if bf16 in (a, b) else a if a.bits > b.bits else b
    if a.bits == b.bits:
        if a.kind == "float":
            return f32  # f16 and bf16 are the only two floats of one width
        return b if a.signed else a
    return a if a.bits > b.bits else b

"""The operations: fields, type rule, effect and meaning of each, in one place.

Operands of a binary operation always have one type; the builder inserts the casts and splats. What an operation
computes is stated in its docstring, executed by `interp.py`, and holds on every backend (SEMANTICS).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from mytriton.ir.core import Effect, Op, TypeRuleError, Value, attribute, operand
from mytriton.types import (
    BlockType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    i1,
    i32,
    is_bool,
    is_float,
    is_integer,
    is_pointer,
    shape_of,
    with_element,
)


def _require(condition: bool, message: str, *args: object) -> None:
    # The message is put together only if it is needed: rules run for every operation, after every pass.
    if not condition:
        raise TypeRuleError(message.format(*args))


# --- constants and conversions: these print inside their user ---------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Constant(Op):
    """A scalar known at compile time: bool for i1, int for integers, float (exact in `type`) for floats."""

    opcode: ClassVar[str] = "constant"
    inline: ClassVar[bool] = True
    value: bool | int | float = attribute()
    type: ScalarType = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        python = {"bool": bool, "int": int, "float": float}[self.type.kind]
        _require(type(self.value) is python, "a constant of type {} cannot be {!r}", self.type, self.value)
        if isinstance(self.value, int) and self.type.kind == "int":
            half = 1 << self.type.bits - 1
            _require(-half <= self.value < half, "{} does not fit {}", self.value, self.type)
        return (self.type,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cast(Op):
    """Element conversion. Float to integer truncates toward zero, saturates, and NaN gives 0; integer narrowing wraps;
    float narrowing rounds to nearest even; to i1 is `!= 0` (NaN is true); i1 to a number is 0 or 1."""

    opcode: ClassVar[str] = "cast"
    inline: ClassVar[bool] = True
    source: Value = operand()
    to: ScalarType = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        _require(not is_pointer(self.source.type), "a pointer cannot be cast to a number")
        return (with_element(self.source.type, self.to),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Splat(Op):
    """A block all of whose elements are one scalar."""

    opcode: ClassVar[str] = "splat"
    inline: ClassVar[bool] = True
    source: Value = operand()
    shape: tuple[int, ...] = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        element = self.source.type
        if isinstance(element, BlockType):
            raise TypeRuleError("only a scalar can be splat to a block")
        return (BlockType(self.shape, element),)


# --- indices ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramId(Op):
    """This program's position along an axis (0, 1 or 2) of the launch grid, an i32."""

    opcode: ClassVar[str] = "program_id"
    axis: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        _require(self.axis in (0, 1, 2), "axis must be 0, 1 or 2, got {}", self.axis)
        return (i32,)


@dataclass(frozen=True, eq=False, kw_only=True)
class NumPrograms(Op):
    """The extent of an axis (0, 1 or 2) of the launch grid, an i32."""

    opcode: ClassVar[str] = "num_programs"
    axis: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        _require(self.axis in (0, 1, 2), "axis must be 0, 1 or 2, got {}", self.axis)
        return (i32,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Arange(Op):
    """The i32 block start, start + 1, ..., end - 1; its length is a power of two."""

    opcode: ClassVar[str] = "arange"
    start: int = attribute()
    end: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        length = self.end - self.start
        power = length > 0 and length & (length - 1) == 0
        _require(power, "the length of a range must be a power of 2, got {}", length)
        return (BlockType((length,), i32),)


# --- memory -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class AddPtr(Op):
    """A pointer moved by `offset` elements; the offset is sign-extended to 64 bits, the address wraps."""

    opcode: ClassVar[str] = "addptr"
    pointer: Value = operand()
    offset: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        _require(is_pointer(self.pointer.type), "the base must be a pointer, got {}", self.pointer.type)
        _require(is_integer(self.offset.type), "a pointer offset must be an integer, got {}", self.offset.type)
        _require(
            shape_of(self.pointer.type) == shape_of(self.offset.type),
            "shapes of pointer and offset differ: {} and {}",
            self.pointer.type,
            self.offset.type,
        )
        return (self.pointer.type,)


def _check_mask(mask: Value | None, shape: tuple[int, ...]) -> None:
    if mask is not None:
        _require(is_bool(mask.type), "a mask must be bool, got {}", mask.type)
        _require(shape_of(mask.type) == shape, "the mask's shape {} differs from {}", shape_of(mask.type), shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class Load(Op):
    """The elements at `pointer`. Masked-off elements touch no memory and read as `other` (0 if it is absent)."""

    opcode: ClassVar[str] = "load"
    effect: ClassVar[Effect] = Effect.READ
    pointer: Value = operand()
    mask: Value | None = operand(None)
    other: Value | None = operand(None)

    def type_rule(self) -> tuple[Type, ...]:
        pointer = element_of(self.pointer.type)
        if not isinstance(pointer, PointerType):
            raise TypeRuleError(f"a load needs a pointer, got {self.pointer.type}")
        _check_mask(self.mask, shape_of(self.pointer.type))
        type_ = with_element(self.pointer.type, pointer.element)
        _require(self.other is None or self.mask is not None, "`other` without a mask")
        _require(self.other is None or self.other.type == type_, "`other` must have the type of the loaded elements")
        return (type_,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Store(Op):
    """Write `value` to `pointer` where `mask` is true. Of several elements with one address, one wins; a scalar store
    happens once a program."""

    opcode: ClassVar[str] = "store"
    effect: ClassVar[Effect] = Effect.WRITE
    pointer: Value = operand()
    value: Value = operand()
    mask: Value | None = operand(None)

    def type_rule(self) -> tuple[Type, ...]:
        pointer = element_of(self.pointer.type)
        if not isinstance(pointer, PointerType):
            raise TypeRuleError(f"a store needs a pointer, got {self.pointer.type}")
        _require(
            self.value.type == with_element(self.pointer.type, pointer.element),
            "cannot store {} through {}",
            self.value.type,
            self.pointer.type,
        )
        _check_mask(self.mask, shape_of(self.pointer.type))
        return ()


# --- elementwise ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Unary(Op):
    """An elementwise operation of one operand; the result has its type."""

    accepts: ClassVar[str] = "number"
    source: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        _accept(self.opcode, self.accepts, self.source.type)
        return (self.source.type,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Binary(Op):
    """An elementwise operation of two operands of one type; the result has that type."""

    accepts: ClassVar[str] = "number"
    lhs: Value = operand()
    rhs: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        _require(self.lhs.type == self.rhs.type, "operand types differ: {} and {}", self.lhs.type, self.rhs.type)
        _accept(self.opcode, self.accepts, self.lhs.type)
        return (self.lhs.type,)


def _accept(opcode: str, accepts: str, type_: Type) -> None:
    what, fits = _ACCEPTS[accepts]
    _require(fits(type_), "`{}` takes {}, got {}", opcode, what, type_)


#: What an operation may take: how the message calls it, and the test.
_ACCEPTS: dict[str, tuple[str, Callable[[Type], bool]]] = {
    "number": ("numbers", lambda t: is_float(t) or is_integer(t)),
    "float": ("floats", is_float),
    "integer": ("integers", is_integer),
    "bits": ("integers or bool", lambda t: is_integer(t) or is_bool(t)),
    "any": ("numbers", lambda t: not is_pointer(t)),
}


class Add(Binary):
    """x + y. Integers wrap; floats are correctly rounded."""

    opcode = "add"
    commutative = True


class Sub(Binary):
    """x - y. Integers wrap; floats are correctly rounded."""

    opcode = "sub"


class Mul(Binary):
    """x * y. Integers wrap; floats are correctly rounded."""

    opcode = "mul"
    commutative = True


class Div(Binary):
    """True division of floats, correctly rounded (f16 and bf16 arrive here as f32)."""

    opcode = "div"
    accepts = "float"


class FloorDiv(Binary):
    """Integer division that truncates toward zero, as in Triton. By 0, or INT_MIN by -1: any value, never a trap."""

    opcode = "idiv"
    accepts = "integer"


class Mod(Binary):
    """Remainder with the dividend's sign (C's `%` and `fmod`). Integer x % 0: any value, never a trap."""

    opcode = "mod"


class And(Binary):
    """Bitwise and."""

    opcode = "and"
    accepts = "bits"
    commutative = True


class Or(Binary):
    """Bitwise or."""

    opcode = "or"
    accepts = "bits"
    commutative = True


class Xor(Binary):
    """Bitwise exclusive or."""

    opcode = "xor"
    accepts = "bits"
    commutative = True


class Maximum(Binary):
    """The larger; if one operand is NaN, the other (IEEE 754-2019 maximumNumber, `np.fmax`). Which zero is returned
    for -0.0 and +0.0 is unspecified."""

    opcode = "maximum"
    commutative = True


class Minimum(Binary):
    """The smaller; if one operand is NaN, the other (IEEE 754-2019 minimumNumber, `np.fmin`). Which zero is returned
    for -0.0 and +0.0 is unspecified."""

    opcode = "minimum"
    commutative = True


class Neg(Unary):
    """-x; integers wrap, floats flip the sign bit (so -0.0 comes from 0.0)."""

    opcode = "neg"


class Not(Unary):
    """Bitwise complement; logical not for bool."""

    opcode = "not"
    accepts = "bits"


class Abs(Unary):
    """|x|; INT_MIN wraps to itself, floats clear the sign bit."""

    opcode = "abs"


class Exp(Unary):
    """e**x; at most 2 ULP for f32, 4 ULP for f64; f16 and bf16 are computed in f32 and rounded once."""

    opcode = "exp"
    accepts = "float"


class Log(Unary):
    """Natural logarithm; at most 2 ULP for f32, 4 ULP for f64; f16 and bf16 are computed in f32 and rounded once."""

    opcode = "log"
    accepts = "float"


class Sqrt(Unary):
    """Square root, correctly rounded."""

    opcode = "sqrt"
    accepts = "float"


@dataclass(frozen=True, eq=False, kw_only=True)
class Compare(Op):
    """An elementwise comparison of two operands of one type; the result is bool. Floats compare ordered (NaN is
    unequal to everything); pointers compare by address."""

    lhs: Value = operand()
    rhs: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        _require(self.lhs.type == self.rhs.type, "operand types differ: {} and {}", self.lhs.type, self.rhs.type)
        return (with_element(self.lhs.type, i1),)


class CmpEq(Compare):
    """x == y."""

    opcode = "cmp_eq"
    commutative = True


class CmpNe(Compare):
    """x != y (true for NaN)."""

    opcode = "cmp_ne"
    commutative = True


class CmpLt(Compare):
    """x < y."""

    opcode = "cmp_lt"


class CmpLe(Compare):
    """x <= y."""

    opcode = "cmp_le"


class CmpGt(Compare):
    """x > y."""

    opcode = "cmp_gt"


class CmpGe(Compare):
    """x >= y."""

    opcode = "cmp_ge"


@dataclass(frozen=True, eq=False, kw_only=True)
class Select(Op):
    """`if_true` where `condition`, else `if_false`, elementwise; all three have one shape."""

    opcode: ClassVar[str] = "select"
    condition: Value = operand()
    if_true: Value = operand()
    if_false: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        _require(is_bool(self.condition.type), "a condition must be bool, got {}", self.condition.type)
        _require(
            self.if_true.type == self.if_false.type,
            "the two choices have different types: {} and {}",
            self.if_true.type,
            self.if_false.type,
        )
        _require(
            shape_of(self.condition.type) == shape_of(self.if_true.type),
            "shapes of condition and choices differ: {} and {}",
            self.condition.type,
            self.if_true.type,
        )
        return (self.if_true.type,)


#: Every concrete operation by opcode.
OPCODES: dict[str, type[Op]] = {}


def _collect(cls: type[Op]) -> None:
    if cls.opcode:
        OPCODES[cls.opcode] = cls
    for sub in cls.__subclasses__():
        _collect(sub)


_collect(Op)

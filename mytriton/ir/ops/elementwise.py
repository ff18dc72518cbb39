"""Operations that act on each element by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from mytriton.ir.core import Op, Value, operand
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import (
    Type,
    i1,
    is_bool,
    is_float,
    is_float8,
    is_integer,
    is_pointer,
    is_unsigned,
    shape_of,
    with_element,
)


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
        require(self.lhs.type == self.rhs.type, "operand types differ: {} and {}", self.lhs.type, self.rhs.type)
        _accept(self.opcode, self.accepts, self.lhs.type)
        return (self.lhs.type,)


def _accept(opcode: str, accepts: str, type_: Type) -> None:
    what, fits = _ACCEPTS[accepts]
    require(fits(type_), "`{}` takes {}, got {}", opcode, what, type_)


def is_computed(type_: Type) -> bool:
    """Whether the elements are floats that operations take: float8 is converted to these first."""
    return is_float(type_) and not is_float8(type_)


#: What an operation may take: how the message calls it, and the test.
_ACCEPTS: dict[str, tuple[str, Callable[[Type], bool]]] = {
    "number": ("numbers", lambda t: is_computed(t) or is_integer(t)),
    "float": ("floats", is_computed),
    "signed": ("floats or signed integers", lambda t: is_computed(t) or (is_integer(t) and not is_unsigned(t))),
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


class AddRn(Binary):
    """x + y of floats, which no multiplication is fused into, whatever `enable_fp_fusion` says."""

    opcode = "add_rn"
    accepts = "float"
    commutative = True


class MulRn(Binary):
    """x * y of floats, which is fused into no addition, whatever `enable_fp_fusion` says."""

    opcode = "mul_rn"
    accepts = "float"
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


class Shl(Binary):
    """x shifted left by y bits. The amount counts as unsigned; the width or more gives 0."""

    opcode = "shl"
    accepts = "integer"


class Shr(Binary):
    """x shifted right by y bits, filled with the sign bit if the type is signed, else with zeros. The amount counts as
    unsigned; the width or more gives 0, or all sign bits."""

    opcode = "shr"
    accepts = "integer"


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


class MaximumNan(Binary):
    """The larger; NaN if one operand is NaN (IEEE 754-2019 maximum, `np.maximum`). Which zero is returned for -0.0 and
    +0.0 is unspecified."""

    opcode = "maximum_nan"
    accepts = "float"
    commutative = True


class MinimumNan(Binary):
    """The smaller; NaN if one operand is NaN (IEEE 754-2019 minimum, `np.minimum`). Which zero is returned for -0.0 and
    +0.0 is unspecified."""

    opcode = "minimum_nan"
    accepts = "float"
    commutative = True


class Neg(Unary):
    """-x; integers wrap, floats flip the sign bit (so -0.0 comes from 0.0)."""

    opcode = "neg"


class Not(Unary):
    """Bitwise complement; logical not for bool."""

    opcode = "not"
    accepts = "bits"


class Popcount(Unary):
    """The number of one bits, in the type of x."""

    opcode = "popcount"
    accepts = "integer"


class Abs(Unary):
    """|x|; INT_MIN wraps to itself, floats clear the sign bit."""

    opcode = "abs"
    accepts = "signed"


@dataclass(frozen=True, eq=False, kw_only=True)
class Compare(Op):
    """An elementwise comparison of two operands of one type; the result is bool. Floats compare ordered (NaN is
    unequal to everything); pointers compare by address."""

    lhs: Value = operand()
    rhs: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        require(self.lhs.type == self.rhs.type, "operand types differ: {} and {}", self.lhs.type, self.rhs.type)
        require(not is_float8(self.lhs.type), "`{}` takes no float8", self.opcode)
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
        require(is_bool(self.condition.type), "a condition must be bool, got {}", self.condition.type)
        require(
            self.if_true.type == self.if_false.type,
            "the two choices have different types: {} and {}",
            self.if_true.type,
            self.if_false.type,
        )
        require(
            shape_of(self.condition.type) == shape_of(self.if_true.type),
            "shapes of condition and choices differ: {} and {}",
            self.condition.type,
            self.if_true.type,
        )
        return (self.if_true.type,)

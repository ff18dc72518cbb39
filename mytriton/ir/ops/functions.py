"""Functions of floats, element by element.

The bound of each holds on every backend: at most 2 ULP for f32 and 4 ULP for f64, no value flushed; f16 and bf16 are
computed in f32, or more, and rounded once. `mytriton/language/math.py` says what was measured, by `tests/accuracy.py`.
"""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Op, Value, operand
from mytriton.ir.ops.elementwise import Binary, Unary, is_computed
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import Type


class Exp(Unary):
    """e**x."""

    opcode = "exp"
    accepts = "float"


class Exp2(Unary):
    """2**x."""

    opcode = "exp2"
    accepts = "float"


class Log(Unary):
    """Natural logarithm: NaN below 0, -inf at 0."""

    opcode = "log"
    accepts = "float"


class Log2(Unary):
    """Logarithm to base 2: NaN below 0, -inf at 0."""

    opcode = "log2"
    accepts = "float"


class Sqrt(Unary):
    """Square root, correctly rounded: NaN below 0."""

    opcode = "sqrt"
    accepts = "float"


class Rsqrt(Unary):
    """1 / sqrt(x): NaN below 0, the infinity of its sign at either zero, 0 at infinity."""

    opcode = "rsqrt"
    accepts = "float"


class Sin(Unary):
    """Sine of radians, at the largest arguments too; NaN at infinities."""

    opcode = "sin"
    accepts = "float"


class Cos(Unary):
    """Cosine of radians, at the largest arguments too; NaN at infinities."""

    opcode = "cos"
    accepts = "float"


class Tanh(Unary):
    """Hyperbolic tangent; keeps the sign of zero."""

    opcode = "tanh"
    accepts = "float"


class Erf(Unary):
    """Error function, 2 / sqrt(pi) times the integral of exp(-t*t) from 0 to x; keeps the sign of zero."""

    opcode = "erf"
    accepts = "float"


class Floor(Unary):
    """The largest integer not above x, exact; keeps the sign of zero."""

    opcode = "floor"
    accepts = "float"


class Ceil(Unary):
    """The smallest integer not below x, exact; -0.0 for x above -1 and below 0."""

    opcode = "ceil"
    accepts = "float"


class Rare(Unary):
    """A function that few kernels need: every backend computes it of f32 in f64 and rounds once, since its libraries'
    own for f32 are up to 4 ULP off."""

    accepts = "float"


class Acos(Rare):
    """Arc cosine, from 0 to pi: NaN beyond -1 and 1."""

    opcode = "acos"


class Acosh(Rare):
    """Inverse hyperbolic cosine, not negative: NaN below 1."""

    opcode = "acosh"


class Asin(Rare):
    """Arc sine, from -pi/2 to pi/2: NaN beyond -1 and 1; keeps the sign of zero."""

    opcode = "asin"


class Asinh(Rare):
    """Inverse hyperbolic sine; keeps the sign of zero."""

    opcode = "asinh"


class Atan(Rare):
    """Arc tangent, from -pi/2 to pi/2; keeps the sign of zero."""

    opcode = "atan"


class Atanh(Rare):
    """Inverse hyperbolic tangent: infinities at -1 and 1, NaN beyond; keeps the sign of zero."""

    opcode = "atanh"


class Cbrt(Rare):
    """Cube root, also of negative numbers; keeps the sign of zero."""

    opcode = "cbrt"


class Cosh(Rare):
    """Hyperbolic cosine."""

    opcode = "cosh"


class Erfc(Rare):
    """Complementary error function, 1 - erf(x), without what that difference loses."""

    opcode = "erfc"


class Log10(Rare):
    """Logarithm to base 10: NaN below 0, -inf at 0."""

    opcode = "log10"


class Sinh(Rare):
    """Hyperbolic sine; keeps the sign of zero."""

    opcode = "sinh"


class Tan(Rare):
    """Tangent of radians, at the largest arguments too; NaN at infinities."""

    opcode = "tan"


class Atan2(Binary):
    """The angle of the point (rhs, lhs) to the first axis, from -pi to pi, with the sign of lhs. f32 is computed in f64
    and rounded once."""

    opcode = "atan2"
    accepts = "float"


class Pow(Binary):
    """x**y as C's `pow` has it: 1 for y = 0 and for x = 1, whatever the other is, also NaN; NaN for x below 0 and a y
    that is not an integer."""

    opcode = "pow"
    accepts = "float"


@dataclass(frozen=True, eq=False, kw_only=True)
class Fma(Op):
    """x * y + z with one rounding, correct for every type; all three and the result have one type."""

    opcode: ClassVar[str] = "fma"
    x: Value = operand()
    y: Value = operand()
    z: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        types = (self.x.type, self.y.type, self.z.type)
        require(len(set(types)) == 1, "operand types differ: {}, {} and {}", *types)
        require(is_computed(types[0]), "`{}` takes floats, got {}", self.opcode, types[0])
        return (types[0],)

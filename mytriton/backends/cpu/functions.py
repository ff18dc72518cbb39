"""Functions of whole vectors of f32, computed in f64: exp2, log2, tanh, erf, sin and cos.

LLVM takes such a function of a vector apart into calls of the C library, an element each. In f64 a short polynomial and
simple arithmetic are so much better than f32 that results are rounded once, denormals too: at most 0.51 ULP off, which
`tests/accuracy.py` measures. Coefficients interpolate at Chebyshev nodes and were computed for this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import e, log2, pi

from mytriton.backends.cpu.writer import type_name
from mytriton.types import f32, f64, i1, i64

#: 2**r for r from -1/2 to 1/2.
_EXP2 = (
    0.9999999999595618, 0.6931471805568324, 0.24022651213498092, 0.05550410906325866,
    0.009618025613318041, 0.0013333478473686068, 0.000154697292141169, 1.5303700711232526e-05,
)  # fmt: skip

#: log2(1 + r) / r for 1 + r from sqrt(1/2) to sqrt(2).
_LOG2 = (
    1.4426950408862034, -0.7213475203430864, 0.4808983490727961, -0.360673789771007, 0.2885387623299667,
    -0.24044662677727344, 0.2061086952830918, -0.18043268521015463, 0.16018226130239457, -0.142523407554651,
    0.13062890256678275, -0.134789287385167, 0.13113743750770926, -0.06806287587100925,
)  # fmt: skip

#: tanh(x) / x of x**2, for |x| up to 0.63.
_TANH = (
    0.9999999998295944, -0.33333329151491037, 0.1333316464105567, -0.05394252066809715, 0.02168013339328089,
    -0.008130431408736812, 0.002102294858585508,
)  # fmt: skip

#: erf(x) / x of x**2, for |x| up to 1; and erf of x - 2.5, for x from 1 to 4, beyond which it is 1 in f32.
_ERF = (
    1.1283791670946768, -0.3761263888963531, 0.11283791308604596, -0.026866133235096595, 0.0052237834771924575,
    -0.0008542637997140894, 0.00011956562568681057, -1.3909340023900378e-05, 1.0589380644151249e-06,
)  # fmt: skip
_ERF_ABOVE = (
    0.999593047982555, 0.0021782784771495686, -0.005445708486667073, 0.008350212261757067, -0.008622419844859024,
    0.006116585071582949, -0.0027982086376200557, 0.0005445393425853198, 0.00025986925893390993,
    -0.00025343038158190205, 8.002250162841585e-05, 7.760157569005771e-06, -1.5153995102577983e-05,
    3.461528317745029e-06, 7.357494723869646e-07, -3.511631992568962e-07, 1.7133284694214677e-08,
)  # fmt: skip

#: sin(x) / x and cos(x) of x**2, for |x| up to pi/4.
_SIN = (
    0.9999999999956297, -0.1666666663131027, 0.00833332875517132, -0.0001983919396448553, 2.717269367046388e-06,
)  # fmt: skip
_COS = (
    0.9999999999999437, -0.4999999999934461, 0.04166666654292815, -0.0013888880342838388, 2.4798918150065432e-05,
    -2.7172666561458867e-07,
)  # fmt: skip

#: Added to a number below 2**51, it leaves no bits for a fraction: the sum's last bits are the nearest integer.
_ROUNDER = 1.5 * 2.0**52
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17
#: From here on sin and cos are left to the C library: multiples of pi/2 would need more bits.
_LARGE = 2.0**30
_MANTISSA = 52
_INTERNAL = "attributes {llvm.linkage = #llvm.linkage<internal>}"


class _Body:
    """Lines of a function of `%x`; each method writes an operation and gives the name of its result."""

    def __init__(self, width: int) -> None:
        self.lines: list[str] = []
        self.f32, self.f64, self.i64, self.i1 = (type_name(t, width) for t in (f32, f64, i64, i1))

    def write(self, text: str) -> str:
        name = f"%{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        return self.write(f"arith.constant dense<{value!r}> : {self.f64}")

    def integer(self, value: int) -> str:
        return self.write(f"arith.constant dense<{value}> : {self.i64}")

    def do(self, operation: str, *operands: str) -> str:
        kind = self.i64 if operation.endswith("i") else self.f64
        return self.write(f"{operation} {', '.join(operands)} : {kind}")

    def bits(self, value: str) -> str:
        return self.write(f"arith.bitcast {value} : {self.f64} to {self.i64}")

    def of_bits(self, value: str) -> str:
        return self.write(f"arith.bitcast {value} : {self.i64} to {self.f64}")

    def shift(self, value: str, operation: str, by: int) -> str:
        return self.write(f"{operation} {value}, {self.integer(by)} : {self.i64}")

    def is_(self, predicate: str, lhs: str, rhs: float | str) -> str:
        other = rhs if isinstance(rhs, str) else self.number(rhs)
        return self.write(f"arith.cmpf {predicate}, {lhs}, {other} : {self.f64}")

    def choose(self, condition: str, if_true: str, if_false: str) -> str:
        return self.write(f"arith.select {condition}, {if_true}, {if_false} : {self.i1}, {self.f64}")

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        value = self.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            value = self.do("math.fma", value, x, self.number(coefficient))
        return value

    def clip(self, value: str, low: float, high: float) -> str:
        """Within limits; NaN stays NaN."""
        value = self.choose(self.is_("olt", value, low), self.number(low), value)
        return self.choose(self.is_("ogt", value, high), self.number(high), value)

    def nearest(self, value: str) -> tuple[str, str]:
        """The nearest integer, and a number with its last bits."""
        rounder = self.number(_ROUNDER)
        shifted = self.do("arith.addf", value, rounder)
        return self.do("arith.subf", shifted, rounder), shifted

    def exp2(self, value: str) -> str:
        """2**value, whose exponent must fit."""
        whole, shifted = self.nearest(value)
        power = self.polynomial(_EXP2, self.do("arith.subf", value, whole))
        exponent = self.shift(self.bits(shifted), "arith.shli", _MANTISSA)
        return self.of_bits(self.do("arith.addi", self.bits(power), exponent))


def _exp2(body: _Body, x: str) -> str:
    return body.exp2(body.clip(x, -160.0, 140.0))


def _log2(body: _Body, x: str) -> str:
    root = body.bits(body.number(0.5**0.5))
    above = body.do("arith.subi", body.bits(x), root)
    exponent = body.shift(above, "arith.shrsi", _MANTISSA)
    mantissa = body.do("arith.subi", body.bits(x), body.shift(exponent, "arith.shli", _MANTISSA))
    rounder = body.number(_ROUNDER)
    shifted = body.of_bits(body.do("arith.addi", body.bits(rounder), exponent))
    whole = body.do("arith.subf", shifted, rounder)
    rest = body.do("arith.subf", body.of_bits(mantissa), body.number(1.0))
    result = body.do("math.fma", rest, body.polynomial(_LOG2, rest), whole)
    infinity = body.write(f"arith.constant dense<0x7FF0000000000000> : {body.f64}")
    lowest = body.write(f"arith.constant dense<0xFFF0000000000000> : {body.f64}")
    nan = body.write(f"arith.constant dense<0x7FF8000000000000> : {body.f64}")
    result = body.choose(body.is_("olt", x, infinity), result, x)  # infinity and NaN are their own
    result = body.choose(body.is_("oeq", x, 0.0), lowest, result)
    return body.choose(body.is_("olt", x, 0.0), nan, result)


def _tanh(body: _Body, x: str) -> str:
    size = body.clip(body.do("math.absf", x), 0.0, 16.0)
    power = body.exp2(body.do("arith.mulf", size, body.number(2 * log2(e))))
    one = body.number(1.0)
    fraction = body.do("arith.divf", body.number(2.0), body.do("arith.addf", power, one))
    large = body.do("math.copysign", body.do("arith.subf", one, fraction), x)
    small = body.do("arith.mulf", x, body.polynomial(_TANH, body.do("arith.mulf", x, x)))
    return body.choose(body.is_("olt", size, 0.625), small, large)


def _erf(body: _Body, x: str) -> str:
    size = body.clip(body.do("math.absf", x), 0.0, 4.0)
    large = body.polynomial(_ERF_ABOVE, body.do("arith.subf", size, body.number(2.5)))
    small = body.do("arith.mulf", x, body.polynomial(_ERF, body.do("arith.mulf", x, x)))
    return body.choose(body.is_("olt", size, 1.0), small, body.do("math.copysign", large, x))


def _circular(quarter: int) -> Callable[[_Body, str], str]:
    """sin(x + quarter * pi/2)."""

    def write(body: _Body, x: str) -> str:
        turns, shifted = body.nearest(body.do("arith.mulf", x, body.number(2 / pi)))
        back = body.do("arith.negf", turns)
        rest = body.do("math.fma", back, body.number(_HALF_PI[0]), x)
        rest = body.do("math.fma", back, body.number(_HALF_PI[1]), rest)
        square = body.do("arith.mulf", rest, rest)
        sine = body.do("arith.mulf", rest, body.polynomial(_SIN, square))
        cosine = body.polynomial(_COS, square)
        turn = body.do("arith.addi", body.bits(shifted), body.integer(quarter))
        odd = body.do("arith.andi", turn, body.integer(1))
        is_odd = body.write(f"arith.trunci {odd} : {body.i64} to {body.i1}")
        sign = body.shift(body.do("arith.andi", turn, body.integer(2)), "arith.shli", 62)
        signed = body.bits(body.choose(is_odd, cosine, sine))
        return body.of_bits(body.do("arith.xori", signed, sign))

    return write


_FUNCTIONS: dict[str, Callable[[_Body, str], str]] = {
    "exp2": _exp2,
    "log2": _log2,
    "tanh": _tanh,
    "erf": _erf,
    "sin": _circular(0),
    "cos": _circular(1),
}


def precise_function(name: str, opcode: str, width: int) -> list[str]:
    """`@name(x)`: the function called `opcode` of vectors of `width` f32."""
    body = _Body(width)
    result = _FUNCTIONS[opcode](body, body.write(f"arith.extf %x : {body.f32} to {body.f64}"))
    rounded = body.write(f"arith.truncf {result} : {body.f64} to {body.f32}")
    inner = name if opcode not in ("sin", "cos") else f"{name}.small"
    head = f"func.func private @{inner}(%x: {body.f32}) -> {body.f32} {_INTERNAL} {{"
    lines = [head, *body.lines, f"  func.return {rounded} : {body.f32}", "}"]
    return lines if inner == name else [*lines, *_unless_large(name, inner, opcode, body)]


def _unless_large(name: str, inner: str, opcode: str, body: _Body) -> list[str]:
    """The function of any x: large ones, infinities and NaN are left to the C library."""
    return [
        f"func.func private @{name}(%x: {body.f32}) -> {body.f32} {_INTERNAL} {{",
        f"  %size = math.absf %x : {body.f32}",
        f"  %limit = arith.constant dense<{_LARGE!r}> : {body.f32}",
        f"  %small = arith.cmpf olt, %size, %limit : {body.f32}",
        f"  %all = vector.reduction <and>, %small : {body.i1} into i1",
        f"  %result = scf.if %all -> ({body.f32}) {{",
        f"    %fast = func.call @{inner}(%x) : ({body.f32}) -> {body.f32}",
        f"    scf.yield %fast : {body.f32}",
        "  } else {",
        f"    %slow = math.{opcode} %x : {body.f32}",
        f"    scf.yield %slow : {body.f32}",
        "  }",
        f"  func.return %result : {body.f32}",
        "}",
    ]


#: The functions that are here.
PRECISE = frozenset(_FUNCTIONS)

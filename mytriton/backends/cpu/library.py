"""Functions that an emitted module may call: address tests, and exp and log of whole vectors.

LLVM takes an exp or log of a vector apart into calls of the C library, an element each; these run at 20 to 40 times
their speed. Coefficients are minimax fits made for this file; the bounds are tested (`tests/backends/test_cpu_ops.py`).
"""

from __future__ import annotations

from mytriton.backends.cpu.functions import PRECISE, precise_function
from mytriton.backends.cpu.writer import POINTER, type_name
from mytriton.types import f32, i1, i32

#: Whether the distance in bytes between two addresses is not between `low` and `high` (both excluded). Unsigned
#: arithmetic makes that one comparison: distances below `low` become huge.
_APART = f"""\
(%from: {POINTER}, %to: {POINTER}, %low: i64, %high: i64) -> i1
  %one = arith.constant 1 : i64
  %from.address = llvm.ptrtoint %from : {POINTER} to i64
  %to.address = llvm.ptrtoint %to : {POINTER} to i64
  %distance = arith.subi %to.address, %from.address : i64
  %lowest = arith.addi %low, %one : i64
  %above = arith.subi %distance, %lowest : i64
  %range = arith.subi %high, %lowest : i64
  %apart = arith.cmpi uge, %above, %range : i64
  func.return %apart : i1"""

#: e**x = 2**k * e**r with k = round(x / ln 2), |r| <= ln(2) / 2, and e**r = 1 + r + r**2 * p(r) with p of degree 5.
#: ln 2 is taken off in two parts, the first short enough to be exact. 2**k is multiplied in two halves, so that results
#: round once where they become denormal or infinite. Beyond -104.5 and 89 nothing but 0 and infinity is left.
_EXP = """\
(%x: F32) -> F32
  %low = arith.constant dense<-104.5> : F32
  %high = arith.constant dense<89.0> : F32
  %is_low = arith.cmpf olt, %x, %low : F32
  %is_high = arith.cmpf ogt, %x, %high : F32
  %above = arith.select %is_low, %low, %x : I1, F32
  %y = arith.select %is_high, %high, %above : I1, F32
  %log2e = arith.constant dense<1.44269504> : F32
  %scaled = arith.mulf %y, %log2e : F32
  %rounded = math.roundeven %scaled : F32
  %is_number = arith.cmpf ord, %x, %x : F32
  %zero = arith.constant dense<0.0> : F32
  %k = arith.select %is_number, %rounded, %zero : I1, F32
  %ln2_high = arith.constant dense<-0.693359375> : F32
  %ln2_low = arith.constant dense<2.12194440e-4> : F32
  %r0 = math.fma %k, %ln2_high, %y : F32
  %r = math.fma %k, %ln2_low, %r0 : F32
POLYNOMIAL
  %r2 = arith.mulf %r, %r : F32
  %tail = math.fma %p, %r2, %r : F32
  %one = arith.constant dense<1.0> : F32
  %power = arith.addf %tail, %one : F32
  %exponent = arith.fptosi %k : F32 to I32
  %bit = arith.constant dense<1> : I32
  %bias = arith.constant dense<127> : I32
  %width = arith.constant dense<23> : I32
  %half = arith.shrsi %exponent, %bit : I32
  %rest = arith.subi %exponent, %half : I32
  %half.biased = arith.addi %half, %bias : I32
  %rest.biased = arith.addi %rest, %bias : I32
  %half.bits = arith.shli %half.biased, %width : I32
  %rest.bits = arith.shli %rest.biased, %width : I32
  %half.scale = arith.bitcast %half.bits : I32 to F32
  %rest.scale = arith.bitcast %rest.bits : I32 to F32
  %partly = arith.mulf %power, %half.scale : F32
  %result = arith.mulf %partly, %rest.scale : F32
  func.return %result : F32"""

_EXP_COEFFICIENTS = (0.5, 0.16666666, 0.04166628, 0.008333504, 0.0013945753, 0.00019789266)

#: log(2**e * m) = e * ln 2 + log(m) with m from sqrt(1/2) to sqrt(2), and with r = m - 1, which is exact,
#: log(m) = r - r**2 / 2 + r**3 * p(r), p of degree 8. Denormals are scaled up first.
_LOG = """\
(%x: F32) -> F32
  %smallest = arith.constant dense<1.17549435e-38> : F32
  %is_small = arith.cmpf olt, %x, %smallest : F32
  %up = arith.constant dense<8388608.0> : F32
  %larger = arith.mulf %x, %up : F32
  %y = arith.select %is_small, %larger, %x : I1, F32
  %bits = arith.bitcast %y : F32 to I32
  %root = arith.constant dense<0x3F3504F3> : I32
  %width = arith.constant dense<23> : I32
  %from_root = arith.subi %bits, %root : I32
  %exponent = arith.shrsi %from_root, %width : I32
  %exponent.bits = arith.shli %exponent, %width : I32
  %m.bits = arith.subi %bits, %exponent.bits : I32
  %m = arith.bitcast %m.bits : I32 to F32
  %one = arith.constant dense<1.0> : F32
  %r = arith.subf %m, %one : F32
  %scale = arith.constant dense<-23> : I32
  %none = arith.constant dense<0> : I32
  %shift = arith.select %is_small, %scale, %none : I1, I32
  %e.int = arith.addi %exponent, %shift : I32
  %e = arith.sitofp %e.int : I32 to F32
POLYNOMIAL
  %r2 = arith.mulf %r, %r : F32
  %r3 = arith.mulf %r2, %r : F32
  %ln2_low = arith.constant dense<-2.12194440e-4> : F32
  %ln2_high = arith.constant dense<0.693359375> : F32
  %minus_half = arith.constant dense<-0.5> : F32
  %e.low = arith.mulf %e, %ln2_low : F32
  %cubic = math.fma %r3, %p, %e.low : F32
  %square = math.fma %r2, %minus_half, %cubic : F32
  %small = arith.addf %r, %square : F32
  %finite = math.fma %e, %ln2_high, %small : F32
  %infinity = arith.constant dense<0x7F800000> : F32
  %minus_infinity = arith.constant dense<0xFF800000> : F32
  %nan = arith.constant dense<0x7FC00000> : F32
  %zero = arith.constant dense<0.0> : F32
  %is_finite = arith.cmpf olt, %x, %infinity : F32
  %is_zero = arith.cmpf oeq, %x, %zero : F32
  %is_negative = arith.cmpf olt, %x, %zero : F32
  %a = arith.select %is_finite, %finite, %x : I1, F32
  %b = arith.select %is_zero, %minus_infinity, %a : I1, F32
  %result = arith.select %is_negative, %nan, %b : I1, F32
  func.return %result : F32"""

_LOG_COEFFICIENTS = (
    0.3333331048488617,
    -0.25000008940696716,
    0.2000216692686081,
    -0.16668090224266052,
    0.1421855241060257,
    -0.12403085082769394,
    0.11893528699874878,
    -0.116943359375,
    0.0675753727555275,
)


#: The operations that are functions of vectors here.
VECTOR_FUNCTIONS = PRECISE | {"exp", "log"}


def apart_function() -> list[str]:
    """`@memory.apart(from, to, low, high) -> i1`."""
    return _function("memory.apart", _APART)


def vector_function(opcode: str, width: int) -> list[str]:
    """`@exp.v16f32(x)` on vectors of `width` f32, and others by the name of their operation; at most 1 ULP off."""
    if opcode in PRECISE:
        return precise_function(vector_function_name(opcode, width), opcode, width)
    body, coefficients = {"exp": (_EXP, _EXP_COEFFICIENTS), "log": (_LOG, _LOG_COEFFICIENTS)}[opcode]
    body = body.replace("POLYNOMIAL", "\n".join(_horner(coefficients)))
    for name, type_ in (("F32", f32), ("I32", i32), ("I1", i1)):
        body = body.replace(name, type_name(type_, width))
    return _function(vector_function_name(opcode, width), body)


def vector_function_name(opcode: str, width: int) -> str:
    """The symbol of a `vector_function`, without the @."""
    return f"{opcode}.v{width}f32"


def _horner(coefficients: tuple[float, ...]) -> list[str]:
    """The polynomial of %r with these coefficients, lowest first, as %p."""
    names = [f"%c{n}" for n in range(len(coefficients))]
    lines = [f"  {n} = arith.constant dense<{c!r}> : F32" for n, c in zip(names, coefficients, strict=True)]
    value = names.pop()
    while names:
        result = f"%p{len(names) - 1}" if len(names) > 1 else "%p"
        lines.append(f"  {result} = math.fma {value}, %r, {names.pop()} : F32")
        value = result
    return lines


def _function(name: str, body: str) -> list[str]:
    signature, *lines = body.split("\n")
    head = f"func.func private @{name}{signature} attributes {{llvm.linkage = #llvm.linkage<internal>}} {{"
    return [head, *lines, "}"]

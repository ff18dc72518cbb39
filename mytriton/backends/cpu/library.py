"""Functions that an emitted module may call: address tests, and exp and log of whole vectors.

LLVM takes an exp or log of a vector apart into calls of the C library, an element each; these run at 20 to 40 times
their speed. Coefficients are minimax fits made for this file; the bounds are tested (`tests/backends/test_cpu_ops.py`).
"""

from __future__ import annotations

from mytriton.backends.cpu.functions import PRECISE, precise_function
from mytriton.backends.cpu.host import has_avx512
from mytriton.backends.cpu.writer import LANES, POINTER, type_name
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

#: e**x = 2**k * e**r with k = round(x / ln 2), |r| <= ln(2) / 2, and e**r = 1 + r + r**2 * p(r) with p of degree 4.
#: Added to a number below 2**22, 1.5 * 2**23 leaves no bits for a fraction. ln 2 is taken off in two parts, the first
#: short enough to be exact. Beyond -104.5 and 89 nothing but 0 and infinity is left; NaN passes both limits.
_EXP = """\
(%x: F32) -> F32
  %low = arith.constant dense<-104.5> : F32
  %high = arith.constant dense<89.0> : F32
  %is_low = arith.cmpf ogt, %low, %x : F32
  %above = arith.select %is_low, %low, %x : I1, F32
  %is_high = arith.cmpf olt, %high, %above : F32
  %y = arith.select %is_high, %high, %above : I1, F32
  %log2e = arith.constant dense<1.44269504> : F32
  %rounder = arith.constant dense<12582912.0> : F32
  %shifted = math.fma %y, %log2e, %rounder : F32
  %k = arith.subf %shifted, %rounder : F32
  %ln2_high = arith.constant dense<-0.693359375> : F32
  %ln2_low = arith.constant dense<2.12194440e-4> : F32
  %r0 = math.fma %k, %ln2_high, %y : F32
  %r = math.fma %k, %ln2_low, %r0 : F32
POLYNOMIAL
  %one = arith.constant dense<1.0> : F32
  %slope = math.fma %p, %r, %one : F32
  %power = math.fma %slope, %r, %one : F32
SCALE
  func.return %result : F32"""

#: An instruction of AVX-512 multiplies by 2**k. Others do it in two halves, so that results round once where they
#: become denormal or infinite.
_SCALE_AT_ONCE = """\
  %all = arith.constant -1 : i16
  %to_nearest = arith.constant 4 : i32
  %result = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%power, %k, %power, %all, %to_nearest) \
: (F32, F32, F32, i16, i32) -> F32"""
_SCALE_IN_HALVES = """\
  %exponent.bits = arith.bitcast %shifted : F32 to I32
  %rounder.bits = arith.bitcast %rounder : F32 to I32
  %exponent = arith.subi %exponent.bits, %rounder.bits : I32
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
  %result = arith.mulf %partly, %rest.scale : F32"""

_EXP_COEFFICIENTS = (0.49999994, 0.16666521, 0.04166827, 0.0083686775, 0.0013820411)

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


#: x / d, correctly rounded, for a d that many are divided by: y and z are 1/d and what it leaves over, q is x/d to
#: within an ULP, and with the exact remainder x - q*d it rounds as the quotient does (Markstein, 1990). So that nothing
#: is denormal, |d| must be from 2**-30 to 2**30, and |x| from 2**-63 to 2**65, where the first two of the exponent's
#: bits differ. Five instructions and a test take half the time of a division by AVX-512.
_DIVIDE = """\
(%x: F32, %d: F32) -> F32
  %one = arith.constant dense<1.0> : F32
  %y = arith.divf %one, %d : F32
  %minus.d = arith.negf %d : F32
  %left = math.fma %minus.d, %y, %one : F32
  %z = arith.mulf %left, %y : F32
  %size = math.absf %d : F32
  %low = arith.constant dense<9.313225746154785e-10> : F32
  %high = arith.constant dense<1073741824.0> : F32
  %is_above = arith.cmpf oge, %size, %low : F32
  %is_below = arith.cmpf ole, %size, %high : F32
  %fits = arith.andi %is_above, %is_below : I1
  %first = arith.constant dense<0x40000000> : I32
  %none = arith.constant dense<0> : I32
  %tested = arith.select %fits, %first, %none : I1, I32
  %bits = arith.bitcast %x : F32 to I32
  %bit = arith.constant dense<1> : I32
  %moved = arith.shli %bits, %bit : I32
  %differ = arith.xori %bits, %moved : I32
  %found = arith.andi %differ, %tested : I32
  %good = arith.cmpi ne, %found, %none : I32
  %all = vector.reduction <and>, %good : I1 into i1
  %result = scf.if %all -> (F32) {
    %xz = arith.mulf %x, %z : F32
    %q = math.fma %x, %y, %xz : F32
    %remainder = math.fma %minus.d, %q, %x : F32
    %quotient = math.fma %remainder, %y, %q : F32
    scf.yield %quotient : F32
  } else {
    %divided = arith.divf %x, %d : F32
    scf.yield %divided : F32
  }
  func.return %result : F32"""

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
    body = body.replace("SCALE", _SCALE_AT_ONCE if width == LANES and has_avx512() else _SCALE_IN_HALVES)
    return _of_vectors(vector_function_name(opcode, width), body, width)


def divide_function(width: int) -> list[str]:
    """`@divide.v16f32(x, d)`, for elements of d that are equal and divide many x."""
    return _of_vectors(vector_function_name("divide", width), _DIVIDE, width)


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


def _of_vectors(name: str, body: str, width: int) -> list[str]:
    for word, type_ in (("F32", f32), ("I32", i32), ("I1", i1)):
        body = body.replace(word, type_name(type_, width))
    return _function(name, body)


def _function(name: str, body: str) -> list[str]:
    signature, *lines = body.split("\n")
    head = f"func.func private @{name}{signature} attributes {{llvm.linkage = #llvm.linkage<internal>}} {{"
    return [head, *lines, "}"]

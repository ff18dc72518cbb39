"""Elementwise operations as MLIR text, for scalars (gpu) and for `vector<WxT>` (cpu): one place, so both mean the same.

Whatever LLVM leaves undefined is settled here by SEMANTICS: integers wrap (no `nsw`), a divisor that would trap is
replaced, float to integer saturates, and f16/bf16 functions are computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mytriton.backends.mlir.casts import cast
from mytriton.backends.mlir.exp2 import exp2
from mytriton.backends.mlir.fma import fma
from mytriton.backends.mlir.writer import Writer
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.types import ScalarType, bf16, element_of, f16, f32, f64, i1, i16, i32, is_float

#: MLIR operation for integers (and bool), and for floats.
BINARY: Mapping[type[Op], tuple[str, str]] = {
    ops.Add: ("arith.addi", "arith.addf"),
    ops.Sub: ("arith.subi", "arith.subf"),
    ops.Mul: ("arith.muli", "arith.mulf"),
    ops.AddRn: ("", "arith.addf"),
    ops.MulRn: ("", "arith.mulf"),
    ops.Div: ("", "arith.divf"),
    ops.FloorDiv: ("arith.divsi", ""),
    ops.Mod: ("arith.remsi", "arith.remf"),
    ops.And: ("arith.andi", ""),
    ops.Or: ("arith.ori", ""),
    ops.Xor: ("arith.xori", ""),
    ops.Shl: ("arith.shli", ""),
    ops.Shr: ("arith.shrsi", ""),
    ops.Maximum: ("arith.maxsi", "arith.maxnumf"),
    ops.Minimum: ("arith.minsi", "arith.minnumf"),
    ops.MaximumNan: ("", "arith.maximumf"),
    ops.MinimumNan: ("", "arith.minimumf"),
    ops.Pow: ("", "math.powf"),
    ops.Atan2: ("", "math.atan2"),
}

#: The same of unsigned integers, where it is another.
_UNSIGNED = {
    "arith.divsi": "arith.divui",
    "arith.remsi": "arith.remui",
    "arith.shrsi": "arith.shrui",
    "arith.maxsi": "arith.maxui",
    "arith.minsi": "arith.minui",
}


def contractible(func: Func) -> frozenset[Value]:
    """Results of float multiplications that feed an addition or subtraction, and of those: where a fused
    multiply-add may be formed. Only these carry the `contract` flag."""
    made_by = func.definitions
    found: set[Value] = set()
    for op in func.walk():
        if isinstance(op, (ops.Add, ops.Sub)) and is_float(op.result.type):
            products = [v for v in op.operands if isinstance(made_by.get(v), ops.Mul)]
            if products:
                found.update(products, op.results)
    return frozenset(found)


class ElementEmitter(Writer):
    """Writes the elementwise operations of one function.

    write   takes each line, without indentation
    width   None for scalars; W for `vector<WxT>` operands and results
    fusion  allow contraction (`Target.enable_fp_fusion`)
    gpu     the target is NVPTX: use the forms that its lowering takes and keeps exact
    float8  the target has instructions that round to float8
    """

    def __init__(
        self,
        func: Func,
        write: Callable[[str], None],
        *,
        width: int | None = None,
        fusion: bool = False,
        gpu: bool = False,
        float8: bool = False,
    ) -> None:
        super().__init__(write, width, float8)
        self._gpu = gpu
        self._definitions = func.definitions
        self._contract = contractible(func) if fusion else frozenset()

    def emit(self, op: Op, result: str, operands: Sequence[str]) -> str:
        """Write `op`, leaving its result in the SSA name `result` (such as `%v3`), and return that. Takes `Cast`,
        `Bitcast`, `Select`, and every unary, binary and comparison operation on numbers. Temporaries are named after
        the result (`%v3_0`). Constants, splats and pointers are the caller's."""
        self.begin(result)
        element = _scalar(op.operands[-1])
        if isinstance(op, ops.Cast):
            return cast(self, operands[0], element, op.to, result, narrows_f64=self._gpu)
        if isinstance(op, ops.Bitcast):
            return self.convert("arith.bitcast", operands[0], element, _scalar(op.result), result)
        if isinstance(op, ops.Select):
            return self.select(operands[0], operands[1], operands[2], element, result)
        if isinstance(op, ops.Compare):
            return self.compare(type(op), operands[0], operands[1], element, result)
        if isinstance(op, ops.Unary):
            return self._unary(op, operands[0], element, result)
        if isinstance(op, ops.Fma):
            return fma(self, operands, element, result, narrows_f64=self._gpu)
        if not isinstance(op, ops.Binary):
            raise InternalError(f"{op.opcode} is not an elementwise operation")
        name = BINARY[type(op)][element.kind == "float"]
        name = name if element.signed else _UNSIGNED.get(name, name)
        if isinstance(op, (ops.Shl, ops.Shr)):
            return self._shift(name, op, operands, element, result)
        if isinstance(op, (ops.FloorDiv, ops.Mod)) and element.kind == "int":
            operands = (operands[0], self._safe_divisor(op.rhs, operands[0], operands[1], element))
        if isinstance(op, (ops.Div, ops.Mod, ops.Pow, ops.Atan2)) and element in (f16, bf16):
            return self._in_f32(name, operands, element, result)
        inexact = isinstance(op, ops.Atan2) or (isinstance(op, ops.Pow) and self._gpu)
        if inexact and element == f32:  # libdevice's powf may be 4 ULP off, atan2f 3
            wide = [self.convert("arith.extf", v, f32, f64) for v in operands]
            return self.convert("arith.truncf", self.apply(name, wide, f64), f64, f32, result)
        if element == bf16 and not self._gpu:
            return self._in_f32(name, operands, element, result)
        return self.apply(name, operands, element, result, contract=op.result in self._contract)

    def _in_f32(self, name: str, operands: Sequence[str], element: ScalarType, result: str) -> str:
        """f16 or bf16 in f32, rounded once at the end. MLIR's own emulation of bf16 would leave out the rounding
        between two operations."""
        wide = [self.convert("arith.extf", v, element, f32) for v in operands]
        return self.convert("arith.truncf", self.apply(name, wide, f32), f32, element, result)

    def _shift(self, name: str, op: ops.Binary, operands: Sequence[str], element: ScalarType, result: str) -> str:
        """A shift, whose amount LLVM wants below the width: larger ones give 0, or all sign bits."""
        value, amount = operands
        known = self._known(op.rhs)
        if known is not None and 0 <= known < element.bits:
            return self.apply(name, operands, element, result)
        last = self.constant(element.bits - 1, element)
        clamped = self.apply("arith.minui", (amount, last), element)
        if name == "arith.shrsi":
            return self.apply(name, (value, clamped), element, result)
        shifted, zero = self.apply(name, (value, clamped), element), self.constant(0, element)
        same = self.compare(ops.CmpEq, amount, clamped, element)
        return self.select(same, shifted, zero, element, result)

    def _safe_divisor(self, value: Value, lhs: str, rhs: str, element: ScalarType) -> str:
        """`rhs`, or 1 where dividing would be undefined: by 0, and INT_MIN by -1 (SEMANTICS: any value, no trap)."""
        known = self._known(value)
        if known is not None and known not in (0, -1):
            return rhs
        zero, one = (self.constant(n, element) for n in (0, 1))
        by_zero = self.compare(ops.CmpEq, rhs, zero, element)
        if not element.signed:
            return self.select(by_zero, one, rhs, element)
        minus_one, lowest = (self.constant(n, element) for n in (-1, element.low))
        by_minus_one = self.compare(ops.CmpEq, rhs, minus_one, element)
        is_lowest = self.compare(ops.CmpEq, lhs, lowest, element)
        overflows = self.apply("arith.andi", (by_minus_one, is_lowest), i1)
        unsafe = self.apply("arith.ori", (by_zero, overflows), i1)
        return self.select(unsafe, one, rhs, element)

    def _known(self, value: Value) -> bool | int | float | None:
        """The value of a constant, also of a splat one."""
        op = self._definitions.get(value)
        if isinstance(op, ops.Splat):
            op = self._definitions.get(op.source)
        return op.value if isinstance(op, ops.Constant) else None

    def _unary(self, op: ops.Unary, source: str, element: ScalarType, result: str) -> str:
        if isinstance(op, ops.Not):
            ones = self.constant(True if element.kind == "bool" else -1 if element.signed else element.high, element)
            return self.apply("arith.xori", (source, ones), element, result)
        if isinstance(op, (ops.Neg, ops.Abs)) and element.kind == "float":
            name = "arith.negf" if isinstance(op, ops.Neg) else "math.absf"
            if element == bf16 and not self._gpu:
                return self._in_f32(name, (source,), element, result)
            return self.apply(name, (source,), element, result)
        if isinstance(op, ops.Neg) and element == i16:
            # ptxas takes the result of neg.s16 for exact: widened or compared, -(-32768) would be 32768. LLVM makes
            # that instruction of every negation it recognizes; of these two exact products it does not.
            wide, factor = self.convert("arith.sitofp", source, i16, f32), self.constant(-0.5, f32)
            half = self.apply("arith.mulf", (wide, factor), f32)
            whole = self.apply("arith.mulf", (half, self.constant(2.0, f32)), f32)
            return self.convert("arith.trunci", self.convert("arith.fptosi", whole, f32, i32), i32, i16, result)
        if isinstance(op, ops.Neg):
            return self.apply("arith.subi", (self.constant(0, element), source), element, result)
        if isinstance(op, ops.Popcount):
            return self.intrinsic("llvm.ctpop", source, element, element, result)
        if isinstance(op, ops.Abs):
            return self._absolute(source, element, result)
        if element.bits == 16:  # f32's 24 bits are more than twice f16's: a square root rounded twice is still right
            wide = self._function(op, self.convert("arith.extf", source, element, f32), f32, "")
            return self.convert("arith.truncf", wide, f32, element, result)
        return self._function(op, source, element, result)

    def _absolute(self, source: str, element: ScalarType, result: str) -> str:
        """|x| as the complement plus one where x is negative. What LLVM knows to be an absolute value becomes PTX's
        abs, whose result ptxas takes for positive: widened or converted, the least integer would not be negative."""
        last = self.constant(element.bits - 1, element)
        sign = self.apply("arith.shrsi", (source, last), element)
        one_less = self.apply("arith.xori", (source, sign), element)
        carry = self.apply("arith.shrui", (source, last), element)
        return self.apply("arith.addi", (one_less, carry), element, result)

    def _function(self, op: ops.Unary, source: str, element: ScalarType, result: str) -> str:
        if isinstance(op, ops.Sqrt) and self._gpu:
            # math.sqrt of an f32 becomes libdevice's sqrt.approx there; the intrinsic is IEEE's sqrt.rn.
            return self.intrinsic("llvm.sqrt", source, element, element, result)
        if isinstance(op, ops.Exp2) and element == f32:
            return exp2(self, source, result)
        # The C library's tanhf may be 2.2 ULP off, those of rare functions 4.
        if element == f32 and (isinstance(op, ops.Rare) or (isinstance(op, ops.Tanh) and not self._gpu)):
            wide = self.apply(f"math.{op.opcode}", (self.convert("arith.extf", source, f32, f64),), f64)
            return self.convert("arith.truncf", wide, f64, f32, result)
        return self.apply(f"math.{op.opcode}", (source,), element, result)


def _scalar(value: Value) -> ScalarType:
    element = element_of(value.type)
    if not isinstance(element, ScalarType):
        raise InternalError(f"{value.id} is a pointer; an elementwise operation on numbers was expected")
    return element

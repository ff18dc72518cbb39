"""What each operation reads in CUDA C++: one entry an operation. Operands are texts that may be repeated or nested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from mytriton.backends.cuda.literals import c_type, literal
from mytriton.backends.cuda.prelude import Prelude
from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.types import FLOAT8, PointerType, ScalarType, bf16, f8e5, f16, f32, f64, i1, i16, u32, u64

_INFIX = {
    ops.Add: "+",
    ops.Sub: "-",
    ops.Mul: "*",
    ops.Div: "/",
    ops.And: "&",
    ops.Or: "|",
    ops.Xor: "^",
    ops.CmpEq: "==",
    ops.CmpNe: "!=",
    ops.CmpLt: "<",
    ops.CmpLe: "<=",
    ops.CmpGt: ">",
    ops.CmpGe: ">=",
}
#: Functions by the name they have for f64; f32's has an `f` behind it. All but exp2f and powf
#: (see below) are within the bounds of `ir/ops`: CUDA programming guide, "Mathematical Functions"; sqrt, fmod, fmax,
#: floor, ceil and fma are exact.
_FUNCTIONS = {
    ops.Exp: "exp",
    ops.Exp2: "exp2",
    ops.Log: "log",
    ops.Log2: "log2",
    ops.Sqrt: "sqrt",
    ops.Rsqrt: "rsqrt",
    ops.Sin: "sin",
    ops.Cos: "cos",
    ops.Tanh: "tanh",
    ops.Erf: "erf",
    ops.Floor: "floor",
    ops.Ceil: "ceil",
    ops.Pow: "pow",
    ops.Atan2: "atan2",
    **{op: op.opcode for op in ops.Rare.__subclasses__()},
    ops.Fma: "fma",
    ops.Abs: "fabs",
    ops.Mod: "fmod",
    ops.Maximum: "fmax",
    ops.Minimum: "fmin",
}
#: Functions by f32 and f64.
_BY_TYPE: dict[type[Op], tuple[str, str]] = {
    ops.AddRn: ("__fadd_rn", "__dadd_rn"),
    ops.MulRn: ("__fmul_rn", "__dmul_rn"),
}
_KEEPING_NAN: dict[type[Op], str] = {ops.MaximumNan: "mt_max_nan", ops.MinimumNan: "mt_min_nan"}
_OTHERS = (ops.FloorDiv, ops.Neg, ops.Not, ops.Popcount, ops.Select, ops.Bitcast)
_WRAPPING = (ops.Add, ops.Sub, ops.Mul)
_SHIFTS: dict[type[Op], tuple[str, str]] = {ops.Shl: ("mt_shl", "<<"), ops.Shr: ("mt_shr", ">>")}
_INTEGER_CALLS = {ops.FloorDiv: ("mt_div", "/"), ops.Mod: ("mt_mod", "%")}

#: The floats held as their bits.
_SHORT = (*FLOAT8, f16, bf16)

#: The elementwise operations there is an expression for.
ELEMENTWISE = frozenset((*_INFIX, *_FUNCTIONS, *_BY_TYPE, *_KEEPING_NAN, *_SHIFTS, *_OTHERS))

Constant: TypeAlias = bool | int | float | None


class Expressions:
    """Builds expressions for one kernel, noting the helper functions they call."""

    def __init__(self, prelude: Prelude, no_overflow: Callable[[Op], bool]) -> None:
        self._prelude = prelude
        self._no_overflow = no_overflow

    def cast(self, text: str, source: ScalarType, to: ScalarType) -> str:
        """`text`, a value of type `source`, as a value of type `to` (see `ir.ops.Cast`)."""
        call = self._prelude.call
        if source == to:
            return text
        if to == i1:
            return f"(({text} & {_magnitude(source)}) != 0)" if source in _SHORT else f"({text} != 0)"
        if source in _SHORT:
            return self.cast(self.widen(text, source), f32, to)
        if to in _SHORT:
            if source == f64:
                text = call("mt_f64_to_odd", text)
            elif source.kind == "int":  # f32 does not hold every integer: round once
                text = call("mt_u64_to_odd" if source == u64 else "mt_i64_to_odd", text)
            elif source == i1:
                text = f"(float){text}"
            return call(f"mt_f32_to_{to}", text)
        if source.kind == "float" and to.kind == "int":
            return call(f"mt_{source}_to_{to}", text)
        return f"({c_type(to)}){text}"

    def widen(self, text: str, type_: ScalarType) -> str:
        """A float operand in the type it is computed in: f32 for those held as their bits, else its own."""
        if type_ == f8e5:  # the upper half of an f16
            return self._prelude.call("mt_f16_to_f32", f"{text} << 8")
        return self._prelude.call(f"mt_{type_}_to_f32", text) if type_ in _SHORT else text

    def __call__(
        self, op: Op, element: ScalarType | PointerType, operands: list[str], constants: Sequence[Constant]
    ) -> str:
        """The expression of an elementwise operation on operands with elements `element`; `constants` are the values
        of those operands that are constants, None for the others. To be assigned to a variable of the result's type,
        which is what converts it."""
        if isinstance(op, ops.Select):
            return f"({operands[0]} ? {operands[1]} : {operands[2]})"
        if isinstance(op, ops.Bitcast):
            return self._bitcast(operands[0], element, op.to)
        if isinstance(element, PointerType):
            # C++ orders pointers into one array only; addresses are ordered always.
            operands = [f"(unsigned long long){text}" for text in operands]
            return f"({operands[0]} {_INFIX[type(op)]} {operands[1]})"
        if element.kind == "float":
            return self._float(op, element, operands, constants)
        if element.kind == "int":
            return self._integer(op, element, operands, constants)
        if isinstance(op, ops.Not):
            return f"(!{operands[0]})"
        return f"({operands[0]} {_INFIX[type(op)]} {operands[1]})"

    @staticmethod
    def _bitcast(text: str, source: ScalarType | PointerType, to: ScalarType | PointerType) -> str:
        """The same bits. Short floats are held as their bits; integers of one width convert to each other by theirs."""
        kinds = [t.kind if isinstance(t, ScalarType) and t in (f32, f64) else "bits" for t in (source, to)]
        if kinds[0] == kinds[1]:
            return text if source == to else f"({c_type(to)}){text}"
        assert isinstance(to, ScalarType)
        if kinds[1] == "float":
            return f"__int_as_float({text})" if to == f32 else f"__longlong_as_double({text})"
        return f"__float_as_int({text})" if source == f32 else f"__double_as_longlong({text})"

    def _float(self, op: Op, element: ScalarType, operands: list[str], constants: Sequence[Constant]) -> str:
        if isinstance(op, (ops.Neg, ops.Abs)) and element in (f16, bf16):
            return f"({operands[0]} {'^ 0x8000' if isinstance(op, ops.Neg) else '& 0x7fff'})"
        compute = self._computed_in(op, element)
        operands = [
            self.cast(text, element, compute) if constant is None else literal(constant, compute)
            for text, constant in zip(operands, constants, strict=True)
        ]
        if isinstance(op, ops.Neg):
            return f"(-({operands[0]}))" if operands[0].startswith("-") else f"(-{operands[0]})"
        if isinstance(op, ops.Fma) and element == bf16:
            return self.cast(self._prelude.call("mt_fma_to_odd", *operands), compute, element)
        function = _FUNCTIONS.get(type(op))
        if isinstance(op, ops.Exp2) and element == f32:  # exp2f may be 2.1 ULP off
            return self._prelude.call("mt_exp2", *operands)
        if isinstance(op, (ops.MaximumNan, ops.MinimumNan)):
            return self.cast(self._prelude.call(f"{_KEEPING_NAN[type(op)]}_{compute}", *operands), compute, element)
        if type(op) in _BY_TYPE:
            text = f"{_BY_TYPE[type(op)][compute == f64]}({', '.join(operands)})"
        elif function is not None:
            text = f"{function}{'f' if compute == f32 else ''}({', '.join(operands)})"
        else:
            text = f"({operands[0]} {_INFIX[type(op)]} {operands[1]})"
        # + - * / and sqrt computed in f32 and rounded again are correctly rounded in f16 and bf16: f32 has more than
        # twice their digits and two.
        return text if isinstance(op, ops.Compare) else self.cast(text, compute, element)

    @staticmethod
    def _computed_in(op: Op, element: ScalarType) -> ScalarType:
        """The type whose function has the bound that `op` on `element` must keep."""
        if isinstance(op, ops.Fma) and element in (f16, bf16):
            return f64  # holds the product; a sum of f16 that it does not hold is not near half way in f16
        if isinstance(op, (ops.Pow, ops.Atan2, ops.Rare)) and element == f32:
            return f64  # powf may be 4 ULP off, atan2f 3
        return f32 if element in (f16, bf16) else element

    def _integer(self, op: Op, element: ScalarType, operands: list[str], constants: Sequence[Constant]) -> str:
        if isinstance(op, ops.Neg) and element == i16:
            # ptxas takes the result of neg.s16 for exact: widened or compared, -(-32768) would be 32768.
            return f"((int)-(float){operands[0]})"
        if isinstance(op, ops.Neg):
            return f"({_as_unsigned('', 0, element)} - {operands[0]})"
        if isinstance(op, ops.Not):
            return f"(~{operands[0]})"
        if isinstance(op, ops.Abs):
            return self._prelude.call(f"mt_abs_{element}", *operands)
        if isinstance(op, ops.Popcount):
            wide = element.bits == 64
            return f"__popc{'ll' if wide else ''}(({c_type(u64 if wide else u32)}){operands[0]})"
        if isinstance(op, (ops.Maximum, ops.Minimum)):
            return f"{'max' if isinstance(op, ops.Maximum) else 'min'}({operands[0]}, {operands[1]})"
        if isinstance(op, (ops.FloorDiv, ops.Mod)):
            function, sign = _INTEGER_CALLS[type(op)]
            if constants[1] not in (None, 0, -1):
                return f"({operands[0]} {sign} {operands[1]})"
            return self._prelude.call(f"{function}_{element}", *operands)
        if isinstance(op, (ops.Shl, ops.Shr)):
            return self._shift(op, element, operands, constants)
        if isinstance(op, _WRAPPING) and not self._no_overflow(op) and not _is_wide_unsigned(element):
            # Overflow of signed integers is undefined in C++, and so it is for those narrower than an int, which are
            # converted to one; unsigned ones wrap. One unsigned operand makes the other one unsigned too, and what the
            # result is assigned to gives it its own type again.
            lhs, rhs = operands
            if constants[1] is not None and constants[1] >= 0:
                rhs = _as_unsigned(rhs, constants[1], element)
            else:
                lhs = _as_unsigned(lhs, constants[0], element)
            return f"({lhs} {_INFIX[type(op)]} {rhs})"
        return f"({operands[0]} {_INFIX[type(op)]} {operands[1]})"

    def _shift(self, op: Op, element: ScalarType, operands: list[str], constants: Sequence[Constant]) -> str:
        function, sign = _SHIFTS[type(op)]
        value, amount = operands
        if constants[1] is None or not 0 <= constants[1] < element.bits:
            return self._prelude.call(f"{function}_{element}", value, amount)
        if isinstance(op, ops.Shl) and not _is_wide_unsigned(element):
            value = _as_unsigned(value, constants[0], element)
        return f"({value} {sign} {amount})"


def _magnitude(element: ScalarType) -> str:
    """The bits of a short float but for its sign."""
    return "0x7f" if element.is_float8 else "0x7fff"


def _is_wide_unsigned(element: ScalarType) -> bool:
    """Whether C++ computes with this type unsigned by itself."""
    return not element.signed and element.bits >= 32


def _as_unsigned(text: str, constant: Constant, element: ScalarType) -> str:
    if constant is not None and constant >= 0:
        return f"{constant}{'u' if element.bits <= 32 else 'ull'}"
    return f"({'unsigned' if element.bits <= 32 else 'unsigned long long'}){text}"


def without_parentheses(text: str) -> str:
    """An expression without the parentheses around all of it."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:  # where the first parenthesis closes, or at once if there is none
            return text[1:-1] if 0 < at == len(text) - 1 else text
    return text

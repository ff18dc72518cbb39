"""The typing rules: operators on compile-time and run-time values, promotion, broadcasting and conversion.

Everything that reaches the IR goes through here, so an operation of the IR never has operands of two types. What a
kernel's author got wrong is raised as a `Mistake`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mytriton.frontend import constants
from mytriton.frontend.folding import Folding
from mytriton.frontend.values import (
    Item,
    Known,
    Mistake,
    Operand,
    is_float_operand,
    is_number,
    number_type,
)
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import (
    INTEGERS,
    PointerType,
    ScalarType,
    counts_as,
    element_of,
    f32,
    i1,
    i32,
    i64,
    is_bool,
    is_float,
    is_pointer,
    promote,
)

ARITHMETIC: dict[str, type[Op]] = {
    "+": ops.Add,
    "-": ops.Sub,
    "*": ops.Mul,
    "/": ops.Div,
    "//": ops.FloorDiv,
    "%": ops.Mod,
}
BITWISE: dict[str, type[Op]] = {"&": ops.And, "|": ops.Or, "^": ops.Xor}
SHIFT: dict[str, type[Op]] = {"<<": ops.Shl, ">>": ops.Shr}
COMPARISON: dict[str, type[Op]] = {
    "==": ops.CmpEq,
    "!=": ops.CmpNe,
    "<": ops.CmpLt,
    "<=": ops.CmpLe,
    ">": ops.CmpGt,
    ">=": ops.CmpGe,
}
#: What to write instead of `x in (a, b)`.
_INSTEAD_OF_IN = "compare with ==, and combine with `or`"
_RANK = {"bool": 0, "int": 1, "float": 2}


class Semantics(Folding):
    """Applies the rules to one kernel, appending to `builder`."""

    #: Calls a function that a rule was given; set by what lowers calls.
    call: Callable[[Operand, Sequence[Operand], Span], Item]

    # --- run-time values ---

    def number(self, operand: Operand, what: str) -> Value | Known:
        """The operand as a run-time value or a known number; anything else is a mistake."""
        item = operand.item
        if isinstance(item, Value) or (isinstance(item, Known) and is_number(item.value)):
            return item
        message = f"{what} must be a number or block, got {self.describe(operand)}"
        raise Mistake("MT201", message, operand.span, self.number_of(operand))

    def value(self, operand: Operand, to: ScalarType | None = None) -> Value:
        """The operand as a run-time value; with `to`, converted to that element type."""
        item = self.number(operand, "this")
        if isinstance(item, Known):
            type_ = to or number_type(item)
            loose = item.type is None and isinstance(item.value, int) and type_.kind == "int"
            if loose and not constants.fits(item.value, type_):
                bits = constants.convert(item.value, type_)
                hint = f"write {bits}, which has the same lowest {type_.bits} bits, or .to(...) to wrap it"
                raise Mistake("MT207", f"{item.value} does not fit in {type_}", operand.span, hint)
            return self.builder.constant(constants.convert(item.value, type_), type_)
        if to is not None and is_pointer(item.type):
            raise Mistake("MT203", f"{self.describe(operand)} is a pointer, not a number", operand.span, _LOAD)
        return item if to is None else self.builder.cast(item, to)

    def scalar_type(self, item: Value | Known) -> ScalarType | PointerType:
        """The element type of a number."""
        return element_of(item.type) if isinstance(item, Value) else number_type(item)

    def common(self, lhs: Operand, rhs: Operand, symbol: str, division: bool = False) -> ScalarType:
        """The type both operands are converted to (SEMANTICS "promotion"). A literal or constexpr does not widen the
        other side unless its kind is higher; with `division`, f16 and bf16 compute in f32."""
        a, b = self.number(lhs, f"an operand of `{symbol}`"), self.number(rhs, f"an operand of `{symbol}`")
        types = []
        for item, operand in ((a, lhs), (b, rhs)):
            type_ = self.scalar_type(item)
            if not isinstance(type_, ScalarType):
                hint = _LOAD if symbol in ARITHMETIC else ""
                raise Mistake("MT203", f"`{symbol}` takes numbers, but {self.describe(operand)} is a pointer",
                              operand.span, hint)  # fmt: skip
            types.append(type_)
        known = [isinstance(item, Known) and item.type is None for item in (a, b)]
        result = promote(*types)
        if known[0] != known[1]:
            scalar, other = types if known[0] else reversed(types)
            if _RANK[scalar.kind] <= _RANK[other.kind]:
                result = other
        if division and result.kind == "float" and result.bits == 16:
            return f32
        return result

    def converted(self, operand: Operand, other: Operand, type_: ScalarType) -> Value:
        """An operand in the type that it and another have in common, which a known number must fit."""
        item = operand.item
        bound = isinstance(item, Known) and item.type is None and type_.kind == "int"
        if isinstance(item, Known) and bound and not constants.fits(int(item.value), type_):
            message = f"{item.value} does not fit in {type_}, the type of {self.describe(other)}"
            wide = "int64" if int(item.value) <= i64.high else "uint64"
            hint = f"widen the other side: {self.receiver(other)}.to(tl.{wide})"
            raise Mistake("MT207", message, operand.span, hint)
        return self.value(operand, type_)

    def _operands(self, lhs: Operand, rhs: Operand, type_: ScalarType, span: Span) -> list[Value]:
        values = [self.converted(lhs, rhs, type_), self.converted(rhs, lhs, type_)]
        return self.same_shape(values, [lhs, rhs], span)

    # --- operators ---

    def binary(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        """`lhs op rhs`."""
        a, b = lhs.item, rhs.item
        if isinstance(a, Known) and isinstance(b, Known):
            if _is_typed(a, b) and op not in _INSTEAD:
                return self.settled(lambda: self._binary(op, lhs, rhs, span))
            return self.fold(lambda: constants.binary(op, a.value, b.value), span)
        return self._binary(op, lhs, rhs, span)

    def _binary(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        a, b = lhs.item, rhs.item
        if any(isinstance(i, Value) and is_pointer(i.type) for i in (a, b)):
            return self._pointer(op, lhs, rhs, span)
        if op == "*" and all(isinstance(i, Value) and is_bool(i.type) for i in (a, b)):
            op = "&"  # masks are multiplied in the wild
        if op in BITWISE or op in SHIFT:
            type_ = self.common(lhs, rhs, op)
            if type_.kind == "float":
                wrong = lhs if is_float_operand(lhs) else rhs
                message = f"`{op}` takes integers and bools, but {self.describe(wrong)} is a float"
                raise Mistake("MT203", message, wrong.span, self.whole(wrong))
            if op in SHIFT:
                return self._shift(op, lhs, rhs, type_, span)
            return self.builder.add(BITWISE[op], **_pair(self._operands(lhs, rhs, type_, span)))
        if op not in ARITHMETIC:
            raise Mistake("MT202", f"`{op}` works on constexprs only", span, _INSTEAD.get(op, ""))
        type_ = counts_as(self.common(lhs, rhs, op, division=op in ("/", "%")))
        if op == "/" and type_.kind == "int":
            type_ = f32
        if op == "//" and type_.kind == "float":
            hint = "use `/`, or convert the operands with .to(tl.int32)"
            raise Mistake("MT203", f"`//` takes integers, not floats: {self.text(span)}", span, hint)
        if op in ("//", "%"):
            self._check_signs(op, lhs, rhs, span)
        return self.builder.add(ARITHMETIC[op], **_pair(self._operands(lhs, rhs, type_, span)))

    def _shift(self, op: str, lhs: Operand, rhs: Operand, type_: ScalarType, span: Span) -> Item:
        """A shift in the common type. Whether `>>` repeats the sign bit is up to the left side's own type, as in
        Triton: an int32 shifted by a uint32 gives a uint32, and keeps its sign bit all the same."""
        type_ = compute = i32 if type_ == i1 else type_
        left = element_of(lhs.item.type) if isinstance(lhs.item, Value) else type_
        if isinstance(left, ScalarType) and left.kind == "int" and left.signed:
            compute = next(t for t in INTEGERS if t.signed and t.bits == type_.bits)
        shifted = self.builder.add(SHIFT[op], **_pair(self._operands(lhs, rhs, compute, span)))
        return self.builder.cast(shifted, type_)

    def _check_signs(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> None:
        """Triton refuses to divide what would first have to change its meaning: -1 is no uint32. A bool counts as
        unsigned there, and a literal beside it as an int32."""
        flag = next((o for o in (lhs, rhs) if isinstance(o.item, Value) and is_bool(o.item.type)), None)
        types = [self.scalar_type(self.number(o, "this")) for o in (lhs, rhs) if flag or isinstance(o.item, Value)]
        if len({t.kind == "int" and t.signed for t in types if isinstance(t, ScalarType) and t.kind != "float"}) > 1:
            pair = f"{self.describe(lhs)} and {self.describe(rhs)}"
            hint = f"convert one of them: {self.receiver(flag or rhs)}.to({'tl.int32' if flag else '...'})"
            raise Mistake("MT203", f"`{op}` takes two signed or two unsigned integers, not {pair}", span, hint)

    def _pointer(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        pointer, offset = (lhs, rhs) if isinstance(lhs.item, Value) and is_pointer(lhs.item.type) else (rhs, lhs)
        if op not in ("+", "-") or (op == "-" and pointer is rhs):
            raise Mistake("MT203", f"`{op}` does not take the pointer {self.describe(pointer)}", span, _LOAD)
        item = self.number(offset, "a pointer offset")
        element = self.scalar_type(item)
        if not isinstance(element, ScalarType) or element.kind == "float":
            whole = f"convert it: {self.receiver(offset)}.to(tl.int32)"
            hint = whole if isinstance(element, ScalarType) else "subtract or add the offsets instead"
            message = f"a pointer moves by an integer number of elements, not by {self.describe(offset)}"
            raise Mistake("MT205", message, offset.span, hint)
        if isinstance(item, Known):
            amount = int(item.value) * (-1 if op == "-" else 1)
            moved = self.value(Operand(Known(amount), offset.expr))
            moved = self.builder.cast(moved, _offset(constants.type_of(amount)))
        else:
            moved = self.builder.cast(item, _offset(element))
            moved = self.builder.add(ops.Neg, source=moved) if op == "-" else moved
        base, moved = self.same_shape([self.value(pointer), moved], [pointer, offset], span)
        return self.builder.add(ops.AddPtr, pointer=base, offset=moved)

    def compare(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        """`lhs op rhs` for one comparison operator."""
        a, b = lhs.item, rhs.item
        if op in ("is", "is not") or (isinstance(a, Known) and isinstance(b, Known)):
            # A run-time value is never None, a dtype or another object of the host.
            left, right = (i.value if isinstance(i, Known) else i for i in (a, b))
            if op in COMPARISON and _is_typed(a, b):
                return self.settled(lambda: self._compare(op, lhs, rhs, span))
            return self.fold(lambda: constants.COMPARISON[op](left, right), span)
        return self._compare(op, lhs, rhs, span)

    def _compare(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        a, b = lhs.item, rhs.item
        if op not in COMPARISON:
            raise Mistake("MT202", f"`{op}` works on constexprs only", span, _INSTEAD_OF_IN)
        pointers = [isinstance(i, Value) and is_pointer(i.type) for i in (a, b)]
        if any(pointers) and op in ("==", "!=") and any(isinstance(i, Known) and i.value == 0 for i in (a, b)):
            there = self.builder.truth(self.value(lhs if pointers[0] else rhs))
            return there if op == "!=" else self.builder.add(ops.Not, source=there)
        if all(pointers):
            values = self.same_shape([self.value(lhs), self.value(rhs)], [lhs, rhs], span)
            if element_of(values[0].type) != element_of(values[1].type):
                message = f"these pointers have different types: {self.describe(lhs)} and {self.describe(rhs)}"
                raise Mistake("MT203", message, span, "compare pointers into the same array, or offsets")
        else:
            type_ = self.common(lhs, rhs, op)
            # Bools are ordered as 0 and 1; as one-bit signed integers true would be -1.
            type_ = type_ if type_ == i1 and op in ("==", "!=") else counts_as(type_)
            values = self._operands(lhs, rhs, type_, span)
        return self.builder.add(COMPARISON[op], **_pair(values))

    def unary(self, op: str, operand: Operand, span: Span) -> Item:
        """`op operand`."""
        item = operand.item
        if isinstance(item, Known):
            if item.type is not None:
                return self.settled(lambda: self._unary(op, operand, span))
            return self.fold(lambda: constants.UNARY[op](item.value), span)
        return self._unary(op, operand, span)

    def _unary(self, op: str, operand: Operand, span: Span) -> Item:
        value = self.value(operand)
        if op == "not":
            return self.builder.add(ops.Not, source=self.builder.truth(value))
        if is_pointer(value.type):
            raise Mistake("MT203", f"`{op}` takes numbers, but {self.describe(operand)} is a pointer", span, _LOAD)
        if op == "~":
            if is_float(value.type):
                message = f"`~` takes integers and bools, not {self.describe(operand)}"
                raise Mistake("MT203", message, span, self.whole(operand))
            return self.builder.add(ops.Not, source=value)
        value = self.builder.cast(value, counts_as(self.scalar_type(value)))
        return value if op == "+" else self.builder.add(ops.Neg, source=value)

    def arithmetic_pair(self, lhs: Operand, rhs: Operand, symbol: str, span: Span) -> list[Value]:
        """Two operands promoted to one numeric type and one shape; bool becomes i32, float8 f32."""
        return self._operands(lhs, rhs, counts_as(self.common(lhs, rhs, symbol)), span)


def _offset(type_: ScalarType) -> ScalarType:
    """The type a pointer offset is converted to: one that holds every value, so that unsigned ones stay positive and
    the negation of a narrow one does not wrap (64 bits are what an address has)."""
    return i32 if type_.bits < 32 or type_ == i32 else i64


def _is_typed(*items: Item) -> bool:
    return any(isinstance(item, Known) and item.type is not None for item in items)


def _pair(values: list[Value]) -> dict[str, Value]:
    return {"lhs": values[0], "rhs": values[1]}


_LOAD = "read what it points to with tl.load(...)"
_INSTEAD = {
    "**": "write x * x, or tl.pow(x, y) of floats",
    "@": "matrix products are tl.dot(x, y)",
}

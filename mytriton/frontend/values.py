"""What expressions stand for while a kernel is lowered: compile-time values, run-time values, tuples, and errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from mytriton.diagnostics import Diagnostic, Label
from mytriton.frontend import constants, limits
from mytriton.frontend.tree import Expr, Literal, Subscript, TupleExpr
from mytriton.ir.core import Value
from mytriton.records import dataclass
from mytriton.source import Span
from mytriton.types import PointerType, ScalarType, is_float


@dataclass(frozen=True, eq=False, slots=True)
class Known:
    """A value known at compile time: a number, string, None, dtype, or something from the kernel's globals.

    A number that was assigned to a name has the `type` that it would have at run time, and acts as such a value, as in
    Triton: it takes part in promotion, where a literal and a constexpr do not.
    """

    value: Any
    type: ScalarType | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Aggregate:
    """Several items that names, loops and branches hand on as one."""

    items: tuple[Item, ...]

    def is_like(self, other: Item) -> bool:
        """Whether `other` differs in its items at most."""
        return isinstance(other, Aggregate) and type(self) is type(other) and len(self.items) == len(other.items)


@dataclass(frozen=True, eq=False, slots=True)
class Tuple(Aggregate):
    """A tuple whose items may be known or not."""


@dataclass(frozen=True, eq=False, slots=True)
class Window(Aggregate):
    """Where a block lies in a tensor: a block pointer, or a tensor descriptor, which has no offsets. `items` are the
    base, and for each axis the tensor's extents (i64), strides (i64) and, of a block pointer, the offsets (i32);
    `block` is the block's shape, `padding` what is read outside of the tensor (zero, nan or nothing said)."""

    block: tuple[int, ...]
    padding: str = ""

    def is_like(self, other: Item) -> bool:
        """Whether `other` differs in its items at most."""
        if not isinstance(other, Window) or len(self.items) != len(other.items):
            return False
        return (self.block, self.padding, self.type) == (other.block, other.padding, other.type)

    @property
    def type(self) -> PointerType:
        """The type of the base."""
        base = self.items[0]
        assert isinstance(base, Value)
        assert isinstance(base.type, PointerType)
        return base.type

    @property
    def is_descriptor(self) -> bool:
        """Whether the offsets are given at each access."""
        return len(self.items) == 1 + 2 * len(self.block)

    def __str__(self) -> str:
        what = "tensor descriptor" if self.is_descriptor else "block pointer"
        return f"{what}<{'x'.join(map(str, self.block))} x {self.type.element}>"


@dataclass(frozen=True, eq=False, slots=True)
class Method:
    """`base.name` of a run-time value, to be called."""

    base: Operand
    name: str


class Poison:
    """The value of an expression in which an error was already reported; it silences errors that only follow."""


POISON = Poison()

Item: TypeAlias = "Known | Aggregate | Method | Value | Poison"


@dataclass(frozen=True, eq=False, slots=True)
class Operand:
    """A value together with the expression it came from, for positions and names in messages."""

    item: Item
    expr: Expr

    @property
    def span(self) -> Span:
        """Where the expression stands."""
        return self.expr.span


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """The items of a tuple, each with its own expression where the author wrote them one by one, else `tuple[i]`."""
    assert isinstance(operand.item, Tuple)
    items, expr = operand.item.items, operand.expr
    if isinstance(expr, TupleExpr) and len(expr.items) == len(items):
        return tuple(Operand(item, one) for item, one in zip(items, expr.items, strict=True))
    return tuple(Operand(item, Subscript(expr.span, expr, Literal(expr.span, n))) for n, item in enumerate(items))


#: What to do about a value that is unpacked and is no tuple.
NO_TUPLE = "only tuples can be unpacked: from (a, b), from a shape, or from a function that returns a, b"


class Mistake(Exception):
    """An error of the kernel's author in the expression or statement being lowered; becomes a `Diagnostic`."""

    def __init__(self, code: str, message: str, span: Span, hint: str = "", labels: Sequence[Label] = ()) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, span, labels=tuple(labels), hint=hint, stage="ssa")


class Silent(Exception):
    """A statement cannot be lowered because of a mistake that was reported already."""


def number_type(known: Known) -> ScalarType:
    """The type of a known number."""
    return known.type or constants.type_of(known.value)


def assigned(item: Item) -> Item:
    """What a name stands for after a plain assignment of an item."""
    match item:
        case Tuple(items=items):
            return Tuple(tuple(assigned(i) for i in items))
        case Known(value=value, type=None) if is_number(value):
            type_ = constants.type_of(value)
            if type_.kind != "int" or constants.fits(value, type_):
                return Known(constants.convert(value, type_), type_)
    return item


def is_number(value: Any) -> bool:
    """Whether a compile-time value is a bool, int or float."""
    return isinstance(value, (bool, int, float))


def is_poison(*operands: Operand) -> bool:
    """Whether one of the operands carries an error that was reported already, also inside a tuple."""
    items = [o.item for o in operands]
    while items:
        item = items.pop()
        if isinstance(item, Poison):
            return True
        if isinstance(item, Aggregate):
            items += item.items
    return False


def is_float_operand(operand: Operand) -> bool:
    """Whether the operand is a float, known or not."""
    item = operand.item
    return isinstance(item.value, float) if isinstance(item, Known) else isinstance(item, Value) and is_float(item.type)


def excess(item: Item) -> str:
    """In which way a compile-time value is too large to compile with, or ''."""
    count = characters = depth = 0
    level: list[Any] = [item]
    while level:
        inner: list[Any] = []
        for one in level:
            value = one.value if isinstance(one, Known) else one
            if isinstance(value, int):
                if value.bit_length() > limits.MAX_BITS:
                    return f"the result has more than {limits.MAX_BITS} bits"
            elif isinstance(value, str):
                characters += len(value)
            elif isinstance(value, (Tuple, tuple, list)):
                inner += value.items if isinstance(value, Tuple) else value
                if count + len(inner) > limits.MAX_ITEMS:
                    return f"the tuple has more than {limits.MAX_ITEMS} items"
        if characters > limits.MAX_CHARACTERS:
            return f"the result has more than {limits.MAX_CHARACTERS} characters"
        count += len(inner)
        depth += 1
        if inner and depth > limits.MAX_TUPLE_DEPTH:
            return f"the tuples nest more than {limits.MAX_TUPLE_DEPTH} deep"
        level = inner
    return ""


#: What to do about a compile-time value that is too large.
TOO_LARGE = "compile-time values are for sizes and choices: keep data in arrays, and load it"

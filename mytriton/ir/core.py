"""Values, operations, blocks and functions of the tile SSA.

Everything is immutable. A pass makes a new `Func` and shares what it did not touch, so every stage keeps its own
program for free, on any thread. An operation is one frozen dataclass; its fields say what is an operand, what an
attribute and what a region, and printing, cloning and walking follow from that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from enum import Enum
from functools import cached_property
from operator import itemgetter
from typing import Any, ClassVar, TypeVar

from mytriton.records import dataclass
from mytriton.source import Span
from mytriton.types import PointerType, Type

O = TypeVar("O", bound="Op")  # noqa: E741


class TypeRuleError(Exception):
    """An operation's operands break its type rule; the message is a sentence without position."""


class Effect(Enum):
    """What an operation does besides its results. Only NONE may be merged or moved freely; a READ may be dropped if
    unused; OUTPUT touches no memory, but keeps its place among all that is not NONE."""

    NONE = "none"
    READ = "read"
    WRITE = "write"
    OUTPUT = "output"


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """An SSA value, compared by identity.

    `id` is how it prints: `%3`, `x` for a parameter, `%c2` for a constant, cast or splat (these print inside their
    user). Ids are unique in a function and no pass ever changes one. `hint` is the author's name for it, if any.
    """

    id: str
    type: Type
    hint: str = ""

    def __repr__(self) -> str:
        return f"<{self.id} : {self.type}>"


def operand(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a `Value` (or None where it is optional)."""
    return field(default=default, metadata={"role": "operand"})


def operands(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a tuple of `Value`s."""
    return field(default=default, metadata={"role": "operand", "variadic": True})


def attribute(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds plain data known at compile time."""
    return field(default=default, metadata={"role": "attribute"})


def region(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a nested `Block`."""
    return field(default=default, metadata={"role": "region"})


@dataclass(frozen=True, eq=False, kw_only=True)
class Op:
    """Base of all operations. A subclass adds fields, `opcode`, its effect, its type rule and its meaning (docstring).

    `inline` operations (constants, casts, splats) are printed inside their user instead of on a line of their own;
    `structured` ones have nested blocks.
    """

    opcode: ClassVar[str] = ""
    effect: ClassVar[Effect] = Effect.NONE
    commutative: ClassVar[bool] = False
    inline: ClassVar[bool] = False
    structured: ClassVar[bool] = False

    results: tuple[Value, ...] = ()
    span: Span | None = None

    def type_rule(self) -> tuple[Type, ...]:
        """The result types that follow from the operands; raises `TypeRuleError` if the operands do not fit."""
        raise NotImplementedError(type(self).__name__)

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value

    @property
    def operands(self) -> tuple[Value, ...]:
        """The operands that are present, in field order."""
        return _GETTERS[type(self)](self.__dict__)

    @property
    def attributes(self) -> dict[str, Any]:
        """Attribute names and values, in field order."""
        fields = self.__dict__
        return {n: fields[n] for n in _ATTRIBUTES[type(self)]}

    @property
    def regions(self) -> tuple[Block, ...]:
        """The nested blocks."""
        return tuple([self.__dict__[n] for n in _REGIONS[type(self)]]) if self.structured else ()

    def evolve(self: O, **changes: Any) -> O:
        """A copy with some fields changed. Passes make copies by the thousand, and this is a sixth of the cost of
        `dataclasses.replace`, which runs `__init__` again."""
        copy = object.__new__(type(self))
        copy.__dict__ = {**self.__dict__, **changes}
        return copy

    def with_operands(self, mapping: Mapping[Value, Value], **changes: Any) -> Op:
        """This operation with operands replaced, and other fields changed; the same object if nothing is."""
        if mapping:
            fields = self.__dict__
            for name in _OPERANDS[type(self)]:
                value = fields[name]
                if value in mapping:
                    changes[name] = mapping[value]
            for name in _VARIADIC[type(self)]:
                if any(v in mapping for v in fields[name]):
                    changes[name] = tuple([mapping.get(v, v) for v in fields[name]])
        return self.evolve(**changes) if changes else self

    def with_regions(self, blocks: tuple[Block, ...]) -> Op:
        """This operation with its nested blocks replaced, in the order of `regions`."""
        if all(a is b for a, b in zip(blocks, self.regions, strict=True)):
            return self
        changed: dict[str, Any] = dict(zip(_REGIONS[type(self)], blocks, strict=True))
        return self.evolve(**changed)


class _FieldNames(dict[type[Op], tuple[str, ...]]):
    """The names of the fields that play one role, by class: looked up for every operation in every walk."""

    def __init__(self, role: str, variadic: bool = False) -> None:
        self._metadata = {"role": role, **({"variadic": True} if variadic else {})}

    def __missing__(self, cls: type[Op]) -> tuple[str, ...]:
        names = self[cls] = tuple(f.name for f in dataclasses.fields(cls) if f.metadata == self._metadata)
        return names


class _Getters(dict[type[Op], Callable[[dict[str, Any]], tuple[Value, ...]]]):
    """How to get the operands out of the fields of an operation, by class."""

    def __missing__(self, cls: type[Op]) -> Callable[[dict[str, Any]], tuple[Value, ...]]:
        names, variadic = _OPERANDS[cls], _VARIADIC[cls]
        optional = any(f.default is None for f in dataclasses.fields(cls) if f.name in names)

        def get(fields: dict[str, Any]) -> tuple[Value, ...]:
            found = [v for n in names if (v := fields[n]) is not None]
            for name in variadic:  # the last operand fields
                found += fields[name]
            return tuple(found)

        self[cls] = get
        if not optional and not variadic and len(names) == 1:
            (only,) = names
            self[cls] = lambda fields: (fields[only],)
        elif not optional and not variadic and names:
            self[cls] = itemgetter(*names)
        return self[cls]


_OPERANDS, _VARIADIC = _FieldNames("operand"), _FieldNames("operand", variadic=True)
_ATTRIBUTES, _REGIONS = _FieldNames("attribute"), _FieldNames("region")
_GETTERS = _Getters()


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A sequence of operations with parameters (loop-carried values, for a loop's body).

    The block of a structured operation ends with a `Yield`, which hands values back to it; a function's with none.
    """

    params: tuple[Value, ...]
    ops: tuple[Op, ...]


@dataclass(frozen=True, slots=True)
class ParamInfo:
    """What is known of a runtime argument beyond its type: `divisible_by_16` holds for a pointer's address in bytes
    or an integer's value; `is_one` says that an integer is 1, as most strides of a last axis are."""

    divisible_by_16: bool = False
    is_one: bool = False


@dataclass(frozen=True, eq=False)
class Func:
    """A kernel. `next_value` and `next_inline` are the first unused numbers of the two id spaces (`%3`, `%c2`)."""

    name: str
    body: Block
    info: Mapping[str, ParamInfo]
    span: Span | None = None
    next_value: int = 0
    next_inline: int = 0

    @property
    def params(self) -> tuple[Value, ...]:
        """The runtime parameters, in call order."""
        return self.body.params

    @cached_property
    def definitions(self) -> Mapping[Value, Op]:
        """The operation that defines each value (parameters have none)."""
        return {value: op for op in self.walk() for value in op.results}

    def walk(self) -> Iterator[Op]:
        """Every operation, outer before inner, in order."""
        return walk(self.body)

    def pointer_params(self) -> tuple[Value, ...]:
        """The parameters that are pointers."""
        return tuple(p for p in self.params if isinstance(p.type, PointerType))


def walk(block: Block) -> Iterator[Op]:
    """Every operation of a block and its nested blocks, in order; an explicit stack, so long kernels are fine."""
    stack = [iter(block.ops)]
    while stack:
        for op in stack[-1]:
            yield op
            if op.structured:
                stack.extend(iter(b.ops) for b in reversed(op.regions))
                break
        else:
            stack.pop()


def count_ops(func: Func) -> int:
    """Operations that print on a line of their own."""
    return sum(not op.inline for op in func.walk())

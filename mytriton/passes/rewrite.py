"""Rewriting by small named rules.

A rule is a function for one class of operations (or several) whose docstring is the identity it performs. It returns
None, having built nothing, if it does not apply, else what replaces the operation: a value for its result, or a
`Splice`, alone or with a sentence saying why. The driver walks forward, so a rule sees operands that are already
rewritten; structured operations are looked at before their blocks, and an `if` once more after them. Only what a loop
hands back to its start needs another walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

from mytriton.analysis.ranges import Range, full_range
from mytriton.diagnostics import InternalError
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops import Constant, If, Splat
from mytriton.ir.ops.control import yielded
from mytriton.ir.printer import Printer
from mytriton.numbers import bits_of
from mytriton.records import dataclass
from mytriton.stage import Change
from mytriton.types import ScalarType, Type, element_of, shape_of


@dataclass(frozen=True)
class Splice:
    """What takes the place of an operation with blocks, or of one without results: `ops`; `results`, a value for each
    of its results that `ops` do not define; and `params`, values for parameters of its blocks. `simpler` is the one
    among `ops` that is a simpler form of the operation, if one is."""

    ops: tuple[Op, ...] = ()
    results: Mapping[Value, Value] = field(default_factory=dict)
    params: Mapping[Value, Value] = field(default_factory=dict)
    simpler: Op | None = None


Replacement: TypeAlias = "Value | Splice | tuple[Value | Splice, str] | None"

#: Walks over the function, and rewrites of one operation, before the driver stops. Rules shrink programs, so neither
#: is reached unless two rules undo each other.
MAX_ROUNDS = 8
MAX_STEPS = 64


@dataclass(frozen=True)
class Rule:
    """A rewrite rule; `identity` is the function's docstring."""

    name: str
    classes: tuple[type[Op], ...]
    identity: str
    function: Callable[[Any, Match], Replacement]


def rule(*classes: type[Op]) -> Callable[[Callable[[Any, Match], Replacement]], Rule]:
    """Make a `Rule` of a function `(op, match) -> replacement`, for operations of `classes` and their subclasses."""

    def decorate(function: Callable[[Any, Match], Replacement]) -> Rule:
        return Rule(function.__name__, classes, (function.__doc__ or "").strip(), function)

    return decorate


def rules_in(namespace: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The rules of a module, in the order they are written."""
    return tuple(v for v in namespace.values() if isinstance(v, Rule))


class Rules(dict[type[Op], tuple[Rule, ...]]):
    """Rules by the class of operation they are for, in order."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        super().__init__()
        self._all = tuple(rules)

    def __missing__(self, cls: type[Op]) -> tuple[Rule, ...]:
        self[cls] = tuple(r for r in self._all if issubclass(cls, r.classes))
        return self[cls]


class Match:
    """What a rule may ask and make while it looks at one operation."""

    def __init__(self, printer: Printer, ids: Ids, ranges: Mapping[Value, Range]) -> None:
        self._printer = printer
        self._ids = ids
        self._ranges = ranges
        self._op = Op()
        self.built: list[Op] = []

    def start(self, op: Op) -> None:
        """Look at `op`: built operations take its span and hint."""
        self._op = op
        self.built = []

    def definition(self, value: Value) -> Op | None:
        """The operation that defines a value; None for a parameter."""
        return self._printer.definition(value)

    def constant(self, value: Value) -> bool | int | float | None:
        """The number of a constant, or of a block all of whose elements are one constant; else None."""
        op = self.definition(value)
        if isinstance(op, Splat):
            op = self.definition(op.source)
        return op.value if isinstance(op, Constant) else None

    def range(self, value: Value) -> Range:
        """The range of an integer or bool value."""
        number = self.constant(value)
        if number is not None:
            return Range(int(number), int(number))
        return self._ranges.get(value) or full_range(value.type)

    def text(self, value: Value) -> str:
        """How a value reads in the listing."""
        return self._printer.value(value)

    def build(self, op: Op) -> Value:
        """Insert an operation before the one looked at; its result."""
        hint = self._op.results[0].hint if self._op.results else ""
        done = complete(replace(op, span=self._op.span), self._ids, hint)
        self._printer.define(done)
        self.built.append(done)
        return done.result

    def number(self, number: bool | int | float, type_: Type) -> Value:
        """Insert a constant of a scalar type, or a block of it."""
        element = element_of(type_)
        assert isinstance(element, ScalarType)
        value = self.build(Constant(value=number, type=element))
        return self.splat(value, shape_of(type_))

    def zero(self, type_: Type) -> Value:
        """Insert the zero of a type."""
        element = element_of(type_)
        assert isinstance(element, ScalarType)
        return self.number({"bool": False, "int": 0, "float": 0.0}[element.kind], type_)

    def splat(self, value: Value, shape: tuple[int, ...]) -> Value:
        """Insert a block of one scalar; the scalar itself for the shape ()."""
        return self.build(Splat(source=value, shape=shape)) if shape else value

    def scalar(self, value: Value) -> Value | None:
        """The scalar that all elements of a value are; None if that is not known."""
        if not shape_of(value.type):
            return value
        op = self.definition(value)
        return op.source if isinstance(op, Splat) else None

    def same(self, x: Value, y: Value) -> bool:
        """Whether two values are one, or one constant: of one type and of the same bits."""
        if x is y:
            return True
        numbers = self.constant(x), self.constant(y)
        element = element_of(x.type)
        if x.type != y.type or None in numbers or not isinstance(element, ScalarType):
            return False
        first, second = (bits_of(number, element) for number in numbers if number is not None)
        return first == second


class _Rewriter:
    def __init__(self, func: Func, pass_name: str, rules: Rules, ranges: Mapping[Value, Range]) -> None:
        self.pass_name = pass_name
        self.rules = rules
        self.ids = Ids(func.next_value, func.next_inline)
        self.printer = Printer(func)
        self.match = Match(self.printer, self.ids, ranges)
        self.substitution: dict[Value, Value] = {}
        self.changes: list[Change] = []
        self.again = False

    def block(self, block: Block) -> Block:
        # Recursion follows the nesting of regions, not the length of the kernel.
        out: list[Op] = []
        for op in block.ops:
            self._visit(op, out)
        same = len(out) == len(block.ops) and all(a is b for a, b in zip(out, block.ops, strict=True))
        return block if same else Block(block.params, tuple(out))

    def _visit(self, op: Op, out: list[Op]) -> None:
        """Rewrite `op`, and what replaces it, until no rule applies."""
        pending = [op]
        replaced: list[Value] = []
        steps = 0
        while pending:
            current = pending.pop().with_operands(self.substitution)
            found = self._apply(current)
            if found is None:
                self._keep(current, op, out)
                continue
            steps += 1
            if steps > MAX_STEPS:
                raise InternalError(
                    f"rules of `{self.pass_name}` do not come to an end on `{self.printer.op(current)}`"
                )
            if isinstance(found, Splice):
                self._splice(found, out)
                continue
            # Later uses look up one step only, so earlier entries of this visit are brought up to date.
            value = self.substitution.get(found, found)
            replaced.append(current.result)
            for earlier in replaced:
                if self.substitution.get(earlier, current.result) is current.result:
                    self.substitution[earlier] = value
            pending += reversed(self.match.built)

    def _keep(self, op: Op, original: Op, out: list[Op]) -> None:
        """Append an operation no rule applies to, once its blocks are rewritten."""
        if op.structured:
            blocks = tuple(self.block(b) for b in op.regions)
            if not isinstance(op, If):
                # What a trip hands to the next one was not known when its use was visited.
                self.again |= any(yielded(a) != yielded(b) for a, b in zip(op.regions, blocks, strict=True))
            op = op.with_regions(blocks)
            if isinstance(op, If) and (found := self._apply(op)):
                assert isinstance(found, Splice)
                out += found.ops
                self._bind(found.results)
                return
        if op is not original:
            self.printer.define(op)
        out.append(op)

    def _splice(self, splice: Splice, out: list[Op]) -> None:
        self._bind(splice.params)
        for op in splice.ops:
            self._visit(op, out)
        self._bind(splice.results)

    def _bind(self, values: Mapping[Value, Value]) -> None:
        self.substitution.update((old, self.substitution.get(new, new)) for old, new in values.items())

    def _apply(self, op: Op) -> Value | Splice | None:
        self.match.start(op)
        for candidate in self.rules[type(op)]:
            found = candidate.function(op, self.match)
            if found is None:
                continue
            what, why = found if isinstance(found, tuple) else (found, candidate.identity)
            if isinstance(what, Splice):
                what = replace(what, ops=(*self.match.built, *what.ops))
                values = ", ".join(self.printer.value(v) for v in what.results.values())
                after = values if what.simpler is None else self.printer.op(what.simpler)
            else:
                self._check(op, candidate, what)
                made = self.printer.definition(what)
                fresh = made is not None and not made.inline and any(made is b for b in self.match.built)
                after = self.printer.op(made) if made is not None and fresh else self.printer.value(what)
            before = self.printer.value(op.result) if op.inline else self.printer.op(op)
            self.changes.append(Change(self.pass_name, candidate.name, before, after, op.span, why))
            return what
        return None

    def _check(self, op: Op, applied: Rule, value: Value) -> None:
        if value.type != op.result.type:
            raise InternalError(
                f"rule `{applied.name}` replaces `{self.printer.op(op)}` by a value of type {value.type}"
            )


def rewrite(
    func: Func, pass_name: str, rules: Iterable[Rule] | Rules, ranges: Mapping[Value, Range] = MappingProxyType({})
) -> tuple[Func, tuple[Change, ...]]:
    """Apply `rules` everywhere until none applies; the same `func` if none did. What rewriting leaves without a use
    stays for dead code elimination. `ranges` are for rules that ask for the range of a value."""
    rewriter = _Rewriter(func, pass_name, rules if isinstance(rules, Rules) else Rules(rules), ranges)
    body = func.body
    for _ in range(MAX_ROUNDS):
        rewriter.again = False
        body = rewriter.block(body)
        if not rewriter.again:
            break
    if not rewriter.changes:
        return func, ()
    done = replace(func, body=body, next_value=rewriter.ids.value, next_inline=rewriter.ids.inline)
    return done, tuple(rewriter.changes)

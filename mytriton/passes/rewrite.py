"""Rewriting by small named rules.

A rule is a function for one class of operations (or several) whose docstring is the identity it performs. It returns
None if it does not apply, else the value that replaces the operation's result, alone or with a sentence saying why.
The driver walks forward once, so a rule sees operands that are already rewritten, and repeats until nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from mytriton.diagnostics import InternalError
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops import Constant, Splat
from mytriton.ir.printer import Printer
from mytriton.stage import Change
from mytriton.types import ScalarType, Type, element_of, shape_of

Replacement: TypeAlias = "Value | tuple[Value, str] | None"

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


class Match:
    """What a rule may ask and make while it looks at one operation."""

    def __init__(self, printer: Printer, ids: Ids) -> None:
        self._printer = printer
        self._ids = ids
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
        return self.build(Splat(source=value, shape=shape_of(type_))) if shape_of(type_) else value


class _Rewriter:
    def __init__(self, func: Func, pass_name: str, rules: Iterable[Rule]) -> None:
        self.pass_name = pass_name
        self.rules = tuple(rules)
        self.by_class: dict[type[Op], tuple[Rule, ...]] = {}
        self.ids = Ids(func.next_value, func.next_inline)
        self.printer = Printer(func)
        self.match = Match(self.printer, self.ids)
        self.substitution: dict[Value, Value] = {}
        self.changes: list[Change] = []

    def block(self, block: Block) -> Block:
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
            if current.regions:
                current = current.with_regions(tuple(self.block(b) for b in current.regions))
            self.printer.define(current)
            value = self._apply(current)
            if value is None:
                out.append(current)
                continue
            steps += 1
            if steps > MAX_STEPS:
                raise InternalError(
                    f"rules of `{self.pass_name}` do not come to an end on `{self.printer.op(current)}`"
                )
            # Later uses look up one step only, so earlier entries of this visit are brought up to date.
            value = self.substitution.get(value, value)
            replaced.append(current.result)
            for earlier in replaced:
                if self.substitution.get(earlier, current.result) is current.result:
                    self.substitution[earlier] = value
            pending += reversed(self.match.built)

    def _apply(self, op: Op) -> Value | None:
        for candidate in self._rules_for(type(op)):
            self.match.start(op)
            found = candidate.function(op, self.match)
            if found is None:
                continue
            value, why = found if isinstance(found, tuple) else (found, candidate.identity)
            if value.type != op.result.type:
                raise InternalError(
                    f"rule `{candidate.name}` replaces `{self.printer.op(op)}` by a value of type {value.type}"
                )
            before = self.printer.value(op.result) if op.inline else self.printer.op(op)
            made = self.printer.definition(value)
            fresh = made is not None and not made.inline and any(made is b for b in self.match.built)
            after = self.printer.op(made) if made is not None and fresh else self.printer.value(value)
            self.changes.append(Change(self.pass_name, candidate.name, before, after, op.span, why))
            return value
        return None

    def _rules_for(self, cls: type[Op]) -> tuple[Rule, ...]:
        rules = self.by_class.get(cls)
        if rules is None:
            rules = self.by_class[cls] = tuple(r for r in self.rules if issubclass(cls, r.classes))
        return rules


def rewrite(func: Func, pass_name: str, rules: Iterable[Rule]) -> tuple[Func, tuple[Change, ...]]:
    """Apply `rules` everywhere until none applies; the same `func` if none did. What rewriting leaves without a use
    stays for dead code elimination."""
    rewriter = _Rewriter(func, pass_name, rules)
    body = func.body
    for _ in range(MAX_ROUNDS):
        count = len(rewriter.changes)
        body = rewriter.block(body)
        if len(rewriter.changes) == count:
            break
    if not rewriter.changes:
        return func, ()
    done = replace(func, body=body, next_value=rewriter.ids.value, next_inline=rewriter.ids.inline)
    return done, tuple(rewriter.changes)

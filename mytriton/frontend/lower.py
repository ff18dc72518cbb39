"""Statements to typed SSA: constexpr control flow is resolved here, and every mistake of the kernel is collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend import debugging
from mytriton.frontend import tree as t
from mytriton.frontend.calls import Calls
from mytriton.frontend.kernel import MISSING
from mytriton.frontend.outside import as_item
from mytriton.frontend.schedule import schedule
from mytriton.frontend.scope import NOTHING, ON, Flow
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import (
    NO_TUPLE,
    POISON,
    Item,
    Known,
    Mistake,
    Operand,
    Silent,
    Tuple,
    Window,
    assigned,
    is_poison,
)
from mytriton.ir.builder import Ids, parameter
from mytriton.ir.core import Block, Func, Value
from mytriton.source import SourceUnit, Span
from mytriton.specialize import Specialization
from mytriton.types import ScalarType, i64, is_pointer


class Lowering(Calls):
    """Lowers the statements of one kernel."""

    def body(self, statements: Sequence[t.Stmt], tail: bool) -> Flow:
        """Lower statements in order; `tail` says that the function ends after them."""
        for position, statement in enumerate(statements):
            try:
                flow, rest_done = ON, False
                if isinstance(statement, t.If):
                    flow, rest_done = self.if_(statement, statements[position + 1 :], tail)
                else:
                    flow = self._statement(statement)
            except (Mistake, Silent) as error:
                if isinstance(error, Mistake):
                    self.semantics.report(error.diagnostic)
                for name in t.bound_names((statement,)):
                    self.bind(name.id, POISON, name.span)
                continue
            if rest_done or flow.returned is True:
                return flow
            if isinstance(flow.returned, Value):
                return self._rest(flow, statements[position + 1 :], statement.span, tail)
        return Flow(True) if tail else ON

    def _rest(self, flow: Flow, rest: Sequence[t.Stmt], span: Span, tail: bool) -> Flow:
        """What follows a statement that may have returned."""
        if not rest and not tail:
            return flow
        if not rest and _is_none(flow.value):
            return Flow(True)
        return self.unless(flow, t.bound_names(tuple(rest)), lambda: self.body(rest, tail), span)

    def _statement(self, node: t.Stmt) -> Flow:
        match node:
            case t.Assign():
                value = self.evaluate(node.value)
                constexpr = node.annotation is not None and self._is_constexpr(node.annotation)
                if constexpr and not is_poison(value):
                    constexpr = self.semantics.says_constexpr(value, "the value of a `constexpr` variable")
                for target in node.targets:
                    self._assign(target, value, constexpr)
            case t.AugAssign():
                changed = t.BinaryOp(node.span, node.op, node.target, node.value)
                self.bind(node.target.id, self._assigned(self.evaluate(changed).item), node.target.span)
            case t.ExprStmt():
                self.evaluate(node.value)
            case t.For():
                return self.for_(node)
            case t.While():
                return self.while_(node)
            case t.Assert():
                self._assert(node)
            case t.Raise():
                hint = "put it under an `if` on constexprs that does not hold; tl.device_assert checks at run time"
                raise Mistake("MT161", f"this `raise` is reached: {node.text}", node.span, hint)
            case t.Return():
                return self._return(node)
        return ON

    def _assert(self, node: t.Assert) -> None:
        condition = self.evaluate(node.test)
        message = None if node.message is None else self.evaluate(node.message)
        if not is_poison(condition, *([] if message is None else [message])):
            said = debugging.text(self.semantics, message, "the message of an assertion")
            debugging.check(self.semantics, condition, said or self.semantics.text(node.test.span), node.span)

    def _return(self, node: t.Return) -> Flow:
        if self.loops:
            hint = "keep the result in a variable, and return after the loop; a `while` can test whether it is found"
            raise Mistake("MT141", "`return` in a run-time loop is not part of the kernel language", node.span, hint)
        value = NOTHING if node.value is None else self.evaluate(node.value).item
        if self.in_helper:
            return Flow(True, value, node.span)
        if not _is_none(value):
            hint = "store results through a pointer: tl.store(out + offsets, value)"
            raise Mistake("MT141", "a kernel returns nothing", node.span, hint)
        return Flow(True)

    def _assign(self, target: t.Target, value: Operand, constexpr: bool = False) -> None:
        if isinstance(target, t.Name):
            self.bind(target.id, self._assigned(value.item) if not constexpr else value.item, target.span)
            if constexpr:
                self.scope.constexprs.add(target.id)
            return
        targets = [x for x in target.items if isinstance(x, (t.Name, t.TupleExpr))]
        items: Sequence[Item]
        if is_poison(value) and not isinstance(value.item, Tuple):
            items = [POISON] * len(targets)
        elif isinstance(value.item, Tuple):
            items = value.item.items
        else:
            raise Mistake("MT214", f"{self.semantics.describe(value)} cannot be unpacked", value.span, NO_TUPLE)
        if len(items) != len(targets):
            hint = f"give {len(items)} names; `_` for what is not used"
            raise Mistake("MT214", f"{len(targets)} names for {len(items)} values", target.span, hint)
        for one, item in zip(targets, items, strict=True):
            self._assign(one, Operand(item, value.expr))

    def _assigned(self, item: Item) -> Item:
        return item if self.compile_time else assigned(item)

    def _is_constexpr(self, annotation: t.Expr) -> bool:
        text = self.semantics.text(annotation.span).strip("'\"")
        return text.split(".")[-1] == "constexpr"


def _is_none(item: Item) -> bool:
    return isinstance(item, Known) and item.value is None


def _parameters(tree: t.Tree, specialization: Specialization) -> dict[str, Item]:
    """The initial names: run-time parameters as values, the others as known."""
    items: dict[str, Item] = {name: as_item(value) for name, value in specialization.constexprs}
    items |= {name: parameter(name, type_) for name, type_, _ in specialization.params}
    missing: list[Diagnostic] = []
    for param in tree.kernel.params:
        if param.name in items:
            continue
        if param.default is not MISSING:
            items[param.name] = as_item(param.default)
            continue
        hint = f"give it at the launch ({param.name}=...) or with -D {param.name}=..."
        what = "constexpr parameter" if param.is_constexpr else "parameter"
        missing.append(
            Diagnostic("MT150", f"the {what} `{param.name}` has no value", param.span, hint=hint, stage="ssa")
        )
    if missing:
        raise CompileError(missing, [tree.kernel.unit])
    return items


class Lowered(NamedTuple):
    """A kernel as typed SSA, its warnings and notes, and the sources its spans point into: the kernel's first, then one
    for each helper."""

    func: Func
    findings: tuple[Diagnostic, ...]
    units: tuple[SourceUnit, ...]


def lower(tree: t.Tree, specialization: Specialization) -> Lowered:
    """The kernel as typed SSA. Raises `CompileError` with every mistake that was found."""
    lowering = Lowering(Semantics(tree.kernel))
    scope = lowering.scope
    places = {param.name: param.span for param in tree.kernel.params}
    items = _parameters(tree, specialization)
    params = tuple(v for name, _, _ in specialization.params if isinstance(v := items[name], Value))
    for name, type_, known in specialization.params:
        if known.is_one:
            assert isinstance(type_, ScalarType)
            lowering.semantics.builder.span = places.get(name, tree.span)
            items[name] = lowering.semantics.builder.constant(1, type_)
    for each in specialization.descriptors:
        lowering.semantics.builder.span = places[each.name]
        one = lowering.semantics.builder.constant(1, i64)
        numbers = [items.pop(number) for number in each.numbers]
        items[each.name] = Window((items[each.name], *numbers, one), each.block, each.padding)
    for name, parts in tree.kernel.tuples.items():
        places[name] = places[parts[0]] if parts else tree.span
        items[name] = Tuple(tuple(items.pop(part) for part in parts))
    for name, item in items.items():
        scope.bind(name, item, places[name])
    scope.constexprs.update(name for name, _ in specialization.constexprs if name in items)
    lowering.pointer = next((v for v in params if is_pointer(v.type)), None)
    lowering.body(tree.body, tail=True)
    findings = tuple(sorted(lowering.semantics.diagnostics, key=lambda d: _place(d.span)))
    units = tuple(lowering.semantics.units)
    if any(d.severity == "error" for d in findings):
        raise CompileError(findings, units)
    ids = Ids()
    ops = schedule(lowering.semantics.builder.ops, lowering.semantics.names, ids)
    info = {name: known for name, _, known in specialization.params}
    func = Func(tree.kernel.name, Block(params, ops), info, tree.span, ids.value, ids.inline)
    return Lowered(func, findings, units)


def _place(span: Span | None) -> tuple[tuple[int, int], ...]:
    """What findings are sorted by: the place in the kernel, then that in the helper it calls, and so on."""
    places: list[tuple[int, int]] = []
    while span is not None:
        places.append((span.line, span.column))
        span = span.call_site
    return tuple(reversed(places))

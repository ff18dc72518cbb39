"""Expressions to values: names and attributes are resolved, constexprs computed, the rest appended to the IR."""

from __future__ import annotations

import builtins as python
from collections.abc import Callable, Generator
from difflib import get_close_matches
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from mytriton.frontend import attributes, shapes
from mytriton.frontend import tree as t
from mytriton.frontend.choices import Choices
from mytriton.frontend.kernel import MISSING, is_kernel
from mytriton.frontend.outside import member_item, module_member, outside_item
from mytriton.frontend.registry import FUNCTIONS, LOOPS, Builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import POISON, Item, Known, Method, Mistake, Operand, Tuple, Window, is_poison
from mytriton.ir.core import TypeRuleError, Value
from mytriton.language.compile_time import ConstexprFunction
from mytriton.source import Span

_Steps = Generator[t.Expr, Operand, Item]


class Evaluator(Choices):
    """Evaluates the expressions of one kernel with the names of its scope."""

    def __init__(self, semantics: Semantics) -> None:
        super().__init__(semantics)
        self._rules: dict[type[Any], Callable[[Any], _Steps]] = {
            t.UnaryOp: self._unary,
            t.BinaryOp: self._binary,
            t.Comparison: self._comparison,
            t.Logical: self._logical,
            t.Conditional: self._conditional,
            t.Call: self._call,
            t.Attribute: self._attribute,
            t.Subscript: self._subscript,
            t.Slice: self._slice,
            t.TupleExpr: self._tuple,
            t.FString: self._fstring,
            t.Formatted: self._formatted,
        }

    def evaluate(self, expr: t.Expr) -> Operand:
        """The value of an expression; its mistakes are reported, and poison stands for what they spoil.

        Each rule is a generator that yields the subexpressions it needs and is sent their values, so that deep
        expressions cost no Python stack and a branch that is not taken is never looked at.
        """
        stack: list[tuple[t.Expr, _Steps]] = []
        done = self._leaf_or_push(expr, stack)
        while stack:
            current, steps = stack[-1]
            try:
                child = next(steps) if done is None else steps.send(done)
            except StopIteration as stop:
                stack.pop()
                done = Operand(self.semantics.limited(stop.value, current.span), current)
            except Mistake as mistake:
                stack.pop()
                self.semantics.report(mistake.diagnostic)
                done = Operand(POISON, current)
            except TypeRuleError as error:
                stack.pop()
                self.semantics.report(Mistake("MT200", str(error), current.span).diagnostic)
                done = Operand(POISON, current)
            else:
                done = self._leaf_or_push(child, stack)
        assert done is not None
        return done

    def _leaf_or_push(self, expr: t.Expr, stack: list[tuple[t.Expr, _Steps]]) -> Operand | None:
        if isinstance(expr, t.Literal):
            return Operand(self.semantics.limited(Known(expr.value), expr.span), expr)
        if isinstance(expr, t.Name):
            try:
                return Operand(self._name(expr), expr)
            except Mistake as mistake:
                self.semantics.report(mistake.diagnostic)
                return Operand(POISON, expr)
        stack.append((expr, self._rules[type(expr)](expr)))
        return None

    # --- names ---

    def _name(self, expr: t.Name) -> Item:
        name = expr.id
        if name in self.scope.items:
            return self.scope.items[name]
        if name in self.scope.unreachable:
            label = self.scope.unreachable[name]
            hint = f"give `{name}` a value before it"
            raise Mistake("MT130", f"`{name}` is not defined here", expr.span, hint, [label])
        outer = self.semantics.kernel.names
        value = outer[name] if name in outer else getattr(python, name, MISSING)
        if value is not MISSING:
            return outside_item(name, self.semantics.assumed(name, value, expr.span), expr.span)
        near = get_close_matches(name, [*self.scope.items, *outer], 1)
        other = f"assign it before, or make it a parameter of `{self.semantics.kernel.name}`"
        hint = f"did you mean `{near[0]}`?" if near else other
        raise Mistake("MT131", f"`{name}` is not defined", expr.span, hint)

    def _attribute(self, expr: t.Attribute) -> _Steps:
        if (member := module_member(expr, self.semantics.kernel.names, self.scope.items)) is not None:
            return member
        base = yield expr.base
        item, name = base.item, expr.name
        if is_poison(base):
            return POISON
        if isinstance(item, Known) and item.type is not None and name != "value":
            base = Operand(self.semantics.value(base), expr.base)
            item = base.item
        match item:
            case Value():
                return attributes.of_value(self.semantics, expr.span, base, name)
            case Known(value=ModuleType() as module):
                return member_item(module, name, self.semantics.text(expr.span), expr.span)
            case Window():
                return attributes.of_window(self.semantics, expr.span, base, name)
            case Known() | Tuple():
                return attributes.of_constexpr(self.semantics, expr.span, base, name)
        hint = f"call it first: {self.semantics.text(base.span)}(...).{name}"
        raise Mistake("MT134", f"{self.semantics.describe(base)} has no `.{name}`", expr.span, hint)

    # --- operators ---

    def _unary(self, expr: t.UnaryOp) -> _Steps:
        operand = yield expr.operand
        self.semantics.builder.span = expr.span
        return POISON if is_poison(operand) else self.semantics.unary(expr.op, operand, expr.span)

    def _binary(self, expr: t.BinaryOp) -> _Steps:
        lhs = yield expr.lhs
        rhs = yield expr.rhs
        return self.combine(expr.op, lhs, rhs, expr.span)

    def combine(self, op: str, lhs: Operand, rhs: Operand, span: Span) -> Item:
        """`lhs op rhs` of evaluated operands."""
        self.semantics.builder.span = span
        if is_poison(lhs, rhs):
            return POISON
        if isinstance(lhs.item, Tuple) and isinstance(rhs.item, Tuple) and op == "+":
            return Tuple(lhs.item.items + rhs.item.items)
        return self.semantics.binary(op, lhs, rhs, span)

    def _comparison(self, expr: t.Comparison) -> _Steps:
        lhs = yield expr.first
        result: Operand | None = None
        for op, node in zip(expr.ops, expr.rest, strict=True):
            rhs = yield node
            if is_poison(lhs, rhs):
                return POISON
            self.semantics.builder.span = expr.span
            one = Operand(self.semantics.compare(op, self._plain(lhs), self._plain(rhs), expr.span), expr)
            # a < b < c means (a < b) & (b < c), each operand evaluated once; of constexprs only a false one matters.
            if isinstance(one.item, Known) and not one.item.value:
                return one.item
            if result is None or isinstance(result.item, Known):
                result = one
            elif not isinstance(one.item, Known):
                result = Operand(self.combine("&", result, one, expr.span), expr)
            lhs = rhs
        assert result is not None
        return result.item

    def _plain(self, operand: Operand) -> Operand:
        """A tuple of constexprs as one constexpr, so that it can be compared."""
        if isinstance(operand.item, Tuple):
            return Operand(Known(self.semantics.known(operand, "a compared tuple")), operand.expr)
        return operand

    def _logical(self, expr: t.Logical) -> _Steps:
        operands = []
        for node in expr.operands:
            operand = yield node
            if is_poison(operand):
                return POISON
            operands.append(operand)
            if isinstance(operand.item, Value):
                continue
            value = self.semantics.known(operand, f"an operand of `{expr.op}`")
            if bool(value) == (expr.op == "or"):
                return operand.item  # what follows is not looked at
        run_time = any(isinstance(operand.item, Value) for operand in operands)
        return self.connect(expr.op, operands, expr.span) if run_time else operand.item

    def _conditional(self, expr: t.Conditional) -> _Steps:
        test = yield expr.test
        if is_poison(test):
            return POISON
        condition = self.condition(test, "the condition of an `if`-`else`")
        if isinstance(condition, bool):
            return (yield expr.if_true if condition else expr.if_false).item
        sides, operands = [], []
        for node in (expr.if_true, expr.if_false):
            with self.region(expr.span) as made:
                operands.append((yield node))
            sides.append(made)
        if is_poison(*operands):
            return POISON
        return self.choose_value(condition, sides, operands, expr.span)

    # --- calls and tuples ---

    def _call(self, expr: t.Call) -> _Steps:
        function = yield expr.function
        args = []
        for node in expr.args:
            if isinstance(node, t.Starred):
                args += self.unpacked((yield node.value))
            else:
                args.append((yield node))
        keywords = {}
        for name, node in expr.keywords:
            keywords[name] = yield node
        if is_poison(function, *args, *keywords.values()):
            return POISON
        builtin = self._callee(function, expr)
        if isinstance(function.item, Method):
            args.insert(0, function.item.base)
        bound = builtin.bind(expr, args, keywords)
        self.semantics.builder.span = expr.span
        return builtin.rule(self.semantics, expr.span, **bound)

    def _callee(self, function: Operand, expr: t.Call) -> Builtin:
        item = function.item
        if isinstance(item, Method):
            return attributes.method(item)
        value = item.value if isinstance(item, Known) else None
        found = FUNCTIONS.get(value) if isinstance(value, (FunctionType, BuiltinFunctionType, type)) else None
        if found is not None:
            return found
        text = self.semantics.text(function.span)
        if any(value is loop for loop in LOOPS):
            hint = "for the integers as a block, write tl.arange(start, end)"
            raise Mistake("MT136", f"`{text}` is used only as `for i in {text}(...)`", expr.span, hint)
        if is_kernel(value) or isinstance(value, ConstexprFunction):
            return self.helper(value, expr)
        hint = f"write tl.cast(x, {text})" if attributes.is_type(value) else "call functions of tl, and @jit functions"
        raise Mistake("MT136", f"{self.semantics.describe(function)} cannot be called in a kernel", expr.span, hint)

    def helper(self, function: Any, call: t.Call) -> Builtin:
        """A function of the author's as something to call."""
        raise Mistake("MT136", f"`{self.semantics.text(call.function.span)}` is called only in kernels", call.span,
                      "call it in the kernel's body")  # fmt: skip

    def _subscript(self, expr: t.Subscript) -> _Steps:
        base = yield expr.base
        index = yield expr.index
        if is_poison(base, index):
            return POISON
        if isinstance(base.item, Known) and is_kernel(base.item.value):
            message = f"`{self.semantics.text(expr.span)}`: a kernel cannot launch a kernel"
            raise Mistake("MT136", message, expr.span, "launch one after the other")
        if isinstance(base.item, Value):
            self.semantics.builder.span = expr.span
            return shapes.index(self.semantics, expr.span, base, index)
        if not isinstance(base.item, Tuple):
            hint = "blocks and tuples can be indexed"
            raise Mistake("MT202", f"{self.semantics.describe(base)} cannot be indexed", expr.span, hint)
        if isinstance(index.item, Known) and isinstance(index.item.value, slice):
            return Tuple(base.item.items[index.item.value])
        position = self.semantics.known_int(index, "an index")
        items = base.item.items
        if not -len(items) <= position < len(items):
            hint = f"use {-len(items)} to {len(items) - 1}" if items else "there is nothing in it"
            raise Mistake("MT212", f"index {position} is out of range of {len(items)} items", index.span, hint)
        return items[position]

    def _slice(self, expr: t.Slice) -> _Steps:
        parts = []
        for node in (expr.start, expr.stop, expr.step):
            operand = None if node is None else (yield node)
            if operand is not None and is_poison(operand):
                return POISON
            parts.append(None if operand is None else self.semantics.known_int(operand, "a bound of a slice"))
        return Known(slice(*parts))

    def _tuple(self, expr: t.TupleExpr) -> _Steps:
        items = []
        for node in expr.items:
            items.append((yield node).item)
        if items and all(item is POISON for item in items):
            return POISON  # a tuple of it would grow again where a loop nests it in itself
        return Tuple(tuple(items))

    def _fstring(self, expr: t.FString) -> _Steps:
        parts = []
        for node in expr.parts:
            part = yield node
            if is_poison(part):
                return POISON
            parts.append(str(self.semantics.known(part, "a part of an f-string")))
        return Known("".join(parts))

    def _formatted(self, expr: t.Formatted) -> _Steps:
        operand = yield expr.value
        spec = Operand(Known(""), expr) if expr.spec is None else (yield expr.spec)
        return POISON if is_poison(operand, spec) else self.semantics.formatted(expr, operand, spec)

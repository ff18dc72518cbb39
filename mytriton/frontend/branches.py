"""Run-time `if`: both branches become blocks, and what they bind differently becomes the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mytriton.diagnostics import Label
from mytriton.frontend import tree as t
from mytriton.frontend.evaluate import Evaluator
from mytriton.frontend.regions import Differ, Join, Plan, realized
from mytriton.frontend.scope import ON, Flow, Scope, Side
from mytriton.frontend.values import POISON, Known, Mistake, is_poison
from mytriton.ir.core import Value
from mytriton.source import Span


class Branches(Evaluator):
    """Lowers `if`, at compile time and at run time, and early returns."""

    def body(self, statements: Sequence[t.Stmt], tail: bool) -> Flow:
        """Lower statements in order; `tail` says that the function ends after them."""
        raise NotImplementedError

    def if_(self, node: t.If, rest: Sequence[t.Stmt], tail: bool) -> tuple[Flow, bool]:
        """Lower an `if`; `rest` are the statements after it. Where one branch returns, they go into the other one: the
        second result says whether that happened."""
        test = self.evaluate(node.test)
        if is_poison(test):
            for name in t.bound_names((*node.body, *node.orelse)):
                self.bind(name.id, POISON, name.span)
            return ON, False
        condition = self.condition(test, "the condition of an `if`")
        ends = tail and not rest
        if isinstance(condition, bool):
            taken, other = (node.body, node.orelse) if condition else (node.orelse, node.body)
            flow = self.body(taken, ends)
            for name in t.bound_names(other):
                if name.id not in self.scope.items:
                    self.scope.hide([name.id], name.span, "assigned only here, in a branch that is not taken")
            return flow, False
        bodies, moves = [node.body, node.orelse], False
        names = list(t.bound_names((*node.body, *node.orelse)))
        for body, position in ((node.body, 1), (node.orelse, 0)):
            if rest and not moves and _returns(body):
                bodies[position] = (*bodies[position], *rest)
                moves = True
        sides = [self._side(body, node.span, tail if moves else ends) for body in bodies]
        going = [side for side in sides if side.flow is ON]
        if rest and not moves and len(going) == 1 and any(side.ended for side in sides):
            # A branch that returns because of what was decided at compile time.
            with self.region(node.span, going[0].ops):
                self.scope = going[0].scope
                going[0].flow = self.body(rest, tail)
            moves = True
        names += t.bound_names(tuple(rest)) if moves else ()
        return self.choose(condition, sides, names, node.span), moves

    def _side(self, statements: Sequence[t.Stmt], span: Span, tail: bool) -> Side:
        with self.region(span) as made:
            flow = self.body(statements, tail)
            return Side(made, self.scope, flow)

    def unless(self, flow: Flow, names: Iterable[t.Name], rest: Callable[[], Flow], span: Span) -> Flow:
        """Lower `rest`, which binds `names`, where `flow` did not return."""
        assert isinstance(flow.returned, Value)
        returned = Side([], self.scope.copy(), Flow(True, flow.value, flow.span))
        with self.region(span) as made:
            ended = rest()
            other = Side(made, self.scope, ended)
        return self.choose(flow.returned, [returned, other], list(names), span)

    def choose(self, condition: Value, sides: Sequence[Side], names: Sequence[t.Name], span: Span) -> Flow:
        """Append the `If` of two finished sides that bind `names`, and bind its results."""
        join = Join()
        flags = [f if isinstance(f, Value) else Known(f) for f in (side.flow.returned for side in sides)]
        returned, value = join.plan(*flags), self._joined_value(join, sides)
        plans: dict[str, Plan] = {}
        if not all(side.ended for side in sides):
            for name in dict.fromkeys(n.id for n in names):
                plan = self._joined_name(join, name, sides)
                if plan is not None:
                    plans[name] = plan
        results = self.append_if(condition, [side.ops for side in sides], join, span)
        for name, plan in plans.items():
            places = [s.scope.places[name] for s in sides if not s.ended]
            self.bind(name, realized(plan, results), max(places, key=lambda p: (p.line, p.column)))
        flag = realized(returned, results)
        end = next((s.flow.span for s in sides if s.flow.span is not None), None)
        if isinstance(flag, Known):
            return Flow(True, realized(value, results), end) if flag.value else ON
        assert isinstance(flag, Value)
        return Flow(flag, realized(value, results), end)

    # --- what two sides come to ---

    def _joined_value(self, join: Join, sides: Sequence[Side]) -> Plan:
        """What the function returns in either side."""
        values = [side.flow.value for side in sides]
        returning = [i for i, side in enumerate(sides) if side.flow is not ON]
        if len(returning) < 2:
            return join.plan_one(values[returning[0]], None, returning[0]) if returning else Known(None)
        try:
            return join.plan(*values)
        except Differ as differ:
            self._returns_differ(differ, [side.flow for side in sides])
            return POISON

    def _returns_differ(self, differ: Differ, flows: Sequence[Flow]) -> None:
        found = [(f.span, w) for f, w in zip(flows, (differ.first, differ.second), strict=True) if f.span is not None]
        found.sort(key=lambda pair: (pair[0].line, pair[0].column))
        span, type_ = found[-1]
        message = f"this returns {type_}, but at its end the function returns nothing"
        labels = []
        if len(found) == 2:
            labels = [Label(found[0][0], f"{found[0][1]} here")]
            message = f"this returns {type_}, but another `return` gives {found[0][1]}"
        hint = "a function returns values of one type on all its run-time paths"
        self.semantics.report(Mistake("MT152", message, span, hint, labels).diagnostic)

    def _joined_name(self, join: Join, name: str, sides: Sequence[Side]) -> Plan | None:
        """One value for a name after the branches; None if it has none there, or keeps the one it has."""
        before = self.scope.items.get(name)
        going = [i for i, side in enumerate(sides) if not side.ended]
        items = [side.scope.items.get(name) for side in sides]
        if any(items[i] is None for i in going):
            self._undefined(name, [sides[i].scope for i in going])
            return None
        if all(items[i] is before for i in going):
            return None
        kept = len(join.pairs)
        try:
            if len(going) == 1:
                return join.plan_one(items[going[0]] or POISON, before, going[0])
            plan = join.plan(items[0] or POISON, items[1] or POISON)
        except Differ as differ:
            del join.pairs[kept:]
            self._types_differ(name, differ, [side.scope.places[name] for side in sides])
            return None
        changed = next((s.scope.places[name] for s in sides if name not in s.scope.constexprs), None)
        if name in self.scope.constexprs and changed is not None and not isinstance(plan, Known):
            message = f"the constexpr `{name}` cannot change in a run-time `if`"
            labels = [Label(self.scope.places[name], "declared here")]
            hint = "use another name, for a value that is computed at run time"
            self.semantics.report(Mistake("MT149", message, changed, hint, labels).diagnostic)
        return plan

    def _undefined(self, name: str, scopes: Sequence[Scope]) -> None:
        """A name that has a value in one branch only, or in none (a loop's variable)."""
        hidden = [s.unreachable[name] for s in scopes if name in s.unreachable]
        bound = [s.places[name] for s in scopes if name in s.items]
        if bound and name not in self.scope.items:
            self.scope.hide([name], bound[0], "assigned only here, in one branch of a run-time `if`")
        elif hidden:
            self.scope.hide([name], hidden[0].span, hidden[0].text)

    def _types_differ(self, name: str, differ: Differ, places: Sequence[Span]) -> None:
        """A name with two types after an `if`: a mistake if it had a value before, else it is just not defined."""
        old, found = self.scope.places.get(name), list(zip(places, (differ.first, differ.second), strict=True))
        new = [(place, type_) for place, type_ in found if place != old]
        place, type_ = new[-1]
        other_place, other = next(pair for pair in found if pair[0] != place)
        if name not in self.scope.items:
            self.scope.hide([name], place, f"{type_} here, but {other} in the other branch of the `if`")
            return
        where = "before the `if`" if other_place == old else "in the other branch"
        message = f"`{name}` becomes {type_} here, but is {other} {where}"
        hint = "after a run-time `if` a variable has one type: convert one of the values, or use two names"
        self.semantics.report(Mistake("MT146", message, place, hint, [Label(other_place, f"{other} here")]).diagnostic)
        self.bind(name, POISON, place)


def _returns(body: Sequence[t.Stmt]) -> bool:
    """Whether the statements as they are written always return."""
    for node in body:
        if isinstance(node, t.Return):
            return True
        if isinstance(node, t.If) and _returns(node.body) and _returns(node.orelse):
            return True
    return False

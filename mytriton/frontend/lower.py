"""Statements to typed SSA: constexpr control flow is resolved here, and every mistake of the kernel is collected."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.diagnostics import CompileError, Diagnostic, Label
from mytriton.frontend import tree as t
from mytriton.frontend.evaluate import Evaluator
from mytriton.frontend.kernel import MISSING
from mytriton.frontend.outside import as_item
from mytriton.frontend.registry import LOOPS
from mytriton.frontend.schedule import schedule
from mytriton.frontend.semantics import Semantics, is_poison
from mytriton.frontend.values import POISON, Item, Known, Mistake, Operand, Tuple
from mytriton.ir.builder import Ids, parameter
from mytriton.ir.core import Block, Func, Value
from mytriton.source import Span
from mytriton.specialize import Specialization

#: Loops are unrolled; more iterations than this in one kernel would take minutes to compile.
MAX_ITERATIONS = 65536


class _Silent(Exception):
    """A statement cannot be lowered because of a mistake that was reported already."""


class _Lowering:
    def __init__(self, tree: t.Tree) -> None:
        self.semantics = Semantics(tree.kernel)
        self.evaluator = Evaluator(self.semantics)
        self.hints: dict[Value, str] = {}
        self._iterations = 0

    def body(self, statements: Sequence[t.Stmt]) -> bool:
        """Lower statements in order; true if a `return` ended the kernel."""
        for statement in statements:
            try:
                if self._statement(statement):
                    return True
            except (Mistake, _Silent) as error:
                if isinstance(error, Mistake):
                    self.semantics.report(error.diagnostic)
                for name in t.bound_names((statement,)):
                    self._bind(name.id, POISON)
        return False

    def _statement(self, node: t.Stmt) -> bool:
        match node:
            case t.Assign():
                value = self.evaluator.evaluate(node.value)
                if node.annotation is not None and not is_poison(value):
                    self._check_annotation(node.annotation, value)
                for target in node.targets:
                    self._assign(target, value)
            case t.AugAssign():
                changed = t.BinaryOp(node.span, node.op, node.target, node.value)
                self._bind(node.target.id, self.evaluator.evaluate(changed).item)
            case t.ExprStmt():
                self.evaluator.evaluate(node.value)
            case t.If():
                return self._if(node)
            case t.For():
                return self._for(node)
            case t.While():
                hint = "write a `for` loop over a constexpr range"
                raise Mistake("MT140", "`while` is not supported yet", node.span, hint)
            case t.Return():
                if node.value is not None and not _is_none(self.evaluator.evaluate(node.value)):
                    hint = "store results through a pointer: tl.store(out + offsets, value)"
                    raise Mistake("MT141", "a kernel returns nothing", node.span, hint)
                return True
        return False

    # --- names ---

    def _bind(self, name: str, item: Item) -> None:
        self.evaluator.names[name] = item
        self.evaluator.unreachable.pop(name, None)
        if isinstance(item, Value):
            self.hints.setdefault(item, name)

    def _assign(self, target: t.Target, value: Operand) -> None:
        if isinstance(target, t.Name):
            self._bind(target.id, value.item)
            return
        targets = [x for x in target.items if isinstance(x, (t.Name, t.TupleExpr))]
        items: Sequence[Item]
        if is_poison(value) and not isinstance(value.item, Tuple):
            items = [POISON] * len(targets)
        elif isinstance(value.item, Tuple):
            items = value.item.items
        else:
            raise Mistake("MT214", f"{self.semantics.describe(value)} cannot be unpacked", value.span)
        if len(items) != len(targets):
            raise Mistake("MT214", f"{len(targets)} names for {len(items)} values", target.span)
        for one, item in zip(targets, items, strict=True):
            self._assign(one, Operand(item, value.expr))

    def _check_annotation(self, annotation: t.Expr, value: Operand) -> None:
        text = self.semantics.text(annotation.span).strip("'\"")
        if text.split(".")[-1] == "constexpr":
            self.semantics.known(value, "the value of a `constexpr` variable")

    def _hide(self, names: Sequence[t.Name], keep: Sequence[str], text: str) -> None:
        """After a branch that was not taken or a loop, say at a use of its names where they were bound."""
        for name in names:
            if name.id not in keep:
                self.evaluator.names.pop(name.id, None)
                self.evaluator.unreachable.setdefault(name.id, Label(name.span, text))

    # --- control flow ---

    def _if(self, node: t.If) -> bool:
        test = self.evaluator.evaluate(node.test)
        branches = (*node.body, *node.orelse)
        if is_poison(test):
            for name in t.bound_names(branches):
                self._bind(name.id, POISON)
            return False
        if isinstance(test.item, Value):
            hint = "compute both sides and choose with tl.where(condition, x, y); mask stores with the condition"
            message = f"`if` on the run-time value {self.semantics.describe(test)} is not supported yet"
            raise Mistake("MT140", message, node.span, hint)
        taken, other = (node.body, node.orelse) if self.evaluator.truth(test) else (node.orelse, node.body)
        stopped = self.body(taken)
        text = "assigned only here, in a branch that is not taken"
        self._hide(list(t.bound_names(other)), list(self.evaluator.names), text)
        return stopped

    def _for(self, node: t.For) -> bool:
        values = self._iterations_of(node)
        before = list(self.evaluator.names)
        # Not len(values), which stops at 2**63 - 1.
        self._iterations += max(0, -((values.start - values.stop) // values.step))
        if self._iterations > MAX_ITERATIONS:
            message = f"unrolling this loop exceeds {MAX_ITERATIONS} iterations in one kernel"
            raise Mistake("MT142", message, node.span, "use blocks and a launch grid instead of long loops")
        for value in values:
            self._bind(node.target.id, Known(value))
            if self.body(node.body):
                return True
        bound = [n for n in t.bound_names((node,)) if n.id not in before]
        # The loop variable itself is gone even if the name existed before: its value would depend on the trip count.
        self._hide([node.target], (), "the loop variable ends with its loop")
        self._hide(bound, before, "assigned only here, inside a loop")
        return False

    def _iterations_of(self, node: t.For) -> range:
        call = node.iterable
        function = self.evaluator.evaluate(call.function) if isinstance(call, t.Call) else None
        if function is not None and is_poison(function):
            raise _Silent
        if (
            not isinstance(call, t.Call)
            or function is None
            or not isinstance(function.item, Known)
            or not any(function.item.value is loop for loop in LOOPS)
        ):
            message = "a `for` loop in a kernel runs over range(...) or tl.static_range(...)"
            raise Mistake("MT143", message, call.span)
        args = [self.evaluator.evaluate(x) for x in call.args]
        named = {name: self.evaluator.evaluate(x) for name, x in call.keywords}
        if is_poison(*args, *named.values()):
            raise _Silent
        names = ("start", "end", "step")[: len(args)] if len(args) > 1 else ("end",)[: len(args)]
        bounds = {**dict(zip(names, args, strict=False)), **named}
        text = self.semantics.text(call.function.span)
        if len(args) > 3 or "end" not in bounds or set(bounds) - {"start", "end", "step"}:
            raise Mistake("MT120", f"`{text}` takes (end), (start, end) or (start, end, step)", call.span)
        for operand in bounds.values():
            if isinstance(operand.item, Value):
                message = f"a loop with the run-time bound {self.semantics.describe(operand)} is not supported yet"
                hint = "make the bound a constexpr parameter: the loop is then unrolled"
                raise Mistake("MT140", message, operand.span, hint)
        numbers = {name: self.semantics.known_int(o, "a loop bound") for name, o in bounds.items()}
        if numbers.get("step") == 0:
            raise Mistake("MT144", "the step of a loop must not be 0", bounds["step"].span)
        return range(numbers.get("start", 0), numbers["end"], numbers.get("step", 1))


def _is_none(operand: Operand) -> bool:
    return isinstance(operand.item, Known) and operand.item.value is None


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


def lower(tree: t.Tree, specialization: Specialization) -> tuple[Func, tuple[Diagnostic, ...]]:
    """The kernel as typed SSA, and its warnings. Raises `CompileError` with every mistake that was found."""
    lowering = _Lowering(tree)
    lowering.evaluator.names.update(_parameters(tree, specialization))
    params = tuple(v for name, _, _ in specialization.params if isinstance(v := lowering.evaluator.names[name], Value))
    lowering.body(tree.body)
    findings = tuple(sorted(lowering.semantics.diagnostics, key=lambda d: _place(d.span)))
    if any(d.severity == "error" for d in findings):
        raise CompileError(findings, [tree.kernel.unit])
    ids = Ids()
    ops = schedule(lowering.semantics.builder.ops, lowering.hints, ids)
    info = {name: known for name, _, known in specialization.params}
    return Func(tree.kernel.name, Block(params, ops), info, tree.span, ids.value, ids.inline), findings


def _place(span: Span | None) -> tuple[int, int]:
    return (span.line, span.column) if span else (0, 0)

"""Calls of `@jit` helpers: the body of the helper is lowered where it is called, on the values of the arguments."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import BoundArguments, signature
from typing import Any

from mytriton.diagnostics import CompileError, LaunchError
from mytriton.frontend import limits
from mytriton.frontend import tree as t
from mytriton.frontend.kernel import MISSING, Helper, Kernel
from mytriton.frontend.loops import Loops
from mytriton.frontend.outside import as_item
from mytriton.frontend.parse import parse
from mytriton.frontend.registry import Builtin, Param, parameters_of
from mytriton.frontend.scope import Scope
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import POISON, TOO_LARGE, Item, Known, Mistake, Operand, excess
from mytriton.language.compile_time import ConstexprFunction
from mytriton.source import Span
from mytriton.specialize import constexpr_value


class Calls(Loops):
    """Inlines helpers. Each has names of its own, and its lines keep the place they are called from."""

    def __init__(self, semantics: Semantics) -> None:
        super().__init__(semantics)
        #: The functions that are being lowered: the kernel, and the helpers down to the present one.
        self._chain = [semantics.kernel]
        self._trees: dict[tuple[int, Span], t.Tree] = {}
        self._calls = 0
        semantics.call = self._call_with

    @property
    def in_helper(self) -> bool:
        """Whether the statement that is lowered is one of a helper."""
        return len(self._chain) > 1

    def _call_with(self, function: Operand, args: Sequence[Operand], span: Span) -> Item:
        """The result of a function that a rule was given, of the language or a helper."""
        call = t.Call(span, function.expr, (), ())
        builtin = self._callee(function, call)
        return builtin.rule(self.semantics, span, **builtin.bind(call, args, {}))

    def helper(self, function: Any, call: t.Call) -> Builtin:
        if isinstance(function, ConstexprFunction):
            return _compile_time(function.function)
        kernel: Kernel = function.kernel
        compile_time = isinstance(function, Helper) and function.compile_time
        if compile_time:
            kernel = replace(kernel, params=tuple(replace(p, is_constexpr=True) for p in kernel.params))

        def rule(semantics: Semantics, span: Span, **bound: Operand) -> Item:
            return self._inline(kernel, bound, call, compile_time)

        params = [Param(p.name, p.default is not MISSING) for p in kernel.params]
        if kernel.node is not None and kernel.node.args.vararg is not None:  # which `parse` refuses, where it stands
            params.append(Param(kernel.node.args.vararg.arg, rest=True))
        return Builtin(kernel.name, tuple(params), rule)

    def _inline(self, kernel: Kernel, bound: Mapping[str, Operand], call: t.Call, compile_time: bool) -> Item:
        """The result of a helper, whose body is appended to the IR."""
        semantics = self.semantics
        self._check_recursion(kernel, call.span)
        self._check_limits(kernel, call.span)
        found = len(semantics.diagnostics)
        try:
            tree = self._tree(kernel, call.span)
        except CompileError as error:
            for diagnostic in error.diagnostics:
                semantics.report(diagnostic if diagnostic.span is not None else replace(diagnostic, span=call.span))
            return POISON
        scope = self._parameters(kernel, bound, tree, call, compile_time)
        outer = semantics.kernel, self.loops, self.compile_time
        try:
            with self.region(call.span, semantics.builder.ops):
                semantics.kernel, self.loops, self.compile_time, self.scope = kernel, 0, compile_time, scope
                semantics.compile_time = compile_time
                self._chain.append(kernel)
                flow = self.body(tree.body, tail=True)
        finally:
            semantics.kernel, self.loops, self.compile_time = outer
            semantics.compile_time = self.compile_time
            del self._chain[self._chain.index(kernel) :]
        wrong = any(d.severity == "error" for d in semantics.diagnostics[found:])
        return POISON if wrong else flow.value

    def _check_recursion(self, kernel: Kernel, span: Span) -> None:
        units = [k.unit for k in self._chain]
        if kernel.unit in units:
            callers = [f"`{k.name}`" for k in self._chain[units.index(kernel.unit) :]]
            text = " calls ".join([*callers, f"`{kernel.name}`"]) if len(callers) > 1 else f"{callers[0]} calls itself"
            hint = "a kernel has no stack: write a loop that keeps the state in variables"
            raise Mistake("MT136", f"{text}; recursion is not part of the kernel language", span, hint)

    def _check_limits(self, kernel: Kernel, span: Span) -> None:
        if len(self._chain) > limits.MAX_CALL_DEPTH:
            ends = f"from `{self._chain[0].name}` to `{kernel.name}`"
            hint = "put helpers that only call the next one together; a `for` loop repeats one"
            raise Mistake("MT147", f"calls nest more than {limits.MAX_CALL_DEPTH} deep, {ends}", span, hint)
        self._calls += 1
        if self._calls > limits.MAX_CALLS:
            message = f"`{self._chain[0].name}` calls helpers more than {limits.MAX_CALLS} times"
            hint = "each call is compiled in its place: keep a result in a variable, or call in a `range` loop"
            raise Mistake("MT142", message, span, hint)

    def _tree(self, kernel: Kernel, span: Span) -> t.Tree:
        units = self.semantics.units
        if kernel.unit not in units:
            units.append(kernel.unit)
        key = units.index(kernel.unit), span
        if key not in self._trees:
            self._trees[key] = parse(kernel, *key)
        return self._trees[key]

    def _parameters(
        self, kernel: Kernel, bound: Mapping[str, Operand], tree: t.Tree, call: t.Call, compile_time: bool
    ) -> Scope:
        """The names that a helper starts with. As in Triton a constexpr parameter may get a run-time value, and is an
        error only where a constexpr is needed."""
        scope = Scope()
        for param in kernel.params:
            operand = bound.get(param.name)
            item = as_item(param.default) if operand is None else operand.item
            constexpr = param.is_constexpr
            if constexpr and operand is not None:
                what = f"the constexpr parameter `{param.name}` of `{kernel.name}`"
                constexpr = compile_time or self.semantics.says_constexpr(operand, what)
                item = as_item(self.semantics.known(operand, what)) if constexpr else item
            scope.bind(param.name, item, replace(param.span, unit=tree.span.unit, call_site=call.span))
            if constexpr:
                scope.constexprs.add(param.name)
        return scope


def _compile_time(function: Callable[..., Any]) -> Builtin:
    """A Python function of the author's (`constexpr_function`), which Python runs while the kernel is compiled."""
    name = function.__name__

    def rule(s: Semantics, span: Span, **bound: Any) -> Item:
        values = BoundArguments(signature(function), OrderedDict())
        for parameter, given in bound.items():
            what = f"the argument `{parameter}` of `{name}`"
            many = isinstance(given, tuple)
            values.arguments[parameter] = tuple(s.known(o, what) for o in given) if many else s.known(given, what)
        values.apply_defaults()
        try:
            result = function(*values.args, **values.kwargs)
        except Exception as error:  # noqa: BLE001 (the author's function may raise anything)
            message = f"`{s.text(span)}` raises {type(error).__name__}: {error}"
            raise Mistake("MT212", message, span, "it is called while the kernel is compiled") from None
        if problem := excess(Known(result)):
            raise Mistake("MT212", f"`{s.text(span)}` cannot be computed: {problem}", span, TOO_LARGE)
        try:
            return as_item(constexpr_value(name, result))
        except LaunchError:
            message = f"`{name}` returns a {type(result).__name__}"
            hint = "a constexpr is a number, string, None, dtype or tuple of these"
            raise Mistake("MT212", message, span, hint) from None

    return Builtin(name, parameters_of(function), rule)

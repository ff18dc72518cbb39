"""The table from functions that a kernel may call to the rules that lower them.

A rule is a Python function with the parameters of the function it implements, after the semantics and the span of the
call. Nothing else in the compiler knows the language's functions by name; the rules are in `builtins.py`, `host.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from mytriton import language as tl
from mytriton.frontend.tree import Call
from mytriton.frontend.values import Item, Mistake, Operand

Rule = Callable[..., Item]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A callable of the kernel language: `parameters` are (name, is optional), in order."""

    name: str
    parameters: tuple[tuple[str, bool], ...]
    rule: Rule

    def bind(self, call: Call, args: Sequence[Operand], keywords: dict[str, Operand]) -> dict[str, Operand]:
        """The arguments by parameter name; optional ones may be absent. Raises `Mistake`."""
        names = [name for name, _ in self.parameters]
        if len(args) > len(names):
            takes = f"takes {len(names)} arguments ({', '.join(names)})" if names else "takes no arguments"
            raise Mistake("MT120", f"`{self.name}` {takes}, got {len(args)}", args[len(names)].span)
        bound = dict(zip(names, args, strict=False))
        for name, operand in keywords.items():
            if name not in names:
                near = get_close_matches(name, names, 1)
                hint = f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(names)}"
                raise Mistake("MT120", f"`{self.name}` has no parameter `{name}`", operand.span, hint)
            if name in bound:
                raise Mistake("MT120", f"`{self.name}` got `{name}` twice", operand.span)
            bound[name] = operand
        missing = [name for name, optional in self.parameters if not optional and name not in bound]
        if missing:
            raise Mistake("MT120", f"`{self.name}` needs `{missing[0]}`", call.span)
        return bound


#: The functions by identity, and the methods of run-time values by name.
FUNCTIONS: dict[Any, Builtin] = {}
METHODS: dict[str, Builtin] = {}


def builtin(function: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """Registers the rule of a language function; the parameters are those of the function's own signature."""

    def register(rule: Rule) -> Rule:
        parameters = tuple((p.name, p.default is not Parameter.empty) for p in signature(function).parameters.values())
        FUNCTIONS[function] = Builtin(f"tl.{function.__name__}", parameters, rule)
        return rule

    return register


#: The iterables of a `for` loop; both unroll over constexpr bounds.
LOOPS: tuple[Any, ...] = (builtins.range, tl.static_range)

"""The table from functions that a kernel may call to the rules that lower them.

A rule is a Python function with the parameters of the function it implements, after the semantics and the span of the
call. Nothing else in the compiler knows the language's functions by name; the rules are in `builtins.py`, `host.py`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from inspect import Parameter, signature
from typing import Any

from mytriton import language as tl
from mytriton.frontend.tree import Call
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.records import dataclass

Rule = Callable[..., Item]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a callable. `rest` collects all further positional arguments in a tuple; one that is `named` is
    given by keyword only."""

    name: str
    optional: bool = False
    rest: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Builtin:
    """A callable of the kernel language, its parameters in order."""

    name: str
    parameters: tuple[Param, ...]
    rule: Rule

    def bind(self, call: Call, args: Sequence[Operand], keywords: dict[str, Operand]) -> dict[str, Any]:
        """The arguments by parameter name; optional ones may be absent. Raises `Mistake`."""
        by_position = [p.name for p in self.parameters if not p.rest and not p.named]
        by_name = [p.name for p in self.parameters if not p.rest]
        rest = next((p.name for p in self.parameters if p.rest), None)
        if len(args) > len(by_position) and rest is None:
            takes = f"takes {len(by_position)} arguments ({', '.join(by_position)})"
            takes = takes if by_position else "takes no arguments"
            hint = "leave away what is too much"
            if len(by_name) > len(by_position):
                hint = f"give {', '.join(by_name[len(by_position) :])} by name"
            message = f"`{self.name}` {takes}, got {len(args)}"
            raise Mistake("MT120", message, args[len(by_position)].span, hint)
        bound: dict[str, Any] = dict(zip(by_position, args, strict=False))
        for name, operand in keywords.items():
            if name not in by_name:
                near = get_close_matches(name, by_name, 1)
                hint = (
                    f"did you mean `{near[0]}`?" if near else f"its parameters are {', '.join(by_name) or 'not named'}"
                )
                raise Mistake("MT120", f"`{self.name}` has no parameter `{name}`", operand.span, hint)
            if name in bound:
                hint = f"its parameters are, in order, {', '.join(by_name)}"
                raise Mistake("MT120", f"`{self.name}` got `{name}` twice", operand.span, hint)
            bound[name] = operand
        missing = [p.name for p in self.parameters if not p.optional and not p.rest and p.name not in bound]
        if missing:
            hint = f"its parameters are, in order, {', '.join(by_name)}"
            raise Mistake("MT120", f"`{self.name}` needs `{missing[0]}`", call.span, hint)
        if rest is not None:
            bound[rest] = tuple(args[len(by_position) :])
        return bound


#: The functions by identity, and the methods of run-time values by name.
FUNCTIONS: dict[Any, Builtin] = {}
METHODS: dict[str, Builtin] = {}
#: The methods of tensor descriptors.
DESCRIPTOR_METHODS: dict[str, Builtin] = {}


def parameters_of(function: Callable[..., Any]) -> tuple[Param, ...]:
    """The parameters of a Python function."""
    return tuple(
        Param(
            p.name,
            p.default is not Parameter.empty,
            p.kind is Parameter.VAR_POSITIONAL,
            p.kind is Parameter.KEYWORD_ONLY,
        )
        for p in signature(function).parameters.values()
    )


def builtin(function: Callable[..., Any], method: bool = False, module: str = "tl") -> Callable[[Rule], Rule]:
    """Registers the rule of a language function; the parameters are those of the function's own signature. With
    `method` it is one of run-time values too, under the same name."""

    def register(rule: Rule) -> Rule:
        FUNCTIONS[function] = Builtin(f"{module}.{function.__name__}", parameters_of(function), rule)
        if method:
            METHODS[function.__name__] = FUNCTIONS[function]
        return rule

    return register


#: The iterables of a `for` loop; the last is unrolled.
LOOPS: tuple[Any, ...] = (builtins.range, tl.range, tl.static_range)

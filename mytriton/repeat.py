"""Recognizing a launch that repeats an earlier one, by a key that is quick to make.

What a launch is compiled for is for `specialize` and `options` to say. The keys here only have to be finer: launches of
equal keys have equal specializations and targets (tests/test_repeat.py). Whatever has no rule is a `LookupError`, and
takes the long way, as does whatever is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any

from mytriton.descriptors import array_in, number_in
from mytriton.frontend.kernel import Kernel
from mytriton.keys import launch_key
from mytriton.options import SETTINGS
from mytriton.specialize import Specialization, unpacked
from mytriton.types import ScalarType

Rule = Callable[[Any], Hashable]
#: A way to a value: numbers of items, and functions.
Place = list[int | Callable[[Any], Any]]


def _int_key(value: int) -> Hashable:
    if not -(2**63) <= value < 2**63:
        raise LookupError
    return int, -(2**31) <= value < 2**31, value % 16 == 0, value == 1


def _tuple_key(value: tuple[Any, ...]) -> Hashable:
    return tuple, tuple(_ARGUMENTS[type(item)](item) for item in value)


class _Arguments(dict[type, Rule]):
    """The rules of runtime arguments, with those of arrays whose libraries are imported later, if ever."""

    def __missing__(self, type_: type) -> Rule:
        from mytriton.array_keys import rule_of  # which needs NumPy

        rule = self[type_] = rule_of(type_)
        return rule


# The rule of each exact type; a subclass may do anything, so it has none.

#: Of runtime arguments; None is the absence of one.
_ARGUMENTS = _Arguments({int: _int_key, float: type, bool: type, type(None): type, tuple: _tuple_key})

#: Of constexprs and options. Python says 1 == 1.0 == True and 0.0 == -0.0, but each compiles differently.
_CONSTANTS: dict[type, Rule] = {t: lambda value: (type(value), value) for t in (int, bool, str, type(None), ScalarType)}
_CONSTANTS[float] = lambda value: (float, value.hex())


class CallShape:
    """Calls of a kernel with so many positional arguments and these keywords, options included, in this order.

    `repeats` holds what is known of such calls, by `key`. A call that does not fit the kernel's parameters has a key
    too, if a useless one: the launch refuses it before anything is stored.
    """

    def __init__(self, kernel: Kernel, positional: int, keywords: Iterable[str]) -> None:
        given = [*[p.name for p in kernel.params[:positional]], *keywords]
        omitted = [p for p in kernel.params if p.name not in given]
        self.constants = {p.name for p in kernel.params if p.is_constexpr}.union(SETTINGS)
        self.repeats: dict[Hashable, Any] = {}
        self.defaults = {p.name: p.default for p in omitted}
        self.names = [*given, *self.defaults]
        self._rules = [_CONSTANTS if name in self.constants else _ARGUMENTS for name in self.names]
        self.params = [p.name for p in kernel.params]

    def values(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values of a call: positional, by keyword, and the defaults of the parameters left out."""
        return (*args, *keywords.values(), *self.defaults.values())

    def key(self, kernel: Kernel, values: tuple[Any, ...]) -> Hashable:
        """What `values` and the kernel's globals are compiled for; None if a value is unusual."""
        try:
            keys = [rules[type(value)](value) for rules, value in zip(self._rules, values, strict=False)]
        except LookupError:
            return None
        return (launch_key(kernel), *keys)

    def places(self, kernel: Kernel, values: tuple[Any, ...], specialization: Specialization) -> list[Place]:
        """Where the runtime arguments are among the values: the number of a value, and the way to an item of a tuple or
        to a part of a descriptor."""
        marks = {name: _marked(value, [n]) for n, (name, value) in enumerate(zip(self.names, values, strict=True))}
        _, found = unpacked(kernel, {name: marks[name] for name in self.params})
        for each in specialization.descriptors:
            place = found[each.name]
            found[each.name] = [*place, array_in]
            found |= {name: [*place, partial(number_in, number)] for number, name in enumerate(each.numbers)}
        return [found[name] for name, _, _ in specialization.params]

    def bound(self, values: tuple[Any, ...]) -> dict[str, Any]:
        """The arguments by parameter name, in the order of the parameters."""
        by_name = dict(zip(self.names, values, strict=True))
        return {name: by_name[name] for name in self.params}


def _marked(value: Any, place: Place) -> Any:
    """A value's place where the value is; for a tuple one of those of its items."""
    if isinstance(value, tuple):
        return tuple(_marked(item, [*place, number]) for number, item in enumerate(value))
    return place

"""A signature to begin with for a kernel of which nothing is known: told from how its parameters are used, else named.

Public Triton files annotate nothing; what calls them decides the types. A guess lets such a kernel be looked at before
anyone has looked up its caller, and says that it is one.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from mytriton.diagnostics import CompileError
from mytriton.frontend import tree as t
from mytriton.frontend.kernel import MISSING, Helper, Kernel, KernelParam
from mytriton.frontend.parse import parse
from mytriton.source import SourceUnit, Span

#: Calls whose first argument is an address.
_ACCESSES = re.compile(r"load|store|atomic_\w+|make_block_ptr|make_tensor_descriptor")

#: Calls that give an element from there.
_ELEMENTS = re.compile(r"load|atomic_\w+")

_POINTER = re.compile(r"(?i).*(ptr|pointer)s?\d*|p_(?!stride|size|num|len).*")
_FLOAT = re.compile(
    r"(?i)(.*_)?(eps|epsilon|scale|alpha|beta|gamma|prob|rate|momentum|lr|softcap|temperature|theta|p|lambda_?|weight_decay)"
)
_INDICES = re.compile(
    r"(?i).*(idx|ind|index|indices|indptr|offset|offsets|seqlens?|lens|lengths|table|tokens?|ids?|labels?|locs?"
    r"|strides?|shape|cumsum|cumprod|counts?|repeats)(_.*)?"
)
_BOOL = re.compile(
    r"(?i)(use|has|is|do|need|apply|enable|with|return|store|save|transpose|causal|output|reverse|even|invert)_?.*"
)
_DTYPE = re.compile(r"(?i).*(dtype|_type|type_|_ty)$")
#: Options that are strings, and what they are if nothing is said.
_STRINGS = {"input_precision": "tf32", "eviction_policy": "", "cache_modifier": "", "padding_option": ""}
_EXTENT = re.compile(r"(?i).*(block|tile|size|chunk|dim|len).*|b[a-z]{1,2}")


def guessed_signature(kernel: Kernel) -> dict[str, str]:
    """An entry in Triton's notation for every parameter: its annotation or default where there is one. Raises
    `CompileError` if the kernel cannot be parsed."""
    uses = _Uses(kernel, {})
    return {param.name: _entry(param, uses) for param in kernel.params}


def _entry(param: KernelParam, uses: _Uses) -> str:
    name = param.name
    if param.type and not param.is_constexpr:
        return param.type
    if param.default is not MISSING:
        return repr(param.default)
    if param.is_constexpr:
        if name in uses.strings:
            return repr(uses.strings[name])
        if _DTYPE.fullmatch(name):
            return "fp32"
        if _BOOL.fullmatch(name):
            return "True"
        return "64" if _EXTENT.fullmatch(name) else "16"
    if name in uses.descriptors:
        return f"tensordesc<fp32[{','.join(['64'] * uses.descriptors[name])}]>:16"
    if name in uses.pointers or _POINTER.fullmatch(name):
        integers = name in uses.integers or _INDICES.fullmatch(re.sub(_PTR_SUFFIX, "", name))
        return "*i32:16" if integers else "*fp32:16"
    return "fp32" if _FLOAT.fullmatch(name) else "i32"


_PTR_SUFFIX = re.compile(r"(?i)_?(ptr|pointer)s?$")


class _Uses:
    """What a kernel's text does with its parameters: `pointers` are those that addresses of loads and stores begin
    with, `integers` the pointers whose loaded elements go into addresses, loop bounds and the like, and `whole` those
    that go there themselves. `strings` are the parameters that stand for one, and one that they may be. `helpers` are
    what is known of the functions that it calls."""

    pointers: frozenset[str]
    integers: frozenset[str]
    whole: frozenset[str]

    def __init__(self, kernel: Kernel, helpers: dict[SourceUnit, _Uses | None]) -> None:
        self._kernel = kernel
        self._helpers = helpers
        helpers[kernel.unit] = None  # while it is read: a function that calls itself is refused later
        self._params = {p.name for p in kernel.params}
        self._made_of: dict[str, list[t.Expr]] = {}
        self._moved_by: dict[str, list[t.Expr]] = {}
        self._compared_with: dict[str, str] = {}
        #: Parameters that are loaded from or stored to as descriptors are, and how many axes those have.
        self.descriptors: dict[str, int] = {}
        options: dict[str, str] = {}
        addresses: list[t.Expr] = []
        whole: list[t.Expr] = []
        pointers_to_whole: list[t.Expr] = []
        for node in _nodes(parse(kernel).body):
            if isinstance(node, t.Assign):
                for target in node.targets:
                    if isinstance(target, t.Name):
                        self._made_of.setdefault(target.id, []).append(node.value)
            elif isinstance(node, t.AugAssign):
                self._moved_by.setdefault(node.target.id, []).append(node.value)
            elif isinstance(node, t.Comparison):
                self._compared(node)
            elif (found := self._described(node)) is not None:
                self.descriptors.update((found,))
            elif isinstance(node, t.Call) and node.args and _ACCESSES.fullmatch(_last_name(node.function)):
                addresses.append(node.args[0])
                options |= _options(node)
            elif isinstance(node, t.Call) and (helper := self._helper(node.function)) is not None:
                for param, argument in _arguments(node, helper._kernel):
                    for names, exprs in (
                        (helper.pointers, addresses), (helper.whole, whole), (helper.integers, pointers_to_whole)
                    ):  # fmt: skip
                        if param in names:
                            exprs.append(argument)
            elif isinstance(node, t.For) and isinstance(node.iterable, t.Call):
                whole += node.iterable.args
            elif isinstance(node, t.BinaryOp) and node.op in ("//", "%", "<<", ">>"):
                whole += (node.lhs, node.rhs)
            elif isinstance(node, t.Call):
                options |= _options(node)
        self.strings = options | self._compared_with
        self.pointers, names = self._bases(addresses)
        # What a pointer is moved by is part of the addresses too.
        addresses += (expr for name in (*names, *self.pointers) for expr in self._moved_by.get(name, ()))
        loads, self.whole = self._parts([*addresses, *whole])
        self.integers, _ = self._bases([*loads, *pointers_to_whole])
        helpers[kernel.unit] = self

    def _compared(self, node: t.Comparison) -> None:
        """A parameter that is compared with strings stands for one: the first, unless that is what it must not be."""
        others = node.rest[0].items if isinstance(node.rest[0], t.TupleExpr) else node.rest
        for literal in others:
            if isinstance(node.first, t.Name) and isinstance(literal, t.Literal) and isinstance(literal.value, str):
                self._compared_with.setdefault(node.first.id, literal.value)

    def _described(self, node: object) -> tuple[str, int] | None:
        """The parameter that a call takes for a descriptor, and how many offsets it gives."""
        match node:
            case t.Call(function=t.Attribute(base=t.Name(id=name), name="load" | "store"), args=(offsets, *_)) if (
                name in self._params
            ):
                made = self._made_of.get(offsets.id, []) if isinstance(offsets, t.Name) else [offsets]
                return next(
                    ((name, len(one.items)) for one in made if isinstance(one, t.TupleExpr) and one.items), None
                )
        return None

    def _helper(self, function: t.Expr) -> _Uses | None:
        """What is known of a `@jit` function that is called."""
        value = self._kernel.names.get(function.id) if isinstance(function, t.Name) else None
        if not isinstance(value, Helper):
            return None
        kernel = value.kernel
        if kernel.unit not in self._helpers:
            try:
                _Uses(kernel, self._helpers)
            except CompileError:
                self._helpers[kernel.unit] = None  # where it is called says what is wrong
        return self._helpers[kernel.unit]

    def _bases(self, addresses: list[t.Expr]) -> tuple[frozenset[str], frozenset[str]]:
        """The parameters at the left end of addresses, through assignments, and the variables on the way."""
        # An augmented assignment keeps what its target is: a parameter moved before its use is found by its name.
        found: set[str] = set()
        seen: set[str] = set()
        pending = list(addresses)
        while pending:
            name = _base(pending.pop())
            if name in self._params:
                found.add(name)
            elif name not in seen:
                seen.add(name)
                pending += self._made_of.get(name, [])
        return frozenset(found), frozenset(seen)

    def _parts(self, exprs: list[t.Expr]) -> tuple[list[t.Expr], frozenset[str]]:
        """What whole numbers are computed from: the addresses of loads, and the parameters."""
        loads: list[t.Expr] = []
        seen: set[str] = set()
        pending = list(exprs)
        while pending:
            for node in _nodes((pending.pop(),)):
                if isinstance(node, t.Name) and node.id not in seen:
                    seen.add(node.id)
                    pending += self._made_of.get(node.id, []) + self._moved_by.get(node.id, [])
                elif isinstance(node, t.Call) and node.args and _ELEMENTS.fullmatch(_last_name(node.function)):
                    loads.append(node.args[0])
        return loads, frozenset(seen & self._params)


def _options(call: t.Call) -> dict[str, str]:
    """The names that a call hands on as options which are strings."""
    return {v.id: _STRINGS[name] for name, v in call.keywords if name in _STRINGS and isinstance(v, t.Name)}


def _arguments(call: t.Call, helper: Kernel) -> Iterator[tuple[str, t.Expr]]:
    """The arguments of a call by the helper's parameters."""
    yield from zip((p.name for p in helper.params), call.args, strict=False)
    yield from call.keywords


def _base(expr: t.Expr) -> str:
    """The name at the left end of a sum, which in an address is the pointer by all custom; '' if there is none."""
    while True:
        match expr:
            case t.BinaryOp(op="+" | "-"):
                expr = expr.lhs
            case t.Conditional():
                expr = expr.if_true
            case t.Subscript():  # `rows[:, None]`
                expr = expr.base
            case t.Call(function=t.Attribute(name="to" | "cast") as method):  # `pointer.to(...)`
                expr = method.base
            case t.Call(function=t.Attribute()) if expr.args:  # `tl.advance(pointer, ...)`
                expr = expr.args[0]
            case _:
                return expr.id if isinstance(expr, t.Name) else ""


def _last_name(expr: t.Expr) -> str:
    return expr.name if isinstance(expr, t.Attribute) else expr.id if isinstance(expr, t.Name) else ""


def _nodes(body: tuple[t.Stmt | t.Expr, ...]) -> Iterator[Any]:
    """Every statement and expression."""
    stack: list[Any] = list(reversed(body))
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node) and not isinstance(node, Span):
            yield node
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))

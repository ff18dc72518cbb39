"""A live Python function as a `Kernel`: its exact text, its parameters, and the outside names it uses."""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import threading
from collections.abc import Callable, Collection
from dataclasses import replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend.kernel import MISSING, FileModule, Kernel, is_kernel, unspecialized
from mytriton.frontend.names import Lookup, outside_names, parameters, value_of
from mytriton.frontend.syntax import FunctionNode, Positions, first_line, functions, parse_text, unit_of
from mytriton.language import constexpr
from mytriton.source import SourceUnit

# The functions of a file by (first line, name), kept with the text they were found in: parsing a file once serves all
# its kernels, and a changed text is noticed.
_files: dict[str, tuple[str, dict[tuple[int, str], FunctionNode]]] = {}
_lock = threading.Lock()


def _fail(function: Callable[..., Any], message: str, hint: str) -> CompileError:
    name = getattr(function, "__name__", repr(function))
    return CompileError([Diagnostic("MT103", f"cannot read the source of `{name}`: {message}", hint=hint)])


def _find(path: str, text: str, line: int, name: str) -> FunctionNode | None:
    with _lock:
        known = _files.get(path)
        if known is None or known[0] != text:
            tree = parse_text(text, SourceUnit(path, path, 1, text))
            known = (text, {(first_line(node), node.name): node for node, _ in functions(tree)})
            _files[path] = known
    return known[1].get((line, name))


def _source(function: FunctionType) -> tuple[SourceUnit, FunctionNode]:
    code: CodeType = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise _fail(function, "it was not read from a file", "put the kernel in a .py file")
    text = "".join(lines)
    node = _find(code.co_filename, text, code.co_firstlineno, code.co_name)
    if node is None:
        hint = "a kernel is a `def`; if the file changed after it was imported, import it again"
        raise _fail(function, f"no `def {code.co_name}` at line {code.co_firstlineno} of {code.co_filename}", hint)
    return unit_of(node, text, code.co_filename), node


def lookup_in(function: Callable[..., Any]) -> Lookup:
    """Looks names up as Python would inside `function`: closure, then globals (builtins are the evaluator's)."""
    function = inspect.unwrap(function)
    assert isinstance(function, FunctionType)
    closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def lookup(name: str) -> Any:
        if name in closure:
            try:
                return closure[name].cell_contents
            except ValueError:  # a variable of the enclosing function that has no value yet
                return MISSING
        return function.__globals__.get(name, MISSING)

    return lookup


def _defaults(function: FunctionType, node: FunctionNode) -> Callable[[ast.expr], Any]:
    """The value of a default, which Python computed when it ran the `def`."""
    arguments = node.args
    values: dict[int, Any] = {id(e): v for e, v in zip(arguments.defaults, function.__defaults__ or (), strict=False)}
    for argument, expr in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if expr is not None:
            values[id(expr)] = (function.__kwdefaults__ or {}).get(argument.arg, MISSING)

    def value(expr: ast.expr) -> Any:
        found = values.get(id(expr), MISSING)
        return found.value if isinstance(found, constexpr) else found

    return value


def kernel_of(function: Callable[..., Any]) -> Kernel:
    """The kernel a Python function describes. Raises `CompileError` if its source cannot be had.

    Nothing of the body is checked here; `names` holds the values that the used globals and closure variables have
    now (those without one are left out).
    """
    function = inspect.unwrap(function)
    if not isinstance(function, FunctionType):
        raise _fail(function, "it is not a function", "decorate a `def`")
    unit, node = _source(function)
    positions = Positions(unit.text, unit.first_line - 1)
    lookup = lookup_in(function)
    _, names = outside_names(node, lookup)
    return Kernel(function.__name__, unit, parameters(node, positions, lookup, _defaults(function, node)), names, node)


#: An owner, the name of something it has, and what that is: of a namespace an item, of a `constexpr` its value.
Watched = tuple[Any, str, Any]

#: Numbers for `LiveKernel.version`: none is given twice.
_versions = itertools.count()


class LiveKernel:
    """The kernel that a Python function describes, with the values its globals have whenever it is asked for."""

    def __init__(self, function: Callable[..., Any], unspecialized: Collection[Any] = ()) -> None:
        self._function, self._unspecialized = function, unspecialized
        self._read: Kernel | None = None
        self._used: tuple[str, ...] = ()
        self._lookup: Lookup
        self._helpers: tuple[Any, ...] = ()
        self._version = -1

    @property
    def kernel(self) -> Kernel:
        """The kernel now. Raises `CompileError`."""
        read = self._read
        if read is None:
            read = unspecialized(kernel_of(self._function), self._unspecialized)
            self._lookup = lookup_in(self._function)
            return self._take(read)
        lookup, known = self._lookup, read.names
        if any(value_of(name, lookup) is not known.get(name, MISSING) for name in self._used):
            return self._take(read)
        return read

    def _take(self, kernel: Kernel) -> Kernel:
        """The kernel with the values that its outside names have now."""
        assert kernel.node is not None
        self._used, names = outside_names(kernel.node, self._lookup)
        kernel = replace(kernel, names=names)
        self._helpers = tuple(value for value in kernel.names.values() if is_kernel(value))
        self._version = next(_versions)
        self._read = kernel
        return kernel

    def forget(self) -> None:
        """Read the source anew when the kernel is asked for next."""
        self._read = None

    @property
    def stamp(self) -> tuple[int, ...]:
        """Equal only as long as neither the kernel nor any helper it calls changes."""
        return tuple(one._version for one in self._with_helpers())

    def _with_helpers(self) -> list[LiveKernel]:
        """This kernel and all it calls, brought up to date."""
        found, waiting, seen = list[LiveKernel](), [self], {self}
        while waiting:
            one = waiting.pop()
            _ = one.kernel  # brings the version up to date
            found.append(one)
            new = [h.live for h in one._helpers if h.live not in seen]
            seen.update(new)
            waiting += new
        return found

    def watched(self) -> list[Watched] | None:
        """What the kernel and its helpers take from outside, such that nothing that is compiled has changed as long as
        each is the same object. None if that cannot be said of objects alone, as of lists and of closures."""
        found: list[Watched] = []
        for live in self._with_helpers():
            function = inspect.unwrap(live._function)
            assert isinstance(function, FunctionType)
            for name in live._used:
                owner: Any = function.__globals__
                first, _, member = name.partition(".")
                if member:
                    module = owner.get(first)
                    if not isinstance(module, ModuleType) or "." in member:
                        return None
                    owner, name = vars(module), member
                value = owner.get(name, MISSING)
                if first in function.__code__.co_freevars or isinstance(value, (tuple, list, FileModule)):
                    return None
                found.append((owner, name, value))
                if isinstance(value, constexpr):
                    if not isinstance(value.value, (bool, int, float, str)):
                        return None
                    found.append((value, "value", value.value))
        return found

"""A kernel as the frontend takes it: text, parameters and visible names. Made from a live function or from text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from mytriton.frontend.syntax import FunctionNode
from mytriton.records import dataclass
from mytriton.source import SourceUnit, Span


@dataclass(frozen=True, slots=True)
class KernelParam:
    """A parameter as written. `default` is a Python value, or `MISSING`; `type` is its annotation in the notation of
    signatures (`"*fp32"`, `"i32"`), or ''. Unless it is `specialized` nothing is assumed of the values it gets, such as
    that they are divisible by 16."""

    name: str
    is_constexpr: bool
    default: Any
    span: Span
    type: str = ""
    specialized: bool = True


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


@dataclass(frozen=True, slots=True)
class Unresolved:
    """Stands in `Kernel.names` for a global whose value is not known because the module was not executed; `reason` and
    `hint` finish the message a use of it gets. Of a function that only returns an expression, `returned` is that. With
    `otherwise` a kernel can go on: the value that it has if a condition of its file, which is not known, does not hold.
    An ordinary function is a `helper` of functions of constexprs."""

    reason: str
    hint: str = ""
    returned: ast.expr | None = field(default=None, compare=False, repr=False)
    otherwise: Any = field(default=MISSING, repr=False)
    helper: Helper | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FileModule:
    """Stands for a file that is imported as the module `name` and not executed: `names` are its globals."""

    name: str
    names: Mapping[str, Any]


#: What to do with a Python function that a kernel calls.
HINT_FOR_FUNCTION = "decorate it with @triton.jit, or with @triton.constexpr_function if it works on constexprs"


def hint_for_module(name: str) -> str:
    """What to do instead of using the module `name` in a kernel."""
    return f"call functions of tl, such as tl.exp; import numbers and @jit functions: from {name} import ..."


@dataclass(frozen=True, slots=True)
class Kernel:
    """`names` maps the global and closure names the body uses to Python values (modules, constants, helpers); of a
    module of the author's also what the body takes from it and kernels can use, as `module.name`. `node` is
    its syntax tree, in the lines of the file; nothing changes it. Expressions of a module are evaluated as if a kernel
    without one stood around them. `tuples` are the parameters that got a tuple at a launch, inner ones first, and the
    parameters in `params` that stand for its items (see `specialize.unpacked`)."""

    name: str
    unit: SourceUnit
    params: tuple[KernelParam, ...]
    names: Mapping[str, Any]
    node: FunctionNode | None = field(default=None, compare=False, repr=False)
    tuples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def unspecialized(kernel: Kernel, which: Collection[Any]) -> Kernel:
    """The kernel with these of its parameters, by name or number, not specialized."""
    if not which:
        return kernel
    params = (replace(p, specialized=not {number, p.name} & set(which)) for number, p in enumerate(kernel.params))
    return replace(kernel, params=tuple(params))


class Helper:
    """A `@jit` function of a file that is not executed, where a kernel names it. Its `kernel` is read when it is asked
    for, since a function may use what its file defines later. With `compile_time` it is a `constexpr_function`: Python
    would compute it, and as nothing is executed it is lowered on constexprs instead."""

    __mytriton_kernel__ = True

    def __init__(self, read: Callable[[], Kernel], compile_time: bool = False) -> None:
        self._read = read
        self.compile_time = compile_time

    @cached_property
    def kernel(self) -> Kernel:
        """The function as the frontend takes it."""
        return self._read()


def is_kernel(value: Any) -> bool:
    """Whether a value is a `@jit` function, which has a `kernel`. Asks its class, since asking an object may run its
    author's code."""
    return hasattr(type(value), "__mytriton_kernel__")

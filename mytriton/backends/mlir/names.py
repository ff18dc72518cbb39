"""Names in emitted MLIR: any Python name becomes a legal one, and never one that the emitter makes itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mytriton.ir.core import Op, Value

#: What the gpu emitter calls its own values; a parameter of such a name is renamed.
GENERATED = re.compile(
    r"(v|cast|splat|idx|loaded|bytes|all|first|ptr|array|slot|store|owner|pos|chunk|lanes|at|trip|staged)\d+(_.*)?"
    r"|(asm|src|low|lane|to|from|place|along|found|lhs|rhs)\d+(_.*)?|round|(r|register|step|shared|shown|all_assert)(_.*)?"
    r"|(all|ptr|bytes)_store\d+|(array|slot)cast\d+(_.*)?"
    r"|(c|bid|tid|block_id|thread_id|grid_dim|programs)_.*"
)

_LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _escape(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", lambda m: f"_u{ord(m[0]):x}_", name)


def entry_name(kernel: str) -> str:
    """The symbol of a kernel, in MLIR, PTX and cubin: its Python name, non-ASCII letters replaced."""
    return _escape(kernel)


def parameter_names(params: Iterable[Value]) -> dict[Value, str]:
    """An SSA name for each parameter: `%x`, or `%p_v3` where `%v3` is ours."""
    names: dict[Value, str] = {}
    for param in params:
        name = param.id
        if not _LEGAL.fullmatch(name) or GENERATED.fullmatch(name):
            name = "p_" + _escape(name)
        while f"%{name}" in names.values():
            name += "_"
        names[param] = f"%{name}"
    return names


def number(value: Value) -> str:
    """The number in a value's id: `3` of `%3`, `2` of `%c2`."""
    return value.id.lstrip("%c")


def result_name(op: Op) -> str:
    """The SSA name of an operation's result: `%v3` for `%3`, `%cast2` for a cast `%c2`."""
    return f"%{op.opcode if op.inline else 'v'}{number(op.result)}"

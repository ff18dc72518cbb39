"""Which array each pointer of a kernel points into: what the memref boundary form must know, and cannot always say."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.mlir.homes import joined
from mytriton.diagnostics import Diagnostic
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.types import PointerType, is_pointer


def bases(func: Func) -> tuple[dict[Value, Value], list[Diagnostic]]:
    """The parameter each pointer value points into, and a finding for every operation that the form cannot say."""
    finder = _Bases({p: p for p in func.pointer_params()})
    finder.block(func.body)
    return finder.found, finder.findings


class _Bases:
    def __init__(self, found: dict[Value, Value]) -> None:
        self.found = found
        self.findings: list[Diagnostic] = []

    def block(self, block: Block) -> None:
        # Recursion follows the nesting of regions, not the length of the kernel.
        for op in block.ops:
            if isinstance(op, (ops.For, ops.While)):
                self._loop(op)
            elif isinstance(op, ops.If):
                for region in op.regions:
                    self.block(region)
                for result, *chosen in zip(op.results, yielded(op.then), yielded(op.orelse), strict=True):
                    self._one(op, (result,), chosen, "chooses between")
            else:
                self._plain(op)

    def _loop(self, op: ops.For | ops.While) -> None:
        groups = joined(op)
        for group, initial in zip(groups, op.initial, strict=True):
            self._one(op, group, (initial,), "carries")
        for region in op.regions:
            self.block(region)
        for group, last in zip(groups, yielded(op.body), strict=True):
            self._one(op, (), (group[0], last), "carries")

    def _plain(self, op: Op) -> None:
        pointers = [v for v in op.operands if is_pointer(v.type)]
        if isinstance(op, ops.Load) and op.volatile:
            self._report(op, "load is volatile")
        if isinstance(op, ops.Atomic):
            self._report(op, "operation is atomic")
        if isinstance(op, ops.InlineAsm) and pointers:
            self._report(op, "hands addresses to assembly")
        elif isinstance(op, ops.Bitcast) and isinstance(op.to, PointerType):
            what = "gives the elements of an array another type" if pointers else "makes an address of a number"
            self._report(op, what)
        if not isinstance(op, ops.Yield):
            does = "chooses between" if isinstance(op, ops.Select) else "compares"
            self._one(op, op.results, pointers, does)

    def _one(self, op: Op, results: Sequence[Value], pointers: Sequence[Value], does: str) -> None:
        """`results` point where `pointers` do; a finding if these point into different arrays."""
        roots = {self.found[v]: None for v in pointers if v in self.found}
        for root in list(roots)[:1]:
            self.found.update((v, root) for v in results if is_pointer(v.type))
        if len(roots) > 1:
            names = " and ".join(f"`{root.id}`" for root in roots)
            self._report(op, f"{does} pointers into different arrays, {names}")

    def _report(self, op: Op, what: str) -> None:
        message = f"this {what}, which the memref form cannot say"
        self.findings.append(Diagnostic("MT610", message, op.span, hint='compile with abi="pointer"'))

"""What a launch gives back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mytriton.compile import SHARED, source_stage
from mytriton.configs import Config
from mytriton.frontend.tree import Stmt
from mytriton.ir.core import Func, Op
from mytriton.stage import Compilation

if TYPE_CHECKING:
    from mytriton.backends.nvidia.resources import Resources


class LaunchResult:
    """What a launch compiled. Unpacks to `expression_ops, ssa_ops, src`; `compilation` has every stage. `ran` is False
    where host arrays only said what to compile (`cuda`, `mlir`) or the grid is empty. Of an autotuned kernel `config`
    is the one that was launched, and `note` says so if it was not measured though it should have been."""

    config: Config | None = None
    note = ""

    def __init__(self, compilation: Compilation, ran: bool) -> None:
        self.compilation = compilation
        self.ran = ran

    def __repr__(self) -> str:
        what = "ran" if self.ran else "compiled, not run"
        note = f"; {self.note}" if self.note else ""
        return f"<{self.compilation.kernel} on {self.compilation.target.backend}: {what}{note}>"

    @property
    def expression_ops(self) -> tuple[Stmt, ...]:
        """The kernel's statements, each with its expression tree."""
        body: tuple[Stmt, ...] = self.compilation.stage("tree").artifact.body
        return body

    @property
    def ssa_ops(self) -> tuple[Op, ...]:
        """The operations of the optimized SSA, without constants, casts and splats."""
        func: Func = self.compilation.stage(SHARED[-1]).artifact
        return tuple(op for op in func.walk() if not op.inline)

    @property
    def src(self) -> str:
        """The source that the selected backend generated (for `interp`, the SSA it interprets)."""
        return self.compilation.stage(source_stage(self.compilation.planned)).text

    @property
    def resources(self) -> Resources:
        """What the compiled kernel takes of a GPU (`Compilation.resources`)."""
        return self.compilation.resources()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.expression_ops, self.ssa_ops, self.src))

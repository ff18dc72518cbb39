"""What kernels go through on the backends that are pipelines of MLIR passes."""

from __future__ import annotations

from mytriton import backends
from mytriton.diagnostics import OptionError
from mytriton.target import MLIR_BACKENDS, Target


def passes_of_kernels(target: Target) -> tuple[str, ...]:
    """The passes between a kernel's MLIR and the code made of it, one text for each stage, to be changed and given to a
    launch or `compile` as `mlir_passes`. Raises `OptionError` for backends without such passes."""
    if target.backend not in MLIR_BACKENDS:
        raise OptionError(f"the backends mlir and cpu have MLIR passes, not {target.backend}")
    return tuple(text for _, text in backends.get(target.backend).passes(target))

"""What a kernel is compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mytriton.diagnostics import OptionError

#: NVIDIA chips we can make text, PTX and cubins for, with the PTX feature LLVM needs for each.
CHIPS: dict[str, str] = {
    "sm_75": "+ptx80",
    "sm_80": "+ptx80",
    "sm_86": "+ptx80",
    "sm_89": "+ptx80",
    "sm_90": "+ptx80",
    "sm_90a": "+ptx80",
    "sm_100": "+ptx86",
    "sm_100a": "+ptx86",
    "sm_120": "+ptx87",
}

BACKENDS = ("cuda", "mlir", "cpu", "interp")
#: Those that run on arrays in a GPU's memory; the others run on arrays in the host's.
GPU_BACKENDS = ("cuda", "mlir")
#: Those that are pipelines of MLIR passes.
MLIR_BACKENDS = ("mlir", "cpu")

#: The largest extent a launch grid may have along axis 0 (CUDA programming guide, "Technical specifications").
MAX_GRID_X = 2**31 - 1

#: The same along axes 1 and 2.
MAX_GRID_YZ = 65535


@dataclass(frozen=True, slots=True)
class Target:
    """Backend, chip and code generation options; part of every cache key.

    backend           one of `BACKENDS`
    chip              NVIDIA architecture; the host backends ignore it
    num_warps         warps (of 32 threads) that share one program; a power of two from 1 to 32
    num_stages        buffers into which loops load ahead what they multiply, 8 at most; with 1 they do not
    enable_fp_fusion  allow a*b+c to contract to a fused multiply-add (SEMANTICS "FMA contraction")
    form              "tuned", or "plain": one element a thread, the introductory text without vectors or attributes
    abi               boundary of an MLIR kernel: "pointer" (`!llvm.ptr<1>`) or "memref" (`memref<?xf32>` descriptors)
    check_bounds      on `cpu`, stop at an access that is outside of its array (`interp` always does)
    line_info         name the kernel's file and lines in PTX and cubin, for profilers; the host backends ignore it
    mlir_passes       passes in place of those of `mlir` or `cpu`, each a text for `builtin.module(...)`; None: its own
    """

    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int = 4
    num_stages: int = 3
    enable_fp_fusion: bool = True
    form: Literal["tuned", "plain"] = "tuned"
    abi: Literal["pointer", "memref"] = "pointer"
    mlir_passes: tuple[str, ...] | None = None
    check_bounds: bool = False
    line_info: bool = False

    def __post_init__(self) -> None:
        check_backend(self.backend)
        if self.chip not in CHIPS:
            raise OptionError(f"unknown chip {self.chip!r}; expected one of {', '.join(CHIPS)}")
        if self.num_warps not in (1, 2, 4, 8, 16, 32):
            raise OptionError(f"num_warps must be 1, 2, 4, 8, 16 or 32, got {self.num_warps!r}")
        if type(self.num_stages) is not int or self.num_stages < 0:
            raise OptionError(f"num_stages must be an integer of at least 0, got {self.num_stages!r}")
        if self.check_bounds and self.backend in GPU_BACKENDS:
            raise OptionError(f"check_bounds is an option of the cpu backend, not of {self.backend}")
        if self.mlir_passes is not None and self.backend not in MLIR_BACKENDS:
            raise OptionError(f"mlir_passes is an option of the backends mlir and cpu, not of {self.backend}")

    @property
    def threads(self) -> int:
        """Threads in one program (a CUDA thread block)."""
        return 32 * self.num_warps

    @property
    def generation(self) -> int:
        """The chip's number, of which the instructions it has depend: 90 of `sm_90a`."""
        return int(self.chip.removeprefix("sm_").rstrip("a"))

    @property
    def max_programs(self) -> int:
        """The largest grid extent along axis 0 that the compiled code assumes; the launcher refuses a larger grid.

        The plain form assumes a smaller grid, so that `pid * 256` provably fits an i32 and prints without casts.
        """
        return 2**22 if self.form == "plain" else MAX_GRID_X


def check_backend(name: str) -> None:
    """Raise `OptionError` unless `name` is a backend."""
    if name not in BACKENDS:
        expected = ", ".join(repr(b) for b in BACKENDS[:-1]) + f" or {BACKENDS[-1]!r}"
        raise OptionError(f"unsupported backend {name!r}; expected {expected}")

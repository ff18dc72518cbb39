"""What a kernel is compiled for, as far as a person chose it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from mytriton.records import dataclass

#: Options of the target besides backend, chip and number of warps, with what they may be; the first is what is
#: compiled for where nobody says so.
CHOICES: dict[str, tuple[Any, ...]] = {
    "enable_fp_fusion": (True, False),
    "form": ("tuned", "plain"),
    "abi": ("pointer", "memref"),
    "num_stages": (3, 1, 2, 4, 5),
    "line_info": (False, True),
}
WARPS = (1, 2, 4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line fixed, and the form changed. `types` are of parameters by name, `defines` constexprs, as
    plain values; `values` are given to the example in place of its own, `options` are those of `CHOICES`, `config` is
    the number of the config of its `autotune` that the kernel is in. Without an `example` the kernel's `opening` one is
    meant. `pipelines` are the passes that an MLIR file, or a backend in place of its own, goes through; `schedule` is
    the file of a schedule, `schedule_text` what is in it."""

    path: str
    kernel: str | None = None
    example: int | None = None
    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    execute: bool = True
    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    config: int | None = None
    pipelines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schedule: str = ""
    schedule_text: str = field(default="", repr=False)

"""What a compiled kernel takes of a GPU: the figures of its cubin, and how much of a multiprocessor it can fill."""

from __future__ import annotations

import struct

from mytriton.backends.nvidia.occupancy import Occupancy, occupancy
from mytriton.records import dataclass
from mytriton.stage import Stage
from mytriton.target import Target

#: What bytes of constant memory are called in an ELF file.
_CONSTANT = b".nv.constant"


@dataclass(frozen=True, slots=True)
class Resources:
    """`registers` a thread; bytes a block of `shared` memory; bytes a thread of local memory (`stack`), and those of it
    that registers are spilled to and loaded from; bytes of `constant` memory, the parameters included; `barriers` a
    block. `occupancy` is None for a chip whose limits are not known."""

    registers: int
    shared: int
    stack: int
    spill_stores: int
    spill_loads: int
    constant: int
    barriers: int
    occupancy: Occupancy | None

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A line for each figure."""
        found = [f"{name:<13}{getattr(self, name):>8}" for name in NAMES]
        if self.occupancy is not None:
            filled = self.occupancy
            limits = f"limited by {' and '.join(filled.limits)}"
            where = f"{filled.warps} of {filled.most} warps on a multiprocessor, {limits}"
            found.append(f"{'occupancy':<13}{filled.percent:>7}%  {where}")
        return found

    @property
    def stats(self) -> dict[str, int]:
        """The figures that are numbers."""
        found = {name: getattr(self, name) for name in NAMES}
        return found if self.occupancy is None else {**found, "occupancy": self.occupancy.percent}


#: The figures besides occupancy.
NAMES = ("registers", "barriers", "shared", "stack", "spill_stores", "spill_loads", "constant")


def taken(assembled: dict[str, int], cubin: bytes, shared: int, target: Target) -> Resources:
    """The resources of a kernel: as the assembler says (`nvjitlink.Linked.resources`), and with the `shared` memory
    that a launch asks for besides."""
    figures = {**assembled, "shared": assembled["shared"] + shared, "constant": constant_bytes(cubin)}
    return _with_occupancy(figures, target)


def of_stage(cubin: Stage, target: Target) -> Resources:
    """The resources that the stage `cubin` tells."""
    return _with_occupancy({name: cubin.stats[name] for name in NAMES}, target)


def _with_occupancy(figures: dict[str, int], target: Target) -> Resources:
    filled = occupancy(target.chip, target.threads, figures["registers"], figures["shared"])
    return Resources(**figures, occupancy=filled)


def constant_bytes(cubin: bytes) -> int:
    """The bytes of constant memory in a cubin, an ELF file: its sections `.nv.constantN.kernel`."""
    table = struct.unpack_from("<Q", cubin, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    # Of each section: where its name begins, its place in the file and its size.
    sections = [struct.unpack_from("<I20xQQ", cubin, table + number * size) for number in range(count)]
    texts = sections[names][1]
    return sum(length for name, _, length in sections if cubin.startswith(_CONSTANT, texts + name))

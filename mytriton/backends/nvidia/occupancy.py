"""Theoretical occupancy: how many warps of a kernel fit on a multiprocessor at once, and what limits their number.

After the CUDA programming guide, "Compute Capabilities" (limits of a multiprocessor), and the toolkit's
cuda_occupancy.h (granularity of allocation).
"""

from __future__ import annotations

from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class _Limits:
    """Of one multiprocessor: `shared` bytes in all, `shared_block` for one block at most, of which the driver keeps
    `reserved` more."""

    warps: int
    blocks: int
    shared: int
    shared_block: int
    reserved: int = 1024


_LIMITS = {
    "75": _Limits(32, 16, 64 << 10, 64 << 10, reserved=0),
    "80": _Limits(64, 32, 164 << 10, 163 << 10),
    "86": _Limits(48, 16, 100 << 10, 99 << 10),
    "87": _Limits(48, 16, 164 << 10, 163 << 10),
    "89": _Limits(48, 24, 100 << 10, 99 << 10),
    "90": _Limits(64, 32, 228 << 10, 227 << 10),
    "100": _Limits(64, 32, 228 << 10, 227 << 10),
    "103": _Limits(64, 32, 228 << 10, 227 << 10),
    "120": _Limits(48, 24, 100 << 10, 99 << 10),
    "121": _Limits(48, 24, 100 << 10, 99 << 10),
}

#: What every chip has for one block.
_SHARED_BLOCK = 48 << 10
#: Registers of each of the four partitions of a multiprocessor, and how many a warp takes at a time.
_PARTITIONS, _REGISTERS, _REGISTER_UNIT = 4, 16384, 256
#: How many bytes of shared memory are given at a time.
_SHARED_UNIT = 128


@dataclass(frozen=True, slots=True)
class Occupancy:
    """`blocks` resident on a multiprocessor, their `warps`, the most it can hold (`most`), and what limits them:
    `warps`, `blocks`, `shared memory` or `registers`, several if they are equal."""

    blocks: int
    warps: int
    most: int
    limits: tuple[str, ...]

    @property
    def percent(self) -> int:
        """Warps in percent of the most there can be."""
        return round(100 * self.warps / self.most)


def _limits(chip: str) -> _Limits | None:
    return _LIMITS.get(chip.removeprefix("sm_").rstrip("af"))


def shared_limit(chip: str) -> int:
    """The most shared memory that one block may have, in bytes."""
    limits = _limits(chip)
    return limits.shared_block if limits is not None else _SHARED_BLOCK


def occupancy(chip: str, threads: int, registers: int, shared: int) -> Occupancy | None:
    """The occupancy of a kernel with `threads` a block, `registers` a thread and `shared` bytes a block, on a chip such
    as `sm_90`; None for a chip whose limits are not known here."""
    limits = _limits(chip)
    if limits is None:
        return None
    warps = -(-threads // 32)
    warp_registers = _up(max(1, registers) * 32, _REGISTER_UNIT)
    most = {
        "warps": limits.warps // warps,
        "blocks": limits.blocks,
        "shared memory": limits.shared // _up(shared + limits.reserved, _SHARED_UNIT),
        "registers": _REGISTERS // warp_registers * _PARTITIONS // warps,
    }
    if shared > limits.shared_block:
        most["shared memory"] = 0
    blocks = min(most.values())
    return Occupancy(blocks, blocks * warps, limits.warps, tuple(name for name, n in most.items() if n == blocks))


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit

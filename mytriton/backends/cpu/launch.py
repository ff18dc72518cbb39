"""Launching code for the host on NumPy arrays and torch CPU tensors, and how such launches are repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from mytriton.array_keys import library_of
from mytriton.arrays import address_of, in_whole_elements
from mytriton.backends.cpu.jit import Code
from mytriton.backends.cpu.memory import LARGE
from mytriton.records import dataclass
from mytriton.source import SourceUnit

if TYPE_CHECKING:
    from mytriton.binding.rules import Native, Rule, Way


#: C has room for the address of the next piece of memory in each.
_LEAST = 64


class CpuLauncher:
    """A launcher of `code`, which finds places in `units`, for up to `max_programs` along the first axis."""

    def __init__(self, code: Code, units: Sequence[SourceUnit], max_programs: int) -> None:
        self._code, self._units, self.max_programs = code, units, max_programs
        self.formats, self.packer = code.formats, code.packer

    def __call__(self, grid: tuple[int, int, int], args: Sequence[Any]) -> None:
        self._code.launch(grid, args, self._units)

    def bind(self, grid: tuple[int, int, int], args: Sequence[Any], result: Any) -> Callable[[], Any]:
        """What launches these arguments, checked and packed once, and gives `result`."""
        code = self._code
        if not code.speaks and grid[0] * grid[1] * grid[2] <= code.programs_alone:
            return code.bound(grid, args, result)
        return partial(_shared, code, grid, code.packed(grid, args), self._units, args, result)

    def pack(self, grid: tuple[int, int, int], args: Sequence[Any]) -> tuple[bytes, str]:
        """The parameters of a launch, and a library: there are no streams."""
        return self._code.packed(grid, args), "numpy"

    @property
    def way(self) -> Way | None:
        """How its launches are repeated; None if they take the bounds of arrays, which only the long way finds."""
        return None if self._code.checks_bounds else CpuWay()

    def known(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What repeats a launch in Python."""
        return self._code.share, self.packer.pack, self._units

    def in_c(self, args: Sequence[Any]) -> tuple[int, ...] | None:
        """What repeats a launch in C: of a small grid, with little memory, and in silence."""
        code = self._code
        if code.speaks or code.scratch_bytes >= LARGE:
            return None
        programs = min(self.max_programs, code.programs_alone)
        return code.address, 0, 0, programs, 1, max(code.scratch_bytes, _LEAST)


def _shared(
    code: Code, grid: tuple[int, int, int], packed: bytes, units: Sequence[SourceUnit], _kept: object, result: Any
) -> Any:
    code.share(grid, packed, units)
    return result


_CALL = """\
_share, _pack, _units = _own
    try:
        _packed = _pack({packed})
    except _unpackable:
        return _long(_grid, {args}, {keywords})
    _share((_x, _y, _z), _packed, _units)"""


@dataclass(frozen=True)
class CpuWay:
    """The way of launchers for the host."""

    def rule(self, type_: type) -> Rule:
        """The rule of a NumPy array or a torch tensor. Raises `LookupError` for any other."""
        from mytriton.binding.rules import Rule

        if library_of(type_) == "numpy":
            setup = "_f{n} = {a}.flags", "_p{n} = _address({a})"
            holds = "_f{n}.aligned", "(_f{n}.c_contiguous or _whole({a}.strides, {a}.itemsize))"
            return Rule(setup, holds, ("{a}.dtype", "_f{n}.writeable"), "_p{n}", "_p{n}")
        if library_of(type_) == "torch":
            address = "{a}.data_ptr() if {a}.is_cpu and not {a}.is_sparse and not {a}.is_neg() else None"
            holds = "_p{n} is not None", "_p{n} % {a}.element_size() == 0"
            return Rule((f"_p{{n}} = {address}",), holds, ("{a}.dtype",), "_p{n}", "_p{n}")
        raise LookupError

    def call(self, type_: type) -> tuple[str, dict[str, Any]]:
        """The code of a launch, which is shared among threads."""
        return _CALL, {"_address": address_of, "_whole": in_whole_elements}

    def native(self, library: str) -> Native:
        """What C has to know: it calls the code itself."""
        from mytriton.binding.rules import Native

        return Native("is_cpu", lambda: (0, 0))

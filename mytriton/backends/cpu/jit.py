"""Machine code in this process: made by MLIR's ExecutionEngine, called on NumPy arrays and torch CPU tensors.

The engine detects the host's processor, so the code uses its vector instructions. A call passes one array of pointers
to the arguments; it releases the GIL, so a large grid is shared among the cores. Launches of small grids are repeated
without passing here (`launch.py`).
"""

from __future__ import annotations

import ctypes
import struct
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mytriton.analysis.written import written_params
from mytriton.arrays import address_of, host_array
from mytriton.backends.cpu.emit import Emitted
from mytriton.backends.cpu.feedback import FAILURE_BYTES
from mytriton.backends.cpu.memory import Scratch
from mytriton.backends.cpu.shares import share, threads
from mytriton.backends.cpu.writer import symbol
from mytriton.diagnostics import LaunchError
from mytriton.ir.arithmetic import DTYPES, convert
from mytriton.ir.core import Func, ParamInfo
from mytriton.source import SourceUnit
from mytriton.target import MAX_GRID_X
from mytriton.types import PointerType, ScalarType, element_of, i1

#: `struct` codes of the arguments, each padded to a slot of 8 bytes. Short floats go as their bits.
_SLOTS = {"i1": "?7x", "i8": "b7x", "i16": "h6x", "i32": "i4x", "i64": "q"}
_SLOTS |= {"u8": "B7x", "u16": "H6x", "u32": "I4x", "u64": "Q"}
_SLOTS |= {"f8e4nv": "B7x", "f8e5": "B7x", "f16": "H6x", "bf16": "H6x", "f32": "f4x", "f64": "d"}
_POINTER_SLOT = "Q"

#: Elements below which a grid stays on one thread: handing work to others takes about as long as adding these.
_ELEMENTS_PER_THREAD = 1 << 18

#: Elements that a thread takes at least: fewer are done sooner than it takes to ask for others.
_ELEMENTS_PER_PIECE = 1 << 16


class Code:
    """The code of one kernel. Safe to call from several threads."""

    def __init__(self, module: Any, func: Func, emitted: Emitted, bounds: bool = False) -> None:
        """Compile the module that was `emitted`, which by now holds only the LLVM dialect; it takes the `bounds` of all
        arrays if it checks them. Raises RuntimeError if LLVM refuses it."""
        from mlir.execution_engine import ExecutionEngine

        self._name = func.name
        self._elements = max(1, emitted.elements)
        self._feedback = emitted.feedback
        self._engine = ExecutionEngine(module, opt_level=3, enable_object_dump=True)
        self.address: int = self._engine.raw_lookup(symbol(func.name)[1:].strip('"'))
        if not self.address:
            raise RuntimeError("its machine code cannot be linked")
        self._entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.address)
        self._encoders: list[Callable[[Any], Any]] = []
        self.formats: list[str] = []
        written = written_params(func)
        for param in func.params:
            element = element_of(param.type)
            if isinstance(element, PointerType):
                self._encoders.append(_array_encoder(param.id, element.element, param in written))
                self.formats.append(_POINTER_SLOT)
            else:
                info = func.info.get(param.id)
                self._encoders.append(_number_encoder(param.id, element, info or ParamInfo()))
                self.formats.append(_SLOTS[element.name])
        self._bounded = [n for n, p in enumerate(func.params) if bounds and isinstance(p.type, PointerType)]
        self.packer = struct.Struct("=" + "".join(self.formats) + "qq" * len(self._bounded))
        # What `emit.EXTRA` lists: scratch memory, first and last program, and the grid; then memory for a failure, and
        # the function that prints.
        extra = "Qqqqqq" + "Q" * bool(self._feedback.assertions) + "Q" * bool(self._feedback.prints)
        self._frame_packer = struct.Struct(f"={self.packer.size}s{extra}")
        self.scratch_bytes = emitted.scratch_bytes
        self._frame = _Frame(self._frame_packer, self.scratch_bytes)

    @property
    def speaks(self) -> bool:
        """Whether a call may have something to say: that an assertion failed, or what it prints."""
        return bool(self._feedback.assertions or self._feedback.prints)

    @property
    def checks_bounds(self) -> bool:
        """Whether a call takes the bounds of its arrays, too."""
        return bool(self._bounded)

    @property
    def programs_alone(self) -> int:
        """The largest grid that always runs on one thread, in programs."""
        return (2 * _ELEMENTS_PER_THREAD - 1) // self._elements

    def object_file(self) -> bytes:
        """The object file that is executed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.o"
            self._engine.dump_to_object_file(str(path))
            return path.read_bytes()

    def launch(self, grid: tuple[int, int, int], args: Sequence[Any], units: Sequence[SourceUnit] = ()) -> None:
        """Run the programs of a grid in place on the arrays among `args`; raises `LaunchError`, with places in
        `units`."""
        self.share(grid, self.packed(grid, args), units)

    def bound(self, grid: tuple[int, int, int], args: Sequence[Any], result: Any) -> Callable[[], Any]:
        """The same for a grid that runs on one thread and code that does not speak, checked and packed once: what runs
        it on the memory that the arrays have now, and gives `result`. Safe to call from several threads."""
        begun, entry = (self.packed(grid, args), 0, grid[0] * grid[1] * grid[2], *grid), self._entry
        frame = _Frame(self._frame_packer, self.scratch_bytes, begun, (self, args))

        def call() -> Any:
            entry(frame.pointers)
            return result

        return call

    def packed(self, grid: tuple[int, int, int], args: Sequence[Any]) -> bytes:
        """The arguments as the code takes them, checked; raises `LaunchError`."""
        if len(args) != len(self._encoders):
            raise LaunchError(f"`{self._name}` takes {len(self._encoders)} runtime arguments, got {len(args)}")
        for axis, extent in enumerate(grid):
            if not 0 <= extent <= MAX_GRID_X:
                raise LaunchError(f"grid extent {extent} along axis {axis} is outside 0..{MAX_GRID_X}")
        values = [encode(arg) for encode, arg in zip(self._encoders, args, strict=True)]
        for number in self._bounded:
            values += _bounds(host_array(args[number]))
        return self.packer.pack(*values)

    def share(self, grid: tuple[int, int, int], packed: bytes, units: Sequence[SourceUnit]) -> None:
        """Run the programs of a grid on packed arguments, on as many threads as it is worth."""
        programs = grid[0] * grid[1] * grid[2]
        parts = min(threads(), programs, programs * self._elements // _ELEMENTS_PER_THREAD)
        if parts < 2 or self._feedback.prints:  # what is printed keeps its order
            self._run(packed, 0, programs, grid, units)
            return
        least = _ELEMENTS_PER_PIECE // self._elements
        share(lambda first, last: self._run(packed, first, last, grid, units), programs, parts, least)

    def _run(
        self, packed: bytes, first: int, last: int, grid: tuple[int, int, int], units: Sequence[SourceUnit]
    ) -> None:
        frame, feedback, extra = self._frame, self._feedback, []
        printer = feedback.printer(grid) if feedback.prints else None
        if feedback.assertions:
            ctypes.memset(frame.failure, 0, 8)
            extra.append(ctypes.addressof(frame.failure))
        if printer is not None:
            extra.append(printer.address)
        frame.packer.pack_into(frame.slots, 0, packed, frame.scratch, first, last, *grid, *extra)
        self._entry(frame.pointers)
        if printer is not None and printer.error is not None:
            raise printer.error
        if feedback.assertions:
            feedback.raise_if_failed(frame.failure, grid, units)


class _Frame(threading.local):
    """The arguments of one call and the memory it keeps values in, one for each thread. `begun` are the arguments
    already packed, and what comes after the scratch memory; `_kept` lives as long as this."""

    def __init__(
        self, packer: struct.Struct, scratch_bytes: int, begun: tuple[Any, ...] = (), _kept: object = None
    ) -> None:
        self.packer = packer
        self.slots = ctypes.create_string_buffer(packer.size)
        start = ctypes.addressof(self.slots)
        self._pointers = (ctypes.c_void_p * (packer.size // 8))(*range(start, start + packer.size, 8))
        self.pointers = ctypes.c_void_p(ctypes.addressof(self._pointers))  # passed faster than the array itself
        self._memory = Scratch(scratch_bytes)
        self.scratch = self._memory.address
        self.failure = ctypes.create_string_buffer(FAILURE_BYTES)
        if begun:
            packer.pack_into(self.slots, 0, begun[0], self.scratch, *begun[1:])


def _array_encoder(name: str, element: ScalarType, written: bool) -> Callable[[Any], int]:
    dtype = DTYPES[element]

    def encode(arg: Any) -> int:
        array = arg if type(arg) is np.ndarray else host_array(arg)
        if not isinstance(array, np.ndarray):
            found = type(array).__name__
            raise LaunchError(f"argument `{name}` must be a NumPy array or a torch CPU tensor, got {found}")
        # Any byte is a bool: non-zero is true.
        if array.dtype != dtype and not (element == i1 and array.dtype == np.uint8):
            raise LaunchError(f"argument `{name}` holds {array.dtype}; the kernel was compiled for {dtype}")
        flags = array.flags
        if written and not flags.writeable:
            raise LaunchError(f"argument `{name}` is read-only, and the kernel may store to it; pass a copy")
        if not flags.aligned:
            raise LaunchError(f"argument `{name}` is not aligned to its element size; pass a copy")
        return address_of(array)

    return encode


def _bounds(array: Any) -> tuple[int, int]:
    """The lowest address of an array's elements, and the first above them."""
    start = address_of(array)
    if not array.size:
        return start, start
    steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
    return start + sum(s for s in steps if s < 0), start + sum(s for s in steps if s > 0) + array.itemsize


def _number_encoder(name: str, element: ScalarType, known: ParamInfo) -> Callable[[Any], Any]:
    dtype = DTYPES[element]
    low, high = (element.low, element.high) if element.kind == "int" else (0, -1)

    def encode(arg: Any) -> Any:
        if type(arg) is int and low <= arg <= high:
            value: Any = arg
        else:
            number = np.asarray(arg)
            if number.shape != () or number.dtype.kind not in "biufV":  # V: those of ml_dtypes
                raise LaunchError(f"argument `{name}` must be a number ({element}), got {type(arg).__name__}")
            with np.errstate(all="ignore"):
                number = convert(number, element) if element.is_float8 else number.astype(dtype)
            is_short = element.kind == "float" and element.bits < 32
            value = (number.view(f"u{element.bytes}") if is_short else number).item()
        if (known.divisible_by_16 and value % 16) or (known.is_one and value != 1):
            promised = "1" if known.is_one else "divisible by 16"
            raise LaunchError(f"argument `{name}` was promised to be {promised}, got {arg}")
        return value

    return encode

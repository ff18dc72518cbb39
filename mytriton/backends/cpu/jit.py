"""Machine code in this process: made by MLIR's ExecutionEngine, called on NumPy arrays and torch CPU tensors.

The engine detects the host's processor, so the code uses its vector instructions. A call passes one array of pointers
to the arguments; it releases the GIL.
"""

from __future__ import annotations

import ctypes
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mytriton.backends.cpu.writer import symbol
from mytriton.backends.interp import host_array
from mytriton.diagnostics import LaunchError
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import Func, Value
from mytriton.target import MAX_GRID_X
from mytriton.types import PointerType, ScalarType, element_of, i1

_ALIGN = 64


class Code:
    """The code of one kernel. Safe to call from several threads."""

    def __init__(self, module: Any, func: Func, scratch_bytes: int) -> None:
        """Compile a module that holds only the LLVM dialect; raises RuntimeError if LLVM refuses it."""
        from mlir.execution_engine import ExecutionEngine

        self._func = func
        self._scratch = _Scratch(scratch_bytes)
        self._engine = ExecutionEngine(module, opt_level=3, enable_object_dump=True)
        address = self._engine.raw_lookup(symbol(func.name)[1:].strip('"'))
        if not address:
            raise RuntimeError(f"the compiled module has no function {symbol(func.name)}")
        self._entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def object_file(self) -> bytes:
        """The object file that is executed."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.o"
            self._engine.dump_to_object_file(str(path))
            return path.read_bytes()

    def launch(self, grid: tuple[int, int, int], args: Sequence[Any]) -> None:
        """Run the programs of a grid in place on the arrays among `args`; raises `LaunchError`."""
        params = self._func.params
        if len(args) != len(params):
            raise LaunchError(f"`{self._func.name}` takes {len(params)} runtime arguments, got {len(args)}")
        for axis, extent in enumerate(grid):
            if not 0 <= extent <= MAX_GRID_X:
                raise LaunchError(f"grid extent {extent} along axis {axis} is outside 0..{MAX_GRID_X}")
        # Every argument has 8 bytes of its own; the callee reads as many as its type has.
        slots = np.zeros(len(params) + 6, np.uint64)
        keep = []  # views of tensors must live until the call is over
        for number, (param, arg) in enumerate(zip(params, args, strict=True)):
            if isinstance(param.type, PointerType):
                array = host_array(arg)
                keep.append(array)
                slots[number] = _address(param, param.type, array)
            else:
                value = _number(param, arg)
                if self._is_divisible(param) and int(value) % 16:
                    raise LaunchError(f"argument `{param.id}` was promised to be divisible by 16, got {arg}")
                slots[number : number + 1].view(value.dtype)[0] = value
        programs = grid[0] * grid[1] * grid[2]
        slots[len(params) :] = (self._scratch.address(), 0, programs, *grid)
        start = slots.ctypes.data
        pointers = (ctypes.c_void_p * len(slots))(*range(start, start + 8 * len(slots), 8))
        self._entry(pointers)

    def _is_divisible(self, param: Value) -> bool:
        info = self._func.info.get(param.id)
        return info is not None and info.divisible_by_16


class _Scratch(threading.local):
    """The memory that a call may use between its loops, one piece a thread, made when it is first wanted."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._memory: Any = None

    def address(self) -> int:
        """Its address, aligned to a cache line."""
        if self._memory is None:
            self._memory = np.empty(self._size + _ALIGN, np.uint8)
        start: int = self._memory.ctypes.data
        return -(-start // _ALIGN) * _ALIGN


def _address(param: Value, type_: PointerType, array: Any) -> int:
    dtype = DTYPES[type_.element]
    if not isinstance(array, np.ndarray):
        found = type(array).__name__
        raise LaunchError(f"argument `{param.id}` must be a NumPy array or a torch CPU tensor, got {found}")
    bytes_ = type_.element == i1 and array.dtype == np.uint8  # any byte is a bool: non-zero is true
    if array.dtype != dtype and not bytes_:
        raise LaunchError(f"argument `{param.id}` holds {array.dtype}; the kernel was compiled for {dtype}")
    if not array.flags.writeable:
        raise LaunchError(f"argument `{param.id}` is read-only; pass a copy")
    if not array.flags.aligned:
        raise LaunchError(f"argument `{param.id}` is not aligned to its element size; pass a copy")
    address: int = array.__array_interface__["data"][0]
    return address


def _number(param: Value, arg: Any) -> Any:
    element = element_of(param.type)
    assert isinstance(element, ScalarType)
    number = np.asarray(arg)
    if number.shape != () or number.dtype.kind not in "biufV":  # V: bfloat16
        raise LaunchError(f"argument `{param.id}` must be a number ({element}), got {type(arg).__name__}")
    with np.errstate(all="ignore"):
        return number.astype(DTYPES[element])

"""Runs emitted gpu-dialect MLIR on the host, thread after thread: the numbers a GPU would compute, without a GPU.

The kernel's body is compiled as an ordinary function of the grid and thread indices. The threads of a program run one
after the other, the last first, which shows an order that was only hoped for; a kernel with a barrier gets one system
thread for each of its threads.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import numpy as np
from mlir import ir
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from mytriton.backends.mlir import emit as emitter
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import Func
from mytriton.layout.assign import lay_out
from mytriton.target import Target
from mytriton.types import PointerType

_LOWERING = (
    # A host without bf16 instructions would call a library routine that the JIT does not have.
    "builtin.module(func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}),"
    "arith-expand{include-bf16=true},convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,"
    "convert-vector-to-llvm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)
_INDICES = re.compile(r"^ *%((?:bid|tid|programs)_[xyz]) = gpu\.(?:block_id|thread_id|grid_dim) +[xyz]\n", re.MULTILINE)


def _host_text(text: str, name: str) -> tuple[str, list[str]]:
    """The kernel as a host function; appended to its own parameters are the indices named, and a barrier to call."""
    text = text.replace("gpu.barrier", "llvm.call %barrier() : !llvm.ptr, () -> ()")
    indices = _INDICES.findall(text)
    text = _INDICES.sub("", text)
    head, body = re.search(r"gpu\.func @\w+\((.*)\) kernel[^\n]*\{\n(.*)gpu\.return", text, re.DOTALL).groups()
    params = ", ".join([*([head] if head else []), *(f"%{name}: index" for name in indices), "%barrier: !llvm.ptr"])
    host = f"func.func @{name}({params}) attributes {{llvm.emit_c_interface}} {{\n{body}return\n}}"
    return host.replace("!llvm.ptr<1>", "!llvm.ptr"), indices


class Kernels:
    """Several kernels compiled together, which takes far less time than one by one."""

    def __init__(self, kernels: Sequence[tuple[Func, Target]]) -> None:
        self._kernels = kernels
        # Element operations in their host form: NVPTX has instructions for some that the JIT has no routines for.
        with mock.patch.object(emitter, "ElementEmitter", lambda *a, gpu, **k: ElementEmitter(*a, gpu=False, **k)):
            emitted = [emitter.emit(lay_out(func, target), target) for func, target in kernels]
        texts = ["\n".join(line.text for line in lines) for lines in emitted]
        self._functions = [_host_text(text, f"kernel{number}") for number, text in enumerate(texts)]
        with ir.Context(load_on_create_dialects=[]), ir.Location.unknown():
            module = ir.Module.parse("\n".join(text for text, _ in self._functions))
            PassManager.parse(_LOWERING).run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=1)

    def run(self, number: int, args: Sequence[Any], grid: tuple[int, ...]) -> None:
        """Run one of them over the grid, in place on the NumPy arrays among `args`."""
        (func, target), (text, indices) = self._kernels[number], self._functions[number]
        call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._engine.raw_lookup(f"kernel{number}"))
        values = _packed(func, target, args)
        together = target.threads if "%barrier()" in text else 1
        barrier = threading.Barrier(together)
        wait = ctypes.CFUNCTYPE(None)(lambda: barrier.wait(20) and None)
        places = {name: np.array(0, np.int64) for name in indices}
        extents = (*grid, 1, 1)[:3]
        for axis, extent in zip("xyz", extents, strict=True):
            if f"programs_{axis}" in places:
                places[f"programs_{axis}"][...] = extent

        def run_thread(number: int) -> None:
            own = [*values, *(np.array(number if n == "tid_x" else p, np.int64) for n, p in places.items())]
            own.append(np.array(ctypes.cast(wait, ctypes.c_void_p).value, np.int64))
            call((ctypes.c_void_p * len(own))(*(v.ctypes.data for v in own)))

        for program in np.ndindex(*reversed(extents)):
            for axis, position in zip("zyx", program, strict=True):
                if f"bid_{axis}" in places:
                    places[f"bid_{axis}"][...] = position
            numbers = reversed(range(target.threads))
            if together > 1:
                with ThreadPoolExecutor(together) as threads:
                    list(threads.map(run_thread, numbers))
            else:
                for number in numbers:
                    run_thread(number)


def _packed(func: Func, target: Target, args: Sequence[Any]) -> list[np.ndarray]:
    """The arguments as the boundary form passes them: an array is an address, or a descriptor of five."""
    values: list[np.ndarray] = []
    for param, arg in zip(func.params, args, strict=True):
        if not isinstance(param.type, PointerType):
            values.append(np.array(arg, DTYPES[param.type]))
            continue
        address = np.array(arg.ctypes.data, np.int64)
        sizes = [np.array(n, np.int64) for n in (0, arg.size, 1)]  # offset, size and stride
        values += [address] if target.abi == "pointer" else [address, address, *sizes]
    return values


def run(func: Func, target: Target, args: Sequence[Any], grid: tuple[int, ...]) -> None:
    """Compile one kernel, and run it."""
    Kernels([(func, target)]).run(0, args, grid)

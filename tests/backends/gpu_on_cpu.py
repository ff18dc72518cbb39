"""Runs emitted gpu-dialect MLIR on the host, thread after thread: the numbers a GPU would compute, without a GPU.

The kernel's body is compiled as an ordinary function of the grid and thread indices. The threads of a program are
coroutines (`host_threads.py`) that run until they wait for each other, the last first and the first first in turn.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
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
from mytriton.layout.program import LaidOut
from mytriton.target import Target
from mytriton.types import PointerType
from tests.backends import host_threads, warpgroups
from tests.backends.x86_assembly import in_mlir

_LOWERING = (
    # A host without bf16 instructions would call a library routine that the JIT does not have.
    "builtin.module(func.func(arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}),"
    "arith-expand{include-bf16=true},convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,"
    "convert-vector-to-llvm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)"
)
_INDICES = re.compile(r"^ *%((?:bid|tid|programs)_[xyz]) = gpu\.(?:block_id|thread_id|grid_dim) +[xyz]\n", re.MULTILINE)


_SHUFFLE = re.compile(r"^ *(%\w+), %\w+ = gpu\.shuffle (xor|idx) (%\w+), (%\w+), %\w+ : (\w+)\n", re.MULTILINE)
_PRINTF = re.compile(r'gpu\.printf "(.*?)", (.*) : (.*)\n')
_SHARED = re.compile(r" workgroup\(%shared: memref<(\d+)xi8, [^{]*\{[^}]*\}\)")
_DYNAMIC = re.compile(r" *(memref\.global @mt_shared|%shared_begin =|%shared = memref\.cast) .*\n")
#: As many bytes as a program may ask for on any chip.
_MOST = 227 << 10

#: What a kernel calls, by the name of the parameter that holds its address.
_CALLS = {
    "barrier": "mt_barrier", "check": "mt_check", "shuffle": "mt_shuffle", "operands": "mt_operands",
    "ldmatrix": "mt_ldmatrix", "mma": "mt_mma", "tf32": "mt_tf32", "begin": "mt_begin", "held": "mt_held",
    "finish": "mt_finish",    "copy": "mt_copy", "commit": "mt_commit", "wait": "mt_wait",
}  # fmt: skip


class _Host:
    """One kernel as a host function. Its own parameters come first, then the `indices` named, the buffer for workgroup
    memory if there is one, and the functions to call."""

    def __init__(self, text: str, name: str) -> None:
        self.globals: list[str] = []
        shared = _SHARED.search(text)
        self.shared = int(shared[1]) if shared else _MOST if _DYNAMIC.search(text) else 0
        text = _DYNAMIC.sub("", _SHARED.sub("", text)).replace(", #gpu.address_space<workgroup>", "")
        text = text.replace("memref<?xi8>", f"memref<{self.shared}xi8>")
        text = text.replace("gpu.barrier", "llvm.call %barrier() : !llvm.ptr, () -> ()")
        text = re.sub(r'cf\.assert (%\w+), ".*"', r"llvm.call %check(\1) : !llvm.ptr, (i1) -> ()", text)
        text = _SHUFFLE.sub(_shuffle, text)
        text = warpgroups.in_mlir(_MMA.sub(_mma, _LDMATRIX.sub(_ldmatrix, text)))
        text = re.sub(r"nvvm.convert.float.to.tf32 (%\w+) .*", r"llvm.call %tf32(\1) : !llvm.ptr, (f32) -> i32", text)
        text = _WAIT.sub(_wait, _COPY.sub(_copy, text))
        text = text.replace("nvvm.cp.async.commit.group", "llvm.call %commit() : !llvm.ptr, () -> ()")
        text = _PRINTF.sub(lambda found: self._printf(found, name), text)
        text = in_mlir(text)
        self.indices = _INDICES.findall(text)
        text = _INDICES.sub("", text)
        head, body = re.search(r"gpu\.func @\w+\((.*)\) kernel[^\n]*\{\n(.*)gpu\.return", text, re.DOTALL).groups()
        params = [head] if head else []
        params += [f"%{index}: index" for index in self.indices]
        params += [f"%shared: memref<{self.shared}xi8>"] if self.shared else []
        params += [f"%{call}: !llvm.ptr" for call in _CALLS]
        host = f"func.func @{name}({', '.join(params)}) attributes {{llvm.emit_c_interface}} {{\n{body}return\n}}"
        self.text = re.sub(r"!llvm\.ptr<[13]>", "!llvm.ptr", host)

    def _printf(self, found: re.Match[str], name: str) -> str:
        shape, operands, types = found.groups()
        label, size = f"{name}_text{len(self.globals)}", len(re.sub(r"\\..", "x", shape)) + 1
        self.globals.append(f'llvm.mlir.global internal constant @{label}("{shape}\\00") : !llvm.array<{size} x i8>')
        call = f"llvm.call @printf(%format, {operands}) vararg(!llvm.func<i32 (ptr, ...)>)"
        return (
            f"scf.execute_region {{\n%format = llvm.mlir.addressof @{label} : !llvm.ptr\n"
            f"%printed = {call} : (!llvm.ptr, {types}) -> i32\nscf.yield\n}}\n"
        )


def _shuffle(found: re.Match[str]) -> str:
    """The value as 64 bits to a function and back."""
    result, mode, value, lane, type_ = found.groups()
    integer, lines = f"i{type_[1:]}", []

    def convert(new: str, name: str, source: str, types: str) -> str:
        lines.append(f"{new} = {name} {source} : {types}")
        return new

    if type_.startswith("f"):
        value = convert(f"{result}_a", "arith.bitcast", value, f"{type_} to {integer}")
    if integer != "i64":
        value = convert(f"{result}_b", "arith.extui", value, f"{integer} to i64")
    lines.append(f"{result}_c = arith.constant {int(mode == 'xor')} : i32")
    call = f"llvm.call %shuffle({value}, {lane}, {result}_c) : !llvm.ptr, (i64, i32, i32) -> i64"
    last = f"{result}_d" if type_ != "i64" else result
    lines.append(f"{last} = {call}")
    if integer != "i64":
        last = convert(f"{result}_e" if type_.startswith("f") else result, "arith.trunci", last, f"i64 to {integer}")
    if type_.startswith("f"):
        convert(result, "arith.bitcast", last, f"{integer} to {type_}")
    return "\n".join(lines) + "\n"


_COPY = re.compile(r"nvvm\.cp\.async\.shared\.global (%\w+), (%\w+), (\d+), cache = \w+(?:, (%\w+))? :.*")
_WAIT = re.compile(r"nvvm\.cp\.async\.wait\.group (\d+)")


def _copy(found: re.Match[str]) -> str:
    to, source, size, wanted = found.groups()
    call = f"llvm.call %copy({to}, {source}, {to}_size, {wanted or f'{to}_size'})"
    return f"{to}_size = arith.constant {size} : i32\n{call} : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, i32) -> ()"


def _wait(found: re.Match[str]) -> str:
    name = f"%pending_{found.start()}"
    return f"{name} = arith.constant {found[1]} : i32\nllvm.call %wait({name}) : !llvm.ptr, (i32) -> ()"


_LDMATRIX = re.compile(
    r"^ *(%\w+) = nvvm\.ldmatrix (%\w+) \{num = (\d) .*?mma_layout<(row|col)>.* -> (.*)\n", re.MULTILINE
)
_MMA = re.compile(
    r"^ *(%\w+) = nvvm\.mma\.sync A\[(.*?)\] B\[(.*?)\] C\[(.*?)\] \{(.*)\} : \((.*), .*, (.*)\) -> (.*)\n",
    re.MULTILINE,
)
#: The types of factors as an operation names them, in the order in which the library counts its functions.
_FACTORS = ("vector<2xf16>", "mma_type<bf16>", "mma_type<tf32>", "mma_type<s8>", "mma_type<u8>", "f64")


def _ldmatrix(found: re.Match[str]) -> str:
    result, pointer, count, layout, type_ = found.groups()
    return (
        f"{result}_n = arith.constant {count} : i32\n{result}_t = arith.constant {int(layout == 'col')} : i32\n"
        f"llvm.call %ldmatrix({pointer}, {result}_n, {result}_t) : !llvm.ptr, (!llvm.ptr, i32, i32) -> ()\n"
        f"{result}_p = llvm.call %operands() : !llvm.ptr, () -> !llvm.ptr\n"
        f"{result} = llvm.load {result}_p : !llvm.ptr -> {type_}\n"
    )


def _mma(found: re.Match[str]) -> str:
    """Operands to the thread's place for them, and the result from there."""
    result, lhs, rhs, sums, how, word, total, type_ = found.groups()
    lines = [f"{result}_p = llvm.call %operands() : !llvm.ptr, () -> !llvm.ptr"]
    for start, names, held in ((0, sums, total), (32, lhs, word), (64, rhs, word)):
        for i, name in enumerate(names.split(", ")):
            at = f"{result}_{start}_{i}"
            distance = start + i * (8 if held == "f64" else 4)
            lines += [f"{at} = llvm.getelementptr {result}_p[{distance}] : (!llvm.ptr) -> !llvm.ptr, i8"]
            lines += [f"llvm.store {name}, {at} : {held}, !llvm.ptr"]
    which = next(i for i, text in enumerate(_FACTORS) if text in f"{how} {word}")
    lines += [f"{result}_w = arith.constant {which} : i32", f"llvm.call %mma({result}_w) : !llvm.ptr, (i32) -> ()"]
    return "\n".join([*lines, f"{result} = llvm.load {result}_p : !llvm.ptr -> {type_}\n"])


class Kernels:
    """Several kernels compiled together, which takes far less time than one by one."""

    def __init__(self, kernels: Sequence[tuple[Func | LaidOut, Target]]) -> None:
        laid_out = [(k if isinstance(k, LaidOut) else lay_out(k, target), target) for k, target in kernels]
        self._kernels = [(program.func, target) for program, target in laid_out]
        # Element operations in their host form: NVPTX has instructions for some that the JIT has no routines for.
        with mock.patch.object(emitter, "ElementEmitter", lambda *a, gpu, **k: ElementEmitter(*a, gpu=False, **k)):
            emitted = [emitter.emit(program, target) for program, target in laid_out]
        texts = ["\n".join(line.text for line in lines) + "\n" for lines in emitted]
        self._hosts = [_Host(text, f"kernel{number}") for number, text in enumerate(texts)]
        with ir.Context(load_on_create_dialects=[]), ir.Location.unknown():
            parts = [part for host in self._hosts for part in (*host.globals, host.text)]
            module = ir.Module.parse("\n".join(["llvm.func @printf(!llvm.ptr, ...) -> i32", *parts]))
            PassManager.parse(_LOWERING).run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=1)

    def run(self, number: int, args: Sequence[Any], grid: tuple[int, ...]) -> None:
        """Run one of them over the grid, in place on the NumPy arrays among `args`."""
        (func, target), host = self._kernels[number], self._hosts[number]
        function = ctypes.c_void_p(self._engine.raw_lookup(f"kernel{number}"))
        values = _packed(func, target, args)
        places = {name: np.array(0, np.int64) for name in host.indices}
        thread = len(values) + host.indices.index("tid_x") if "tid_x" in host.indices else -1
        shared = np.zeros(host.shared + 1024, np.uint8)
        start = np.array(-(-shared.ctypes.data // 1024) * 1024, np.int64)
        values += places.values()
        if host.shared:
            values += [start, start, *(np.array(n, np.int64) for n in (0, host.shared, 1))]
        values += [np.array(host_threads.address(call), np.int64) for call in _CALLS.values()]
        pointers = (ctypes.c_void_p * len(values))(*(v.ctypes.data for v in values))
        extents = (*grid, 1, 1)[:3]
        for axis, extent in zip("xyz", extents, strict=True):
            if f"programs_{axis}" in places:
                places[f"programs_{axis}"][...] = extent
        for program in np.ndindex(*reversed(extents)):
            for axis, position in zip("zyx", program, strict=True):
                if f"bid_{axis}" in places:
                    places[f"bid_{axis}"][...] = position
            shared[:] = 0xAB  # nothing to be relied on
            end = host_threads.library().mt_run(
                function, pointers, len(values), thread, target.threads, ctypes.c_void_p(int(start))
            )
            ctypes.CDLL(None).fflush(None)
            if end:
                raise AssertionError(
                    [
                        "",
                        "threads wait for others that do not come",
                        "device assertion",
                        "a product was never finished",
                    ][end]
                )


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


def run(func: Func | LaidOut, target: Target, args: Sequence[Any], grid: tuple[int, ...]) -> None:
    """Compile one kernel, and run it."""
    Kernels([(func, target)]).run(0, args, grid)

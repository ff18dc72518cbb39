"""The passes that MLIR has: names, what they are for and their options, as `mlir-opt --help` prints them."""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mytriton.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PASS = re.compile(r"^  --(\S+) +-   (.*)$")
_OPTION = re.compile(r"^    --?(\w[^\s=]*)(?:[= ](<[^>]*>))? +- ?(.*)$")
_VALUE = re.compile(r"^    =(\S+) +-   (.*)$")


#: The passes that lower dialects, or single operations of them, towards that of LLVM.
_LOWERS = {
    **{name: f"convert-{name}-to-llvm" for name in ("arith", "cf", "complex", "func", "index", "math", "ub", "vector")},
    "scf": "convert-scf-to-cf",
    "affine": "lower-affine",
    "memref": "finalize-memref-to-llvm",
    "memref.subview": "expand-strided-metadata",
    "gpu": "gpu.module(convert-gpu-to-nvvm)",
    "gpu.launch": "gpu-kernel-outlining",
    "nvgpu": "convert-nvgpu-to-nvvm",
    "linalg": "convert-linalg-to-loops",
    "tensor": "one-shot-bufferize",
    "bufferization": "one-shot-bufferize",
}


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a pass: `name=value`. `type` is as MLIR prints it (`<uint>`; '' is a flag, `true` or `false`);
    `values` are those it may have if they are listed."""

    name: str
    type: str
    help: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pass:
    """A registered pass; `on` is the operation that it has to be nested in (`func.func`), `function` if any function
    will do, and '' if it also runs on a module."""

    name: str
    help: str
    options: tuple[Option, ...] = ()
    on: str = ""


@cache
def registered() -> Mapping[str, Pass]:
    """All passes by name, in alphabetical order. Takes about 80 ms once; raises ImportError without the bindings."""
    return MappingProxyType({p.name: replace(p, on=on) for p, on in _with_places(list(parse(_printed())))})


def hint(error: str, name: str) -> str:
    """What to write instead, where MLIR refuses the pass `name`: the nearest one, where it runs, or its options."""
    if re.search(r"unable to schedule pass .* intended to run on 'builtin.module'", error):
        return f"nest it in the operation that it works on, such as func.func({name})"
    if found := re.search(r"'([^']+)' does not refer to a registered pass", error):
        near = get_close_matches(found[1], registered(), 3, 0.6)
        return f"did you mean {' or '.join(near)}?" if near else ""
    if found := re.search(r"restricted to '([^']+)' on a PassManager.*\n.*failed to add `([^`]+)`", error):
        return f"write {found[1]}({found[2]})"
    if (found := re.search(r"failed to add `([^`]+)` with options", error)) and found[1] in registered():
        named = registered()[found[1]]
        options = ", ".join(f"{o.name}={'|'.join(o.values) or o.type or '<bool>'}" for o in named.options)
        return f"{found[1]} has the options {options}" if options else f"{found[1]} has no options"
    if "the module has no target attributes" in error:
        return "name a chip before it, by nvvm-attach-target{chip=sm_90}"
    if re.search(r"ptxas fatal +: Value '[^']+' is not defined for option 'gpu-name'", error):
        return "this ptxas makes no code for the chip; take another chip, or format=isa for its PTX"
    return ""


def lowered_by(operation: str) -> str:
    """The pass that lowers an operation which LLVM does not know; '' if that is not known."""
    return _LOWERS.get(operation) or _LOWERS.get(operation.partition(".")[0], "")


def _with_places(passes: list[Pass]) -> Iterator[tuple[Pass, str]]:
    """Each pass with what it has to be nested in, which MLIR says when one tries. None is run: one before it fails."""
    from mlir.ir import Context, Module
    from mlir.passmanager import PassManager

    with Context():
        empty = Module.parse("module {}").operation
        for each in passes:
            try:
                PassManager.parse(f"builtin.module(llvm-target-to-data-layout,{each.name})").run(empty)
                error = ""
            except Exception as refusal:  # noqa: BLE001 (MLIR's own class, or ValueError for what it cannot parse)
                error = str(refusal)
            restricted = re.search(r"restricted to '([^']+)'", error)
            yield each, restricted[1] if restricted else "function" if "unable to schedule pass" in error else ""


def parse(text: str) -> Iterator[Pass]:
    """The passes of a text that MLIR's `printRegisteredPasses` wrote."""
    name, about, options = "", "", list[Option]()
    for row in text.splitlines():
        if found := _PASS.match(row):
            if name:
                yield Pass(name, about, tuple(options))
            name, about, options = found[1], found[2].strip(), []
        elif found := _VALUE.match(row):
            last = options.pop()
            options.append(Option(last.name, last.type, last.help, (*last.values, found[1])))
        elif found := _OPTION.match(row):
            options.append(Option(found[1], found[2] or "", found[3].strip()))
    if name:
        yield Pass(name, about, tuple(options))


def _printed() -> str:
    """What MLIR prints on descriptor 1. Only C++ has that function, and the one that empties its buffer; the
    libraries export their mangled names."""
    from mlir import _mlir_libs
    from mlir._mlir_libs import _mlirRegisterEverything  # noqa: F401  (its import registers them)
    from mlir.passmanager import PassManager  # noqa: F401

    library = ctypes.CDLL(str(Path(_mlir_libs.__file__).parent / "libMLIRPythonCAPI.so"))
    library._ZN4llvm4outsEv.restype = ctypes.c_void_p
    with open(os.memfd_create("passes"), "w+b") as file:
        saved = os.dup(1)
        try:
            os.dup2(file.fileno(), 1)
            library._ZN4mlir21printRegisteredPassesEv()
            library._ZN4llvm11raw_ostream14flush_nonemptyEv(ctypes.c_void_p(library._ZN4llvm4outsEv()))
        finally:
            os.dup2(saved, 1)
            os.close(saved)
        file.seek(0)
        return file.read().decode()

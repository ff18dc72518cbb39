"""PTX to cubin: NVIDIA's assembler, as the program `ptxas`, or else as the library nvJitLink.

The library makes what may be linked with other code, for which it takes a quarter more registers: 79 instead of 64 for
a softmax of 16384 columns, so that half as many threads run at a time. But everybody has it.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import threading
from functools import lru_cache
from pathlib import Path

from mytriton.backends.nvidia.tools import ToolFailed, ToolMissing, find_program, library_path, load_library
from mytriton.cache import Entry
from mytriton.records import dataclass

#: The first CUDA 12 whose assembler reads the PTX of the NVRTC that we take with such a driver.
_OLDEST = (12, 9)
_PTX = 2  # nvJitLinkInputType: NVJITLINK_INPUT_PTX

#: What the assembler reports of an entry function, and what we call it.
_RESOURCES = {
    "registers": r"Used (\d+) registers",
    "barriers": r"used (\d+) barriers",
    "shared": r"(\d+) bytes smem",
    "stack": r"(\d+) bytes stack frame",
    "spill_stores": r"(\d+) bytes spill stores",
    "spill_loads": r"(\d+) bytes spill loads",
}


@dataclass(frozen=True, slots=True)
class Linked:
    """A cubin (an ELF file), the assembler's log, and the kernel's resources from that log: `registers` a thread,
    `shared`, `stack`, `spill_stores` and `spill_loads` in bytes. `tool` is what made it."""

    cubin: bytes
    log: str
    resources: dict[str, int]
    tool: str


def assembler_path() -> Path:
    """Where `ptxas` is, if there is one as new as NVRTC, or else nvJitLink, not loaded; raises `ToolMissing`."""
    with _looking:  # two threads need not ask
        try:
            program = find_program("ptxas")
        except ToolMissing:
            return library_path("nvJitLink")
        try:
            library = library_path("nvJitLink")
        except ToolMissing:
            return Path(program)
        return Path(program) if _fits(program, library) else library


_looking = threading.Lock()


@lru_cache(maxsize=1)
def look_early() -> None:
    """Begin to look for the assembler, for who will have PTX soon: a program takes long to tell its version."""

    def look() -> None:
        with contextlib.suppress(ToolMissing):
            assembler_path()

    threading.Thread(target=look, name="mytriton-assembler", daemon=True).start()


@lru_cache(maxsize=8)
def _fits(program: str, library: Path) -> bool:
    """Whether a `ptxas` is of the CUDA version of the compilers in use, or a later one that the same drivers load."""
    entry = Entry("version", (), (program,), (__file__,))
    parts = entry.read()
    if parts is None:
        import subprocess

        parts = {"said": subprocess.run([program, "--version"], capture_output=True, check=False).stdout}
        entry.write(parts)
    release = re.search(r"release (\d+)\.(\d+)", parts["said"].decode(errors="replace"))
    if release is None or release[1] != library.name.rpartition(".")[2]:
        return False
    return (int(release[1]), int(release[2])) >= _OLDEST


def _is_library(path: Path) -> bool:
    return ".so" in path.name


def kept_link(ptx: str, chip: str) -> tuple[Linked, bool]:
    """What `link` gives, from the disk if it was linked earlier; and whether it was."""
    entry = Entry("cubin", (ptx, chip), (assembler_path(),), (__file__,))
    parts = entry.read()
    if parts is not None:
        log = parts["log"].decode()
        return Linked(parts["cubin"], log, resources(log), parts["tool"].decode()), True
    linked = link(ptx, chip)
    entry.write({"cubin": linked.cubin, "log": linked.log.encode(), "tool": linked.tool.encode()})
    return linked, False


def link(ptx: str, chip: str) -> Linked:
    """Assemble PTX for `chip` (such as `sm_90`). Raises `ToolFailed` with the assembler's log, whose lines name lines
    of the PTX, and `ToolMissing` if there is no assembler. The GIL is released meanwhile."""
    path = assembler_path()
    if not _is_library(path):
        return _ptxas(str(path), ptx, chip)
    lib = load_library("nvJitLink")
    handle = ctypes.c_void_p()
    # Of what comes from its cache, where there is a driver, the assembler reports nothing: not even the registers.
    options = [f"-arch={chip}", "-lineinfo", "-verbose", "-no-cache"]
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    code = lib.nvJitLinkCreate(ctypes.byref(handle), len(options), array)
    try:
        if code == 0:
            data = ptx.encode() + b"\0"
            code = lib.nvJitLinkAddData(handle, _PTX, data, ctypes.c_size_t(len(data)), b"kernel.ptx")
        if code == 0:
            code = lib.nvJitLinkComplete(handle)
        if code != 0:
            log = _get(lib, "ErrorLog", handle).decode(errors="replace").rstrip("\0") if handle else ""
            raise ToolFailed(f"nvJitLink failed with code {code} for {chip}", log)
        log = _get(lib, "InfoLog", handle).decode(errors="replace").rstrip("\0")
        return Linked(_get(lib, "LinkedCubin", handle), log, resources(log), "nvJitLink")
    finally:
        if handle:
            lib.nvJitLinkDestroy(ctypes.byref(handle))


def _get(lib: ctypes.CDLL, what: str, handle: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    getattr(lib, f"nvJitLinkGet{what}Size")(handle, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(1, size.value))
    getattr(lib, f"nvJitLinkGet{what}")(handle, buffer)
    return buffer.raw[: size.value]


def _ptxas(program: str, ptx: str, chip: str) -> Linked:
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mytriton-") as folder:
        source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        # From inside, so that no message names the folder.
        command = [program, f"-arch={chip}", "-lineinfo", "-v", "-o", target.name, source.name]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, cwd=folder)
        log = done.stdout + done.stderr
        if done.returncode != 0:
            raise ToolFailed(f"ptxas failed with exit code {done.returncode} for {chip}", log)
        return Linked(target.read_bytes(), log, resources(log), "ptxas")


def resources(log: str) -> dict[str, int]:
    """The figures in an assembler's `-v` log; what it does not mention (shared memory, when none is used) is 0."""
    found = {name: re.search(pattern, log) for name, pattern in _RESOURCES.items()}
    return {name: int(match.group(1)) if match else 0 for name, match in found.items()}

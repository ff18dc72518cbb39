"""NVRTC, the CUDA C++ compiler as a library: source text to PTX, without a GPU, driver, toolkit or header files."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from mytriton.backends.nvidia.tools import ToolFailed, load_library
from mytriton.records import dataclass

#: The name the source has in `.file` and in messages. It is absolute: a relative one is completed with the working
#: directory, and the PTX would differ from folder to folder.
PROGRAM_NAME = "/mytriton/kernel.cu"


@dataclass(frozen=True, slots=True)
class Compiled:
    """PTX text (no trailing NUL) and the compiler's log, which holds its warnings."""

    ptx: str
    log: str


def version() -> tuple[int, int]:
    """NVRTC's (major, minor); raises `ToolMissing`."""
    lib = load_library("nvrtc")
    major, minor = ctypes.c_int(), ctypes.c_int()
    lib.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def supports(chip: str) -> bool:
    """Whether this NVRTC compiles for `chip` (`sm_90`, `sm_90a`); raises `ToolMissing`."""
    lib = load_library("nvrtc")
    count = ctypes.c_int()
    lib.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    lib.nvrtcGetSupportedArchs(archs)
    return int(chip.removeprefix("sm_").rstrip("af")) in archs


def compile_ptx(source: str, options: Sequence[str]) -> Compiled:
    """Compile CUDA C++; raises `ToolMissing`, or `ToolFailed` with the log, whose lines read
    `/mytriton/kernel.cu(LINE): error: ...`. Thread-safe; releases the GIL."""
    lib = load_library("nvrtc")
    lib.nvrtcGetErrorString.restype = ctypes.c_char_p
    program = ctypes.c_void_p()
    code = lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), PROGRAM_NAME.encode(), 0, None, None)
    if code != 0:
        raise ToolFailed(f"NVRTC: {lib.nvrtcGetErrorString(code).decode()}")
    try:
        array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        code = lib.nvrtcCompileProgram(program, len(options), array)
        log = _get(lib, "ProgramLog", program)
        if code != 0:
            raise ToolFailed(f"NVRTC: {lib.nvrtcGetErrorString(code).decode()}", log)
        return Compiled(_get(lib, "PTX", program), log)
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def _get(lib: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    getattr(lib, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(1, size.value))
    getattr(lib, f"nvrtcGet{what}")(program, buffer)
    return buffer.value.decode(errors="replace")

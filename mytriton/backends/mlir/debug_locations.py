"""How LLVM keeps the places of instructions, said once before it compiles anything in this process.

Of two instructions that become one, the place of one of them stays, not line 0. And what has no place says so in PTX
and object files (`.loc 1 0 0`); else it would pass for the line of what stands before it. No instruction changes.
"""

from __future__ import annotations

import ctypes
import importlib.util
from functools import cache
from pathlib import Path

#: The same as the options of LLVM's programs.
OPTIONS = ("-pick-merged-source-locations", "-use-unknown-locations=Enable")

#: An attribute of a function: what LLVM puts in place of a call has the place of the call, not that in the function.
CALLS = "no-inline-line-tables"


@cache
def keep_locations() -> None:
    """Give LLVM the options, unless the bindings bring it as another library than the one that they come with."""
    spec = importlib.util.find_spec("llvm")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        path = Path(folder, "lib", "libLLVM.so")
        if path.exists():
            given = [option.encode() for option in ("mytriton", *OPTIONS)]
            array = (ctypes.c_char_p * len(given))(*given)
            ctypes.CDLL(str(path)).LLVMParseCommandLineOptions(len(given), array, None)

"""Runs the scripts named as arguments, each in a process of its own, and prints the code that each ends with.

The processes are forked from this one, which has loaded MLIR: a process from nothing takes half a second for that. What
a script prints on standard error is left beside it in `stderr.txt`.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import mlir.ir
import mlir.passmanager  # noqa: F401

import mytriton.mlir  # noqa: F401


def run(script: str) -> int:
    """Run a script; the code that it ends with."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(write, 2)
        os.close(write)
        os.close(read)
        runpy.run_path(script, run_name="__main__")
        sys.exit(0)
    os.close(write)
    with open(read, "rb") as said:
        Path(script).with_name("stderr.txt").write_bytes(said.read())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for script in sys.argv[1:]:
        print(run(script), flush=True)

"""Files for the command line, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.__main__ import main

ADD = "examples/kernels/add.py"

TWO = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def first(x: "*fp32", B: tl.constexpr = 32):
    tl.store(x + tl.arange(0, B), 1.0)

@mytriton.jit
def second(x: "*fp32", B: tl.constexpr = 32):
    tl.store(x + tl.arange(0, B), 2.0)
"""

ONE = """\
import numpy as np
import mytriton
import mytriton.language as tl

@mytriton.jit
def fill(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)

@fill.example(n=32)
def case(n):
    return mytriton.Example(args={"x": ARRAY, "B": n}, grid=1, expected={"x": np.ones(32, np.float32)})
"""
GOOD = ONE.replace("ARRAY", "np.zeros(32, np.float32)")


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The message of a command that is refused with exit code 2."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    if captured.out:
        assert "--json" in argv
        assert captured.err == f"mytriton-explore: {json.loads(captured.out)['error']}\n"
    return captured.err


def file(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name

"""Triton as a reference: the same kernel source, run by the `triton` package in another process.

`MYTRITON_TRITON_PYTHON` names a Python that has it; without it this Python is tried. Its interpreter, from 3.9 on,
needs neither torch nor a GPU.
"""

from __future__ import annotations

import ast
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from mytriton.tools.tensor_descriptor import TensorDescriptor
from mytriton.types import ScalarType

CHILD = Path(__file__).with_name("triton_child.py")


class TritonError(Exception):
    """Triton does not take the kernel; the message is its own."""


class Triton:
    """A process in which Triton runs kernels. A context manager."""

    def __init__(self, folder: Path, mode: Literal["interpret", "gpu"] = "interpret") -> None:
        self.folder, self.mode = folder, mode
        self.written: dict[str, Path] = {}
        self.process = subprocess.Popen(
            [os.environ.get("MYTRITON_TRITON_PYTHON", sys.executable), str(CHILD), mode],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        #: Why Triton cannot be used, or "".
        self.missing, self.version = self._answer()
        old = not self.missing and tuple(map(int, self.version.split(".")[:2])) < (3, 9)
        if old and mode == "interpret":
            self.missing = f"the interpreter of Triton {self.version} lacks bfloat16"

    def __enter__(self) -> Triton:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def _answer(self) -> Any:
        assert self.process.stdout is not None
        try:
            return pickle.load(self.process.stdout)
        except EOFError:
            raise TritonError("the process with Triton ended") from None

    def run(self, text: str, kernel: str, grid: int | tuple[int, ...], args: dict[str, Any]) -> None:
        """Launch a kernel of a module's text (see `as_triton`), in place on the NumPy arrays among `args`. Raises
        `TritonError`."""
        path = self.written.setdefault(text, self.folder / f"triton{len(self.written)}.py")
        path.write_text(text)
        memories: list[Any] = []
        sent = {name: _packed(value, memories) for name, value in args.items()}
        assert self.process.stdin is not None
        grid = grid if isinstance(grid, tuple) else (grid,)
        pickle.dump((str(path), kernel, grid, sent, [m.tobytes() for m in memories]), self.process.stdin)
        self.process.stdin.flush()
        trouble, contents = self._answer()
        if trouble:
            raise TritonError(trouble)
        for memory, data in zip(memories, contents, strict=True):
            memory[...] = np.frombuffer(data, np.uint8)


def _packed(value: Any, memories: list[Any]) -> Any:
    """An argument as the other process takes it. Arrays that share memory share it there, too."""
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        owner = value.base if isinstance(value.base, np.ndarray) and value.base.flags.c_contiguous else value
        memory = owner.reshape(-1).view(np.uint8)
        start = memory.__array_interface__["data"][0]
        known = [i for i, m in enumerate(memories) if m.__array_interface__["data"][0] == start and m.size]
        if not known:
            memories.append(memory)
        place = known[0] if known else len(memories) - 1
        return ("array", value.dtype.name, value.shape, place, value.__array_interface__["data"][0] - start)
    if isinstance(value, ScalarType):
        long = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint"}
        return ("dtype", long[value.name.rstrip("0123456789")] + str(value.bits))
    if isinstance(value, TensorDescriptor):
        numbers = [list(numbers) for numbers in (value.shape, value.strides, value.block_shape)]
        return ("descriptor", _packed(value.base, memories), *numbers, value.padding)
    return value.item() if isinstance(value, np.generic) else value


def as_triton(source: str) -> str:
    """A module's text for Triton: its kernels and helpers, the constants they may use, and `triton` for `mytriton`."""
    lines, kept = source.splitlines(), []
    for node in ast.parse(source).body:
        first = node.lineno
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(d) for d in node.decorator_list]
            keep = any(d.startswith(("triton.jit", "mytriton.jit")) for d in decorators)
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            keep = "constexpr(" in ast.unparse(node)
        else:
            keep = isinstance(node, ast.Import | ast.ImportFrom) and "triton" in ast.unparse(node)
        if keep:
            kept.append("\n".join(lines[first - 1 : node.end_lineno]))
    text = "\n\n\n".join(kept).replace("mytriton", "triton") + "\n"
    return text.replace("import triton as triton", "import triton")


@pytest.fixture(scope="session")
def triton_interpreter(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Triton's interpreter; skips the test where there is none."""
    with Triton(tmp_path_factory.mktemp("triton")) as process:
        if process.missing:
            pytest.skip(f"{process.missing} (MYTRITON_TRITON_PYTHON may name a Python with Triton 3.9)")
        yield process


@pytest.fixture(scope="session")
def triton_gpu(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Triton itself, on the GPU; skips the test where there is none."""
    with Triton(tmp_path_factory.mktemp("triton"), "gpu") as process:
        if process.missing:
            pytest.skip(process.missing)
        yield process

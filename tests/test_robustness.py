"""Kernels of unusual size, in unusual files and places: they run, or are refused in a sentence."""

from __future__ import annotations

import importlib.util
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton import CompileError

HEAD = "import mytriton as triton\nimport mytriton.language as tl\n"
PLUS_ONE = "@triton.jit\ndef k(x, out):\n    tl.store(out, tl.load(x) + 1)\n"


class Files:
    """Writes modules and runs their kernel `k` on the host backends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def module(self, text: str | bytes) -> Any:
        """The module of a text (or its bytes), imported from a file."""
        self.count += 1
        path = self.folder / f"file{self.count}.py"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def result(self, text: str | bytes, name: str = "k", **constants: Any) -> list[float]:
        """What `k(x, out)` leaves in out, for x = [1, 2, 3, 4]; the same on both host backends."""
        results = []
        for backend in ("interp", "cpu"):
            out = np.zeros(4, np.float32)
            kernel = getattr(self.module(text), name)
            kernel[1](np.arange(1, 5, dtype=np.float32), out, backend=backend, **constants)
            results.append(out.tolist())
        assert results[0] == results[1]
        return results[0]

    def mistake(self, body: str) -> str:
        """The message for a kernel with this body."""
        with pytest.raises(CompileError) as caught:
            self.result(f"{HEAD}@triton.jit\ndef k(x, out):\n{body}")
        return str(caught.value)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_a_kernel_of_a_thousand_statements(files):
    lines = "".join(f"    v{i} = v + {i}\n    v = v{i} - v\n" for i in range(500))
    text = f"{HEAD}@triton.jit\ndef k(x, out):\n    v = tl.load(x)\n{lines}    tl.store(out, v)\n"
    assert files.result(text)[0] == 499  # v is i after the pair of lines that adds i


def test_as_many_elifs_as_are_allowed_and_one_more(files):
    def text(count):
        branches = "".join(f"    elif C == {i}:\n        tl.store(out, {i})\n" for i in range(1, count + 1))
        head = "@triton.jit\ndef k(x, out, C: tl.constexpr):\n    if C == 0:\n        pass\n"
        return HEAD + head + branches

    assert files.result(text(150), C=150)[0] == 150
    with pytest.raises(CompileError, match="more than 150 `elif` branches"):
        files.result(text(151), C=1)


def test_loop_bounds_beyond_any_machine_integer(files):
    message = files.mistake("    for i in tl.static_range(10**30):\n        tl.store(out, 1.0)\n")
    assert "exceeds 65536 iterations" in message


def test_constants_beyond_any_float(files):
    body = f"    tl.store(out, tl.load(x) + {'9' * 400})\n    tl.store(out + 1, -1e999)\n"
    assert files.result(f"{HEAD}@triton.jit\ndef k(x, out):\n{body}")[:2] == [np.inf, -np.inf]


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda text: text.replace("\n", "\r\n").encode(), id="CRLF"),
        pytest.param(lambda text: text.replace("\n", "\r").encode(), id="CR"),
        pytest.param(lambda text: b"\xef\xbb\xbf" + text.encode(), id="BOM"),
        pytest.param(lambda text: ("# coding: latin-1\n# \xe9\n" + text).encode("latin-1"), id="latin-1"),
        pytest.param(lambda text: text.replace("    ", "\t").encode(), id="tabs"),
        pytest.param(lambda text: text.replace("@triton", "\f\n@triton").encode(), id="form feed"),
        pytest.param(lambda text: text.rstrip().encode(), id="no newline at the end"),
    ],
)
def test_files_of_every_kind(files, write):
    assert files.result(write(HEAD + PLUS_ONE))[0] == 2


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    class B:\n        @staticmethod\n        @triton.jit\n        def k(x, out):\n"
        "            tl.store(out, tl.load(x) + 1)\nk = A.B.k\n",
        "def make(c):\n    @triton.jit\n    def k(x, out):\n        tl.store(out, tl.load(x) + c)\n    return k\n"
        "other, k = make(5), make(1)\n",
        "def plain(x, out): tl.store(out, tl.load(x) + 1)\nk = triton.jit(triton.jit(plain))\n",
        "def same(*a):\n    return lambda f: f\n"
        "@triton.jit\n@same(\n    1,\n    lambda z: (\n        z),\n)\n# why not\n@same()\n"
        "def k(x,  # in\n      out,\n      ):\n    '''Says\n    it.'''\n"
        "    tl.store(\n        out,\n  tl.load(x)\n + 1)\n",
        "@triton.jit\ndef k(x, out): v = tl.load(x); tl.store(out, v \\\n    + 1)\n",
    ],
    ids=["class", "closure", "called", "decorators", "one line"],
)
def test_kernels_in_every_place(files, text):
    assert files.result(HEAD + text)[0] == 2


def test_names_outside_ascii(files):
    # Python reads ℌ as H: identifiers are normalized.
    text = "@triton.jit\ndef größe(x, ö, µ: tl.constexpr):\n    ℌ = tl.load(x) * µ\n    tl.store(ö, H)\n"
    assert files.result(HEAD + text, "größe", μ=3)[0] == 3


def test_what_has_no_source_is_refused(files):
    made_by_exec = f"space = {{}}\nexec({HEAD + PLUS_ONE!r}, space)\nk = space['k']\n"
    for text in (
        made_by_exec,
        HEAD + "k = triton.jit(lambda x, out: tl.store(out, 1.0))\n",
        HEAD + "k = triton.jit(len)\n",
    ):
        with pytest.raises(CompileError, match="cannot read the source of"):
            files.result(text)


def test_calling_and_launching_kernels_inside_kernels(files):
    assert "`k` calls itself; recursion is not part of the kernel language" in files.mistake("    k(x, out)\n")
    assert "a kernel cannot launch a kernel" in files.mistake("    k[1](x, out)\n")
    helper = f"{HEAD}@triton.jit\ndef h(v):\n    return v + 1\n@triton.jit\ndef k(x, out):\n    tl.store(out, h(1.0))\n"
    assert files.result(helper)[0] == 2


def test_an_ellipsis_is_an_empty_statement(files):
    assert files.result(HEAD + "@triton.jit\ndef k(x, out):\n    ...\n") == [0, 0, 0, 0]


def test_a_global_whose_code_fails_is_not_asked(files):
    unfriendly = (
        "class E:\n    __hash__ = None\n    def fail(self, *a):\n        raise RuntimeError\n"
        "    __eq__ = __bool__ = __getattr__ = fail\nE = E()\n"
    )
    text = f"{HEAD}{unfriendly}@triton.jit\ndef k(x, out):\n    if E:\n        tl.store(out, 1.0)\n"
    with pytest.raises(CompileError, match="`E` is a global E; a kernel reads only numbers"):
        files.result(text)


def test_threads_compile_different_kernels_at_once(files):
    scaled = "@triton.jit\ndef k(x, out, C: tl.constexpr):\n    tl.store(out, tl.load(x) * C)\n"
    kernel, x = files.module(HEAD + scaled).k, np.ones(1, np.float32)
    outs = [np.zeros(1, np.float32) for _ in range(8)]
    jobs = [threading.Thread(target=lambda i=i: kernel[1](x, outs[i], C=i, backend="cpu")) for i in range(8)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [out[0] for out in outs] == list(range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # Python 3.12 warns of threads
def test_a_forked_process_runs_old_and_new_kernels(files):
    text = "@triton.jit\ndef k(x, out, C: tl.constexpr, B: tl.constexpr):\n"
    text += "    i = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(out + i, tl.load(x + i) * C)\n"
    kernel, x = files.module(HEAD + text).k, np.ones(1 << 20, np.float32)
    out = np.zeros_like(x)  # large enough for several threads
    kernel[1 << 10](x, out, C=3, B=1024, backend="cpu")
    child = os.fork()
    if child == 0:
        right = []
        for factor in (3, 4):
            out[:] = 0
            kernel[1 << 10](x, out, C=factor, B=1024, backend="cpu")
            right.append(bool((out == factor).all()))
        os._exit(0 if right == [True, True] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

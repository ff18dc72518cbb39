"""The checking mode of the cpu backend: it names what the interpreter names, and lets pass what is right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from examples.kernels import atomics, gemm, matrix, pointers, softmax
from mytriton.diagnostics import OptionError
from tests.running import runner


@triton.jit
def double_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v * 2)


@triton.jit
def scalar_kernel(x, out, at):
    if at < 5:
        tl.store(out, tl.load(x + at))


@triton.jit
def chosen_kernel(x, y, out, B: tl.constexpr):
    """What is beyond `x` by mistake may be in `y`: which of the two is meant is known at run time only."""
    i = tl.arange(0, B)
    base = tl.where(i < 4, x + i, y + i)
    for k in range(2):
        tl.atomic_add(out + i * k, tl.load(base))


def _ones(n: int) -> Any:
    return np.ones(n, np.float32)


def _zeros(n: int) -> Any:
    return np.zeros(n, np.float32)


LAUNCHES: dict[str, Callable[[dict[str, Any]], object]] = {
    "store": lambda o: double_kernel[(4,)](_ones(1000), _zeros(1000), 1000, B=256, **o),
    "load": lambda o: double_kernel[(4,)](_ones(1000), _zeros(1024), 1024, B=256, **o),
    "all inside": lambda o: double_kernel[(4,)](_ones(1000), _zeros(1024), 1000, B=256, **o),
    "scalar": lambda o: scalar_kernel[(1,)](_ones(10), _zeros(1), -1, **o),
    "no elements": lambda o: scalar_kernel[(1,)](_ones(0), _zeros(1), 0, **o),
    "not reached": lambda o: scalar_kernel[(1,)](_ones(3), _zeros(1), 7, **o),
    "backwards": lambda o: scalar_kernel[(1,)](_ones(10)[::-1], _zeros(1), -9, **o),
    "too far backwards": lambda o: scalar_kernel[(1,)](_ones(10)[::-1], _zeros(1), -10, **o),
    "atomic": lambda o: chosen_kernel[(1,)](_ones(16), _ones(16), _zeros(15), B=16, **o),
    "chosen": lambda o: chosen_kernel[(1,)](_ones(3), _ones(16), _zeros(16), B=16, **o),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_it_says_what_the_interpreter_says(name: str) -> None:
    runner("cpu")
    ours, theirs = (_said(LAUNCHES[name], o) for o in ({"backend": "cpu", "check_bounds": True}, {"backend": "interp"}))
    if name == "chosen":  # the address is in neither of the arrays that it may be in
        assert "load outside of `x` or `y`, lane 3 of program (0, 0, 0)" in ours
        assert "lane 3 of program (0, 0, 0)" in theirs
    else:
        assert ours == re.sub(r": element -?\d+ of \d+", "", theirs)
    assert ("outside" in ours) == (name not in ("all inside", "not reached", "backwards"))


def _said(launch: Callable[[dict[str, Any]], object], options: dict[str, Any]) -> str:
    try:
        launch(options)
    except triton.LaunchError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("module", [atomics, gemm, matrix, pointers, softmax], ids=lambda m: m.__name__)
def test_what_is_right_passes(module: Any) -> None:
    runner("cpu")
    for kernel in [v for v in vars(module).values() if isinstance(v, triton.JITFunction)]:
        case = kernel.examples[0]
        report = triton.check_example(kernel, case, triton.Target("cpu", check_bounds=True))
        assert report.ok, str(report)


def test_who_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    runner("cpu")
    with pytest.raises(OptionError, match="check_bounds is an option of the cpu backend, not of cuda"):
        triton.Target("cuda", check_bounds=True)
    monkeypatch.setenv("MYTRITON_CHECK_BOUNDS", "1")
    with pytest.raises(triton.LaunchError, match="store outside of `out`"):
        LAUNCHES["store"]({"backend": "cpu"})
    kernel: Any = softmax.softmax_kernel
    for value, checks in (("1", True), ("0", False)):
        monkeypatch.setenv("MYTRITON_CHECK_BOUNDS", value)
        report = triton.check_example(kernel, kernel.examples[0], triton.Target("cpu"))
        assert report.ok and report.compilation.target.check_bounds == checks

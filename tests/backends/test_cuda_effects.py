"""Assertions and prints as CUDA C++: the text, and what they do, emulated on the CPU."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mytriton.backends.cuda.backend import options
from mytriton.backends.cuda.effects import c_string
from mytriton.backends.cuda.emit import emit
from mytriton.backends.nvidia import nvrtc
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder
from mytriton.ir.core import Func
from mytriton.layout.assign import lay_out
from mytriton.source import Span
from mytriton.target import Target
from mytriton.types import FLOATS, INTEGERS, i1, i32
from tests.backends.emulate import Stopped, build
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def text(func: Func, target: Target) -> str:
    return "\n".join(line.text for line in emit(lay_out(func, target), target))


def checked(shape: tuple[int, ...]) -> Func:
    """`assert x[i] > 0` for every element, on line 7; the call site of a helper is line 3."""
    b, x = Tiles(), pointer("x", i32)
    b.span = Span(7, 5, 7, 20, unit=1, call_site=Span(3, 1, 3, 9))
    if shape:
        zero = b.constant(0, i32, shape)
        value = b.load(x, b.index(shape))
    else:
        zero, value = b.constant(0, i32), b.add(ops.Load, pointer=x)
    condition = b.add(ops.CmpGt, lhs=value, rhs=zero)
    b.append(ops.Assert(condition=condition, message='x is 100 % "positive"?'))
    return b.finish("checked", (x,))


def shown(shape: tuple[int, ...]) -> tuple[Func, list[Any]]:
    """Prints a block, or a scalar, of every type, and the program's number."""
    b = Tiles()
    types = (i1, *INTEGERS, *FLOATS)
    params = [pointer(f"x{t}", t) for t in types]
    for param in params:
        value = b.load(param, b.index(shape)) if shape else b.add(ops.Load, pointer=param)
        b.append(ops.Print(values=(value,), prefix=f"{param.id} 100%"))
    b.append(ops.Print(values=(b.add(ops.ProgramId, axis=0),), prefix="pid"))
    size = int(np.prod(shape))
    arrays = [(np.arange(size) * (3 if t == i1 else 1) - (2 if t.signed and t != i1 else 0)) for t in types]
    return b.finish("shown", tuple(params)), [a.astype(DTYPES[t]) for a, t in zip(arrays, types, strict=True)]


@needs_compiler
@pytest.mark.parametrize("shape", [(), (4,), (512,), (8, 32)])
def test_an_assertion_stops_the_launch(shape: tuple[int, ...], tmp_path: Path) -> None:
    library = build([(text(checked(shape), Target()), 128)], tmp_path)
    x = np.ones(512, np.int32)
    library.run(0, (1, 1, 1), [x], [None])
    x[0 if shape == () else 3] = -1
    with pytest.raises(Stopped, match=r'checked:3: thread \d+: assertion failed: x is 100 % "positive"\?$'):
        library.run(0, (1, 1, 1), [x], [None])


@needs_compiler
@pytest.mark.parametrize("shape", [(), (2,), (4, 2), (2, 2, 2), (256,)])
def test_prints_are_those_of_the_interpreter(
    shape: tuple[int, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    func, arrays = shown(shape)
    interp.run(func, arrays, (2,))
    expected = capfd.readouterr().out.splitlines()
    library = build([(text(func, Target(num_warps=2, chip="sm_75")), 64)], tmp_path)
    library.run(0, (2, 1, 1), arrays, [None] * len(arrays))
    printed = capfd.readouterr().out.splitlines()
    numbers = [line.replace(".0", "") for line in expected]  # C writes 1, NumPy 1.0
    assert sorted(printed) == sorted(numbers)


def test_one_thread_speaks_for_all_that_hold_an_element() -> None:
    lines = [line.strip() for line in text(checked(()), Target()).split("\n")]
    assert "if (!v1 && threadIdx.x == 0) {" in lines
    message = r'"x is 100 % \"positive\"\077"'
    assert f'__assertfail({message}, "checked", 3, "checked", 1);' in lines


def test_strings_are_safe() -> None:
    assert c_string('a"b\\c\nd') == r'"a\"b\\c\012d"'
    assert c_string("größe??/1") == r'"gr\303\266\303\237e\077\077/1"'


@pytest.mark.parametrize("chip", ["sm_75", "sm_90"])
def test_nvrtc_knows_both_without_a_header(chip: str) -> None:
    target = Target(chip=chip)
    funcs = [checked((64,)), shown((4, 8))[0]]
    texts = [f"namespace k{n} {{\n{text(func, target)}\n}}" for n, func in enumerate(funcs)]
    compiled = nvrtc.compile_ptx("\n".join(texts), options(target))
    assert compiled.log == ""
    assert "vprintf" in compiled.ptx and "__assertfail" in compiled.ptx


def test_an_assertion_on_a_constant_needs_no_operand() -> None:
    b = Builder()
    b.append(ops.Assert(condition=b.constant(False, i1), message="never"))
    assert "if (!false && threadIdx.x == 0) {" in text(b.finish("never", ()), Target())

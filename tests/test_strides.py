"""Arrays whose elements do not lie side by side, parameters that are not specialized, and tensors on the CPU."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import LaunchError, Target, read_module
from mytriton.arrays import copied
from mytriton.ir.core import ParamInfo
from mytriton.locate import locate
from tests.running import on_every_backend, runner


@triton.jit
def add_transposed(out, x, out_rows, out_columns, rows, columns, m, n, BLOCK: tl.constexpr):
    """out[i, j] += x[j, i], where the strides say."""
    i, j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    mask = (i < m) & (j < n)
    at = out + i * out_rows + j * out_columns
    tl.store(at, tl.load(at, mask=mask) + tl.load(x + j * rows + i * columns, mask=mask), mask=mask)


def strides(array: Any) -> list[int]:
    return [stride // array.itemsize for stride in array.strides]


def views(dtype: Any) -> list[Any]:
    whole = np.arange(40 * 50).reshape(40, 50).astype(dtype)
    return [
        whole[:11, :13],
        whole[3:25:2, 1:40:3],
        whole[10::-1, 12::-1],
        whole.T[:11, :13],
        whole[:11, None, :13][:, 0, ::-1],
    ]


@triton.jit
def twice(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def example(view: int, dtype: Any) -> triton.Example:
    out, x = views(dtype)[view], views(dtype)[(view + 1) % 5].T
    m, n = out.shape
    x = x[:n, :m] if x.shape == (n, m) else x
    names = ("out_rows", "out_columns", "rows", "columns")
    args = {"out": out, "x": x, **dict(zip(names, [*strides(out), *strides(x)], strict=True)), "m": m, "n": n}
    expected = (out.astype(np.float64) + x.T.astype(np.float64)).astype(dtype)
    return triton.Example({**args, "BLOCK": 16}, (triton.cdiv(m, 16),), {"out": expected})


@add_transposed.example(view=0, dtype=np.float32)
@add_transposed.example(view=1, dtype=np.float32)
@add_transposed.example(view=2, dtype=np.int16)
@add_transposed.example(view=3, dtype=np.float64)
@add_transposed.example(view=4, dtype=np.int32)
def case(view: int, dtype: Any) -> triton.Example:
    return example(view, dtype)


@on_every_backend
@pytest.mark.parametrize("case", add_transposed.examples, ids=lambda case: case.label)
def test_strided_arrays_are_where_their_strides_say(run: Any, case: triton.ExampleCase) -> None:
    report = triton.check_example(add_transposed, case, Target(run.backend))
    assert report.ok, report


def test_other_elements_are_left_alone_and_launches_repeat() -> None:
    runner("cpu")
    for backend in ("interp", "cpu"):
        whole = np.zeros((8, 8), np.float32)
        for array in (whole[::2, 1], whole[1], whole[::2, 1], whole[:, 3][::-1]):
            before = array.copy()
            add_transposed[(1,)](
                array, np.ones(8, np.float32), *strides(array), 1, 1, 1, len(array), 1, 16, backend=backend
            )
            assert array.tolist() == (before + 1).tolist()
        assert whole.sum() == 4 + 8 + 4 + 8


def test_an_access_outside_of_a_strided_array_is_found() -> None:
    whole = np.zeros((8, 8), np.float32)
    with pytest.raises(LaunchError, match="load outside of `x`: element 57 of 57"):
        twice[(1,)](whole[:, 0], 58, BLOCK=64, backend="interp")


@pytest.mark.parametrize("case", add_transposed.examples[1:3], ids=lambda case: case.label)
def test_every_stage_keeps_the_strides(case: triton.ExampleCase) -> None:
    assert locate(add_transposed, case, Target("interp")).culprit is None
    without = triton.ExampleCase(lambda **v: triton.Example(example(**v).args, (1,)), case.values)
    assert triton.check_example(add_transposed, without, Target("interp")).ok
    work = triton.bench_example(add_transposed, case, Target("interp"), seconds=0.001).work
    assert (work.read, work.written) == (2 * 11 * 13 * work.written // 143, 143 * case.build().args["out"].itemsize)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, ml_dtypes.bfloat16])
def test_copies_keep_the_strides(dtype: Any) -> None:
    for view in [*views(dtype), np.broadcast_to(np.arange(3).astype(dtype), (4, 3)), np.zeros((0, 4), dtype)[:, ::2]]:
        copy = copied(view)
        assert (copy.tolist(), copy.dtype) == (view.tolist(), view.dtype)
        assert copy.size == 0 or copy.strides == view.strides
        assert not np.shares_memory(copy, view)
        assert copy.flags.writeable
        assert copied(view, np.float64).tolist() == view.astype(np.float64).tolist()
        assert view.size == 0 or strides(copied(view, np.float64)) == strides(view)


# --- torch ------------------------------------------------------------------------------------------------------------


class Tensor:
    """A torch CPU tensor, as far as it is asked."""

    def __init__(self, array: Any) -> None:
        self.array, self.dtype, self.device = array, f"torch.{array.dtype.name}", SimpleNamespace(type="cpu")
        self.is_cuda, self.is_cpu, self.is_sparse = False, True, False
        self.is_neg, self.is_contiguous = lambda: False, lambda: array.flags.c_contiguous
        self.element_size = lambda: array.itemsize
        self.data_ptr = lambda: array.__array_interface__["data"][0]
        self.detach, self.numpy = lambda: self, lambda: array


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_tensors_on_the_cpu(monkeypatch: pytest.MonkeyPatch, backend: str) -> None:
    runner(backend)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, bfloat16="torch.bfloat16"))
    whole = np.zeros((8, 8), np.float32)
    for array in (whole[0], whole[1:, 1], whole[2::2, 2]):
        ones = Tensor(np.ones(8, np.float32))
        add_transposed[(1,)](Tensor(array), ones, *strides(array), 1, 1, 1, len(array), 1, 16, backend=backend)
        assert array.tolist() == [1.0] * len(array)


# --- what is not assumed ----------------------------------------------------------------------------------------------


@triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0])
def careful(x, n, m, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, n + m, mask=at < n)


def test_one_compilation_serves_all_values_of_what_is_not_specialized() -> None:
    array = np.zeros(64, np.int32)

    def compilation(x: Any, n: int, m: int) -> Any:
        return careful[(1,)](x, n, m, BLOCK=16, backend="interp").compilation

    first = compilation(array, 16, 32)
    assert [known for _, _, known in first.specialization.params] == [ParamInfo(), ParamInfo(), ParamInfo(True)]
    assert compilation(array[1:], 5, 48) is first
    assert compilation(array, 16, 33) is not first
    assert compilation(array, 2**40, 32) is not first, "another type"


def test_the_text_says_the_same_as_the_function() -> None:
    text = Path(__file__).read_text()
    read = read_module(text, __file__).kernel("careful")
    assert read is not None
    assert [p.specialized for p in read.params] == [p.specialized for p in careful.kernel.params]
    assert [p.specialized for p in read.params] == [False, False, True, True]
    assert [p.specialized for p in triton.jit(twice.function, do_not_specialize=("n",)).kernel.params] == [
        True,
        False,
        True,
    ]


def test_a_name_is_no_list() -> None:
    with pytest.raises(TypeError, match=r"do_not_specialize is a list of parameters: write do_not_specialize=\['n'\]"):
        triton.jit(do_not_specialize="n")


#: What may be known of a number.
KNOWN = ("", ":16", ":1")


@triton.jit
def strided(x, out, stride, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * stride, mask=at < n) + stride, mask=at < n)


def test_a_stride_that_is_1_makes_neighbours() -> None:
    texts = [strided.compile(f"*fp32:16, *fp32:16, i32{known}, i32:16, 1024").stage("cuda").text for known in KNOWN]
    wide = ["mt_load_if<4>" in text for text in texts]
    assert wide == [False, False, True]
    with pytest.raises(LaunchError, match="'fp32:1' is not a type of a signature"):
        strided.compile("*fp32, *fp32, fp32:1, i32, 1024")


@on_every_backend
@pytest.mark.parametrize("stride", [1, 2, 16])
def test_a_stride_of_any_value(run: Any, stride: int) -> None:
    x, out = np.arange(1600, dtype=np.float32), np.zeros(100, np.float32)
    run(strided, 1, x, out, stride, 100, 128)
    np.testing.assert_array_equal(out, x[: 100 * stride : stride] + stride)

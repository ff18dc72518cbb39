"""The laid-out program computes what the SSA does, on any number of warps, in any order of warps between barriers."""

from __future__ import annotations

import dataclasses
from typing import Literal

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton.diagnostics import LaunchError
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, f16, f64, i1, i32, i64
from tests.ir.kernels import at_offsets, binary_kernel, copy_kernel, counter_kernel, mixed_kernel, pointer
from tests.ir.programs import GRID, Program, assert_same, programs

Form = Literal["tuned", "plain"]


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
@pytest.mark.parametrize("block", [16, 128, 1024, 8192])
def test_add(block: int, num_warps: int) -> None:
    n = 3 * block - 7
    rng = np.random.default_rng(block)
    x, y = rng.random((2, n), np.float32)
    out = np.full(n + 10, -1, np.float32)
    simulate.run(lay_out(binary_kernel(block), Target(num_warps=num_warps)), [x, y, out, n], (3,))
    np.testing.assert_array_equal(out[:n], x + y)
    assert (out[n:] == -1).all()


def test_a_block_of_131072() -> None:
    x = np.arange(131072, dtype=np.float32)
    out = np.zeros_like(x)
    laid_out = lay_out(binary_kernel(131072), Target(num_warps=8))
    simulate.run(laid_out, [x, x, out, x.size - 1], (1,))
    assert laid_out.segments[1].registers == 512
    np.testing.assert_array_equal(out[:-1], 2 * x[:-1])
    assert out[-1] == 0


@pytest.mark.parametrize("element", [i1, i32, i64, f16, bf16, f64], ids=str)
@pytest.mark.parametrize("form", ["tuned", "plain"])
def test_copies_of_every_type(element: ScalarType, form: Form) -> None:
    x = (np.arange(700) % 2).astype(DTYPES[element])
    out = np.zeros_like(x)
    simulate.run(lay_out(copy_kernel(512, element), Target(form=form)), [x, out, 700], (2,))
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
@pytest.mark.parametrize("block", [32, 128, 1024])
def test_a_scalar_has_one_value_in_all_threads(block: int, order: tuple[int, ...]) -> None:
    counter, out = np.array([7], np.int32), np.zeros(2 * block, np.int32)
    simulate.run(lay_out(counter_kernel(block), Target()), [counter, out], (2,), warps=order)
    assert counter.tolist() == [9]
    assert out.tolist() == [7] * block + [8] * block


def test_without_the_barrier_threads_would_disagree() -> None:
    laid_out = lay_out(counter_kernel(128), Target())
    segments = tuple(dataclasses.replace(s, barrier=False) for s in laid_out.segments)
    counter, out = np.array([7], np.int32), np.zeros(128, np.int32)
    simulate.run(dataclasses.replace(laid_out, items=segments), [counter, out], (1,))
    assert out.tolist() == [7] * 32 + [8] * 96


def test_in_place_update_in_any_order() -> None:
    x = np.arange(3000, dtype=np.float32)
    for order in ((0, 1, 2, 3), (3, 2, 1, 0)):
        once = x.copy()
        simulate.run(lay_out(binary_kernel(1024), Target()), [once, once, once, x.size], (3,), warps=order)
        np.testing.assert_array_equal(once, 2 * x)


def test_a_thread_has_loaded_all_its_elements_before_it_stores_one() -> None:
    b = Builder()
    x = pointer("x", i32)
    lanes = b.add(ops.Arange, start=0, end=1024)
    neighbour = b.add(ops.Xor, lhs=lanes, rhs=b.constant(1, i32, (1024,)))  # held by the same thread
    value = b.add(ops.Load, pointer=at_offsets(b, x, neighbour))
    b.append(ops.Store(pointer=at_offsets(b, x, lanes), value=value))
    numbers = np.arange(1024, dtype=np.int32)
    simulate.run(lay_out(b.finish("swap_pairs", (x,)), Target()), [numbers], (1,))
    assert numbers[:6].tolist() == [1, 0, 3, 2, 5, 4]
    assert numbers.tolist() == (np.arange(1024) ^ 1).tolist()


def test_mixed_types_agree_with_the_interpreter() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 600)).astype(np.float16)
    flag, k = rng.integers(0, 3, 600).astype(np.uint8).view(np.bool_), rng.integers(-(2**40), 2**40, 600)
    bf = y.astype(np.float32).astype(ml_dtypes.bfloat16)
    expected, actual = np.zeros(600, np.float32), np.zeros(600, np.float32)
    func = mixed_kernel(512)
    interp.run(func, [x, bf, flag, k, expected, 600], (2,))
    simulate.run(lay_out(func, Target()), [x, bf, flag, k, actual, 600], (2,))
    assert actual.tobytes() == expected.tobytes()


def test_an_access_outside_names_the_element_of_the_block() -> None:
    x = np.zeros(300, np.float32)
    message = r"load outside of `x_ptr`: element 300 of 300, lane 300 of program \(0, 0, 0\)"
    with pytest.raises(LaunchError, match=message):
        simulate.run(lay_out(binary_kernel(1024), Target(num_warps=1)), [x, x, x, 400], (1,))


@given(programs(), st.sampled_from((1, 2, 4, 8)), st.sampled_from(("tuned", "plain")), st.data())
@settings(max_examples=25)
def test_random_kernels(program: Program, num_warps: int, form: Form, data: st.DataObject) -> None:
    expected, actual = program.args(), program.args()
    interp.run(program.func, expected, (GRID,))
    order = data.draw(st.permutations(range(num_warps)))
    simulate.run(lay_out(program.func, Target(num_warps=num_warps, form=form)), actual, (GRID,), warps=order)
    assert_same(actual, expected)

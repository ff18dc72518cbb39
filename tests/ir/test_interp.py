"""The interpreter: memory, grid, errors."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mytriton.diagnostics import LaunchError
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.interp import run
from mytriton.source import SourceUnit
from mytriton.types import f32, i1, i32, i64
from tests.ir.kernels import (
    at,
    at_offsets,
    below,
    binary_kernel,
    copy_kernel,
    counter_kernel,
    mixed_kernel,
    offsets,
    pointer,
)


def test_add_over_a_ragged_grid() -> None:
    n = 98432
    rng = np.random.default_rng(0)
    x, y = rng.random((2, n), np.float32)
    out = np.full(n + 300, -1, np.float32)
    run(binary_kernel(), [x, y, out, n], ((n + 255) // 256,))
    np.testing.assert_array_equal(out[:n], x + y)
    assert (out[n:] == -1).all()


def test_a_grid_with_a_zero_extent_runs_nothing() -> None:
    out = np.zeros(4, np.float32)
    run(binary_kernel(4), [out, out, out, 4], (0,))
    run(binary_kernel(4), [out + 1, out + 1, out, 4], (3, 0, 2))
    assert (out == 0).all()


def test_empty_arrays_are_legal() -> None:
    empty = np.zeros(0, np.float32)
    run(binary_kernel(4), [empty, empty, empty, 0], (1,))


def test_mixed_types_match_numpy() -> None:
    n = 300
    rng = np.random.default_rng(1)
    x = rng.standard_normal(n).astype(np.float16)
    y = rng.standard_normal(n).astype(ml_dtypes.bfloat16)
    flag = rng.integers(0, 3, n).astype(np.uint8).view(np.bool_)  # bytes 0, 1 and 2
    k = rng.integers(-(2**40), 2**40, n)
    out = np.zeros(n, np.float32)
    run(mixed_kernel(), [x, y, flag, k, out, n], (2,))
    expected = np.where(flag.view(np.uint8) != 0, x.astype(np.float32) * y.astype(np.float32), k.astype(np.float32))
    np.testing.assert_array_equal(out, expected)


def test_scalar_effects_happen_once_a_program() -> None:
    counter, out = np.array([7], np.int32), np.zeros(256, np.int32)
    run(counter_kernel(), [counter, out], (2,))
    assert counter.tolist() == [9]
    assert out.tolist() == [7] * 128 + [8] * 128


def test_bool_stores_write_zero_or_one() -> None:
    source, out = np.array([0, 1, 2, 255], np.uint8).view(np.bool_), np.zeros(4, np.bool_)
    run(copy_kernel(4, i1), [source, out, 4], (1,))
    assert out.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_masked_elements_read_as_other_and_touch_nothing() -> None:
    b = Builder()
    x, out, n = pointer("x_ptr", f32), pointer("out_ptr", f32), parameter("n", i32)
    offs = offsets(b, 8)
    other = b.constant(-1.5, f32, (8,))
    value = b.add(ops.Load, pointer=at_offsets(b, x, offs), mask=below(b, offs, n), other=other)
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=value))
    result = np.zeros(8, np.float32)
    run(b.finish("k", (x, out, n)), [np.arange(3, dtype=np.float32), result, 3], (1,))
    assert result.tolist() == [0, 1, 2, -1.5, -1.5, -1.5, -1.5, -1.5]


def test_selected_pointers_keep_their_own_base() -> None:
    b = Builder()
    x, y, out = pointer("x", i32), pointer("y", i32), pointer("out", i32)
    offs = offsets(b, 8)
    odd = b.cast(b.add(ops.And, lhs=offs, rhs=b.constant(1, i32, (8,))), i1)
    chosen = b.add(ops.Select, condition=odd, if_true=at_offsets(b, x, offs), if_false=at_offsets(b, y, offs))
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=b.add(ops.Load, pointer=chosen)))
    func = b.finish("k", (x, y, out))
    first, second, result = np.arange(8, dtype=np.int32), np.arange(100, 108, dtype=np.int32), np.zeros(8, np.int32)
    run(func, [first, second, result], (1,))
    assert result.tolist() == [100, 1, 102, 3, 104, 5, 106, 7]
    with pytest.raises(LaunchError, match=r"outside of `y`: element 6 of 6, lane 6 of program \(0, 0, 0\)"):
        run(func, [first, second[:6], result], (1,))


def test_an_access_outside_names_program_element_and_line() -> None:
    x = np.zeros(300, np.float32)
    unit = SourceUnit("kernels.py", "binary_kernel", 11, "\n" * 20)
    message = (
        r"^kernels.py:15:5: load outside of `x_ptr`: element 300 of 300, lane 44 of program \(1, 0, 0\), "
        r"in `%6 = load %5, %4 : vector<256 x f32>`$"
    )
    with pytest.raises(LaunchError, match=message):
        run(binary_kernel(), [x, x, x, 400], (2,), units=[unit])


def test_a_negative_index_is_outside() -> None:
    b = Builder()
    b.span = at(2)
    x = pointer("x", f32)
    p = b.add(ops.AddPtr, pointer=x, offset=b.constant(-1, i64))
    b.append(ops.Store(pointer=p, value=b.constant(0.0, f32)))
    message = r"^line 2 of the kernel, column 5: store outside of `x`: element -1 of 4"
    with pytest.raises(LaunchError, match=message):
        run(b.finish("k", (x,)), [np.zeros(4, np.float32)], (1,))


def test_strided_views_are_addressed_like_memory() -> None:
    backing = np.arange(8, dtype=np.float32)
    out = np.zeros(7, np.float32)
    run(copy_kernel(8), [backing[::2], out, 7], (1,))
    assert out.tolist() == [0, 1, 2, 3, 4, 5, 6]
    b = Builder()
    x, result = pointer("x", f32), pointer("out", f32)
    p = b.add(ops.AddPtr, pointer=x, offset=b.constant(-7, i32))
    b.append(ops.Store(pointer=result, value=b.add(ops.Load, pointer=p)))
    func = b.finish("k", (x, result))
    run(func, [backing[::-1], out], (1,))
    assert out[0] == backing[0]
    with pytest.raises(LaunchError, match="element -7 of 8"):
        run(func, [backing, out], (1,))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([np.zeros(4, np.float32)], "`copy_kernel` takes 3 runtime arguments, got 1"),
        ([np.zeros(4), np.zeros(4, np.float32), 4], "`x_ptr` holds float64; the kernel was compiled for float32"),
        ([[0.0], np.zeros(4, np.float32), 4], "`x_ptr` must be a NumPy array or a torch CPU tensor, got list"),
    ],
)
def test_arguments_that_do_not_fit(args: list[Any], message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(copy_kernel(4), args, (1,))


def test_all_axes_of_the_grid() -> None:
    b = Builder()
    out = pointer("out", i32)
    ids = [b.add(ops.ProgramId, axis=a) for a in range(3)]
    extents = [b.add(ops.NumPrograms, axis=a) for a in range(3)]
    row = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=ids[2], rhs=extents[1]), rhs=ids[1])
    index = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=row, rhs=extents[0]), rhs=ids[0])
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=index), value=index))
    result = np.full(24, -1, np.int32)
    run(b.finish("k", (out,)), [result], (2, 3, 4))
    assert result.tolist() == list(range(24))


def test_an_observer_sees_every_operation() -> None:
    seen: list[tuple[int, str]] = []
    x = np.zeros(4, np.float32)
    run(copy_kernel(4), [x, x, 4], (2,), observe=lambda program, op, value: seen.append((program[0], op.opcode)))
    listed = [s for s in seen if s[1] not in ("constant", "splat")]
    names = ["program_id", "mul", "arange", "add", "cmp_lt", "addptr", "load", "addptr", "store"]
    assert listed == [(p, name) for p in (0, 1) for name in names]

"""Whole programs on the cpu backend: block sizes, grids, order of memory effects, masks and memory's edges."""

from __future__ import annotations

import ctypes
import mmap
import random

import numpy as np
import pytest

from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, f16, f32, f64, i1, i32, i64
from tests.backends.cpu_support import agree, at, compilation, elementwise, masked_offsets, run

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))

RNG = np.random.default_rng(7)


def pointer(name: str, element: ScalarType) -> Value:
    return parameter(name, PointerType(element))


def add(block: int) -> Func:
    return elementwise((f32, f32), f32, block, lambda b, x, y: b.add(ops.Add, lhs=x, rhs=y))


@pytest.mark.parametrize("block", [1, 2, 4, 8, 16, 32, 1024, 131072])
@pytest.mark.parametrize("n", [1, 1000])
def test_block_sizes(block: int, n: int) -> None:
    x, y = RNG.random((2, n), np.float32)
    out = np.full(n + 8, -1, np.float32)
    run(add(block), [x, y, out, n], (-(-n // block),))
    np.testing.assert_array_equal(out[:n], x + y)
    assert (out[n:] == -1).all()


def test_code_does_not_grow_with_the_block() -> None:
    small, large = (compilation(add(block)).stage("asm") for block in (1024, 131072))
    assert len(large.lines) <= len(small.lines) + 20


def test_three_grid_axes() -> None:
    b = Builder()
    out = pointer("out_ptr", i32)
    x, y, z = (b.add(ops.ProgramId, axis=axis) for axis in range(3))
    nx, ny, nz = (b.add(ops.NumPrograms, axis=axis) for axis in range(3))
    row = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=z, rhs=ny), rhs=y)
    index = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=row, rhs=nx), rhs=x)
    code = b.add(
        ops.Add, lhs=b.add(ops.Mul, lhs=z, rhs=b.constant(100, i32)), rhs=b.add(ops.Mul, lhs=y, rhs=b.constant(10, i32))
    )
    value = b.add(ops.Add, lhs=b.add(ops.Add, lhs=code, rhs=x), rhs=b.add(ops.Mul, lhs=nz, rhs=b.constant(1000, i32)))
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=index), value=value))
    func = b.finish("grid", (out,))
    result = np.zeros((4, 3, 2), np.int32)
    run(func, [result], (2, 3, 4))
    z_, y_, x_ = np.indices((4, 3, 2))
    np.testing.assert_array_equal(result, 4000 + 100 * z_ + 10 * y_ + x_)
    before = result.copy()
    for grid in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        run(func, [result], grid)
    np.testing.assert_array_equal(result, before)


def test_a_grid_large_enough_for_several_threads() -> None:
    n = 3 * 2**18 + 5
    x, y = RNG.random((2, n), np.float32)
    out = np.zeros(n, np.float32)
    run(add(1024), [x, y, out, n], (-(-n // 1024),))
    np.testing.assert_array_equal(out, x + y)


def test_empty_arrays() -> None:
    empty = np.zeros(0, np.float32)
    run(add(64), [empty, empty, empty, 0], (1,))


def test_scalar_read_modify_write_happens_once_a_program() -> None:
    b = Builder()
    p, out = pointer("p", i32), pointer("out_ptr", i32)
    old = b.add(ops.Load, pointer=p)
    b.append(ops.Store(pointer=p, value=b.add(ops.Add, lhs=old, rhs=b.constant(1, i32))))
    offs, _ = masked_offsets(b, 128, b.constant(0, i32))
    b.append(ops.Store(pointer=at(b, out, offs), value=b.splat(old, (128,))))
    count, result = np.zeros(1, np.int32), np.zeros(128 * 3, np.int32)
    run(b.finish("counter", (p, out)), [count, result], (3,))
    assert count[0] == 3
    np.testing.assert_array_equal(result, np.repeat(np.arange(3), 128))


def test_scalar_accesses_are_ordered_with_blocks() -> None:
    """`a = load(block); store(block, a + 1); s = load(first); store(first, s * 10); store(out, load(block))`."""
    b = Builder()
    x, out = pointer("x_ptr", i32), pointer("out_ptr", i32)
    offs = b.add(ops.Arange, start=0, end=64)
    one = b.constant(1, i32, (64,))
    a = b.add(ops.Load, pointer=at(b, x, offs))
    b.append(ops.Store(pointer=at(b, x, offs), value=b.add(ops.Add, lhs=a, rhs=one)))
    s = b.add(ops.Load, pointer=x)
    b.append(ops.Store(pointer=x, value=b.add(ops.Mul, lhs=s, rhs=b.constant(10, i32))))
    total = b.add(ops.Add, lhs=a, rhs=b.add(ops.Load, pointer=at(b, x, offs)))
    b.append(ops.Store(pointer=at(b, out, offs), value=total))
    func = b.finish("ordered", (x, out))
    _, result = agree(func, [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)])
    assert result[:3].tolist() == [10, 3, 5]


def test_masked_scalars() -> None:
    b = Builder()
    x, flag, out = pointer("x_ptr", f32), parameter("flag", i1), pointer("out_ptr", f32)
    plain = b.add(ops.Load, pointer=x, mask=flag)
    other = b.add(ops.Load, pointer=x, mask=flag, other=b.constant(5.0, f32))
    b.append(ops.Store(pointer=out, value=b.add(ops.Add, lhs=plain, rhs=other), mask=flag))
    second = b.add(ops.AddPtr, pointer=out, offset=b.constant(1, i32))
    b.append(ops.Store(pointer=second, value=b.add(ops.Add, lhs=plain, rhs=other)))
    func = b.finish("masked", (x, flag, out))
    assert agree(func, [np.full(1, 3, np.float32), True, np.zeros(2, np.float32)])[2].tolist() == [6, 6]
    assert agree(func, [np.full(1, 3, np.float32), False, np.zeros(2, np.float32)])[2].tolist() == [0, 5]


def shift(block: int, load_at: int, store_at: int, names: tuple[str, ...] = ("x_ptr",)) -> Func:
    """`t = load(x + i + load_at); store(y + i + store_at, t + 1)`, y being x unless two names are given."""
    b = Builder()
    params = [pointer(name, i32) for name in names]
    offs = b.add(ops.Arange, start=0, end=block)

    def moved(base: Value, by: int) -> Value:
        return at(b, base, b.add(ops.Add, lhs=offs, rhs=b.constant(by, i32, (block,))))

    t = b.add(ops.Load, pointer=moved(params[0], load_at))
    t = b.add(ops.Add, lhs=t, rhs=b.constant(1, i32, (block,)))
    b.append(ops.Store(pointer=moved(params[-1], store_at), value=t))
    return b.finish("shift", tuple(params))


@pytest.mark.parametrize(("load_at", "store_at"), [(0, 0), (0, 1), (1, 0), (0, 16), (0, 63), (0, 64), (64, 0), (5, 40)])
def test_a_block_is_loaded_before_it_is_stored(load_at: int, store_at: int) -> None:
    agree(shift(64, load_at, store_at), [np.arange(128, dtype=np.int32)])


@pytest.mark.parametrize("distance", [0, 1, 15, 16, 17, 63, 64, -1, -16, -64])
def test_arrays_may_overlap(distance: int) -> None:
    func = shift(64, 0, 0, ("x_ptr", "y_ptr"))
    base, expected = np.arange(256, dtype=np.int32), np.arange(256, dtype=np.int32)
    run(func, [base[100:], base[100 + distance :]])
    expected[100 + distance : 164 + distance] = expected[100:164] + 1
    np.testing.assert_array_equal(base, expected)


def test_overlapping_arrays_of_different_element_sizes() -> None:
    func = elementwise((i32,), i64, 64, lambda b, x: b.cast(x, i64))
    for start in (0, 1, 31, 64, 97, 191, 192, 200):
        memory = np.arange(400, dtype=np.int32)
        expected = memory.copy()
        expected[64:192] = expected[start : start + 64].astype(np.int64).view(np.int32)
        run(func, [memory[start:], memory[64:].view(np.int64), 64])
        np.testing.assert_array_equal(memory, expected)


def test_the_last_store_wins() -> None:
    """Two overlapping stores: the second one's elements remain, also those of earlier chunks."""
    b = Builder()
    x = pointer("x_ptr", i32)
    offs = b.add(ops.Arange, start=0, end=64)
    b.append(ops.Store(pointer=at(b, x, offs), value=b.constant(1, i32, (64,))))
    moved = b.add(ops.Add, lhs=offs, rhs=b.constant(20, i32, (64,)))
    b.append(ops.Store(pointer=at(b, x, moved), value=b.constant(2, i32, (64,))))
    (result,) = agree(b.finish("stores", (x,)), [np.zeros(100, np.int32)])
    np.testing.assert_array_equal(result, np.repeat([1, 2, 0], [20, 64, 16]))


def test_barriers_change_nothing() -> None:
    """`x[i] += 1; barrier; y[i] = x[63 - i]`: memory is in the order of the statements anyway."""
    found = []
    for barrier in (True, False):
        b = Builder()
        x, y = pointer("x_ptr", i32), pointer("y_ptr", i32)
        lanes = b.add(ops.Arange, start=0, end=64)
        more = b.add(ops.Add, lhs=b.add(ops.Load, pointer=at(b, x, lanes)), rhs=b.constant(1, i32, (64,)))
        b.append(ops.Store(pointer=at(b, x, lanes), value=more))
        if barrier:
            b.append(ops.Barrier())
        back = b.add(ops.Sub, lhs=b.constant(63, i32, (64,)), rhs=lanes)
        b.append(ops.Store(pointer=at(b, y, lanes), value=b.add(ops.Load, pointer=at(b, x, back))))
        func = b.finish("k", (x, y))
        result = agree(func, [np.arange(64, dtype=np.int32), np.zeros(64, np.int32)])[1]
        np.testing.assert_array_equal(result, 64 - np.arange(64))
        found.append(compilation(func).stage("cpu/emit").text)
    assert found[0] == found[1]


def test_gather_and_scatter() -> None:
    b = Builder()
    index, x, out, n = pointer("index_ptr", i64), pointer("x_ptr", f64), pointer("out_ptr", f64), parameter("n", i32)
    offs, mask = masked_offsets(b, 32, n)
    where = b.add(ops.Load, pointer=at(b, index, offs), mask=mask)
    value = b.add(ops.Load, pointer=at(b, x, where), mask=mask, other=b.constant(-1.0, f64, (32,)))
    b.append(ops.Store(pointer=at(b, out, where), value=b.add(ops.Neg, source=value), mask=mask))
    func = b.finish("permute", (index, x, out, n))
    permutation, data = RNG.permutation(100), RNG.random(100)
    result = agree(func, [permutation, data, np.zeros(100), 70], (4,))[2]
    np.testing.assert_array_equal(result[permutation[:70]], -data[permutation[:70]])
    assert (result[permutation[70:]] == 0).all()


def test_an_offset_that_wraps_is_not_taken_as_contiguous() -> None:
    """`out = load(x + (start + arange))` where the sum wraps within the block: what follows 2**31 - 1 is -2**31."""
    b = Builder()
    x, start, out = pointer("x_ptr", i32), parameter("start", i32), pointer("out_ptr", i32)
    lanes = b.add(ops.Arange, start=0, end=64)
    offs = b.add(ops.Add, lhs=b.splat(start, (64,)), rhs=lanes)
    low = b.add(ops.CmpLt, lhs=offs, rhs=b.constant(-(2**31) + 8, i32, (64,)))
    value = b.add(ops.Load, pointer=at(b, x, offs), mask=low, other=b.constant(-1, i32, (64,)))
    b.append(ops.Store(pointer=at(b, out, lanes), value=value))
    data, result = np.arange(8, dtype=np.int32), np.zeros(64, np.int32)
    # An x so far behind the data that element -2**31 is the first of them; no other element is touched.
    far = np.asarray(_At(data.ctypes.data + 4 * 2**31))
    run(b.finish("wrap", (x, start, out)), [far, 2**31 - 5, result])
    assert result[:13].tolist() == [-1] * 5 + list(range(8))
    assert (result[13:] == -1).all()


class _At:
    """Zero bytes at an address."""

    def __init__(self, address: int) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (0,), "typestr": "<i4", "version": 3}


class _Guarded:
    """An array of n elements whose last byte (or first, `front`) is next to a page that may not be touched."""

    def __init__(self, n: int, dtype: type, front: bool = False) -> None:
        page = mmap.PAGESIZE
        size = n * np.dtype(dtype).itemsize
        used = -(-size // page) * page
        self._map = mmap.mmap(-1, used + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        libc = ctypes.CDLL(None, use_errno=True)
        for guard in (start, start + page + used):
            assert libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0) == 0
        offset = page if front else page + used - size
        self.array = np.frombuffer(self._map, dtype, n, offset)


@pytest.mark.parametrize("element", [i1, f16, i32, f64], ids=str)
@pytest.mark.parametrize("n", [1, 5, 16, 37])
def test_masked_off_lanes_touch_no_memory(element: ScalarType, n: int) -> None:
    dtype = {i1: np.bool_, f16: np.float16, i32: np.int32, f64: np.float64}[element]
    x, out = _Guarded(n, dtype), _Guarded(n, dtype)
    x.array[:] = RNG.integers(0, 2, n)
    run(elementwise((element,), element, 64, lambda b, v: v), [x.array, out.array, n])
    np.testing.assert_array_equal(out.array, x.array)


@pytest.mark.parametrize("element", [i1, f16, i32, f64], ids=str)
def test_masked_off_gathers_touch_no_memory(element: ScalarType) -> None:
    """Every second element, the rest masked off and out of the array, at both ends."""
    dtype = {i1: np.bool_, f16: np.float16, i32: np.int32, f64: np.float64}[element]
    b = Builder()
    x, out, n = pointer("x_ptr", element), pointer("out_ptr", element), parameter("n", i32)
    lanes = b.add(ops.Arange, start=-32, end=32)
    offs = b.add(ops.Mul, lhs=lanes, rhs=b.constant(1021, i32, (64,)))
    inside = b.add(ops.CmpGe, lhs=lanes, rhs=b.constant(0, i32, (64,)))
    inside = b.add(ops.And, lhs=inside, rhs=b.add(ops.CmpLt, lhs=lanes, rhs=b.splat(n, (64,))))
    b.append(
        ops.Store(pointer=at(b, out, offs), value=b.add(ops.Load, pointer=at(b, x, offs), mask=inside), mask=inside)
    )
    size = 9 * 1021 + 1
    source, result = _Guarded(size, dtype, front=True), _Guarded(size, dtype)
    source.array[:] = RNG.integers(0, 2, size)
    run(b.finish("strided", (x, out, n)), [source.array, result.array, 10])
    np.testing.assert_array_equal(result.array[::1021], source.array[::1021])
    assert np.count_nonzero(result.array) == np.count_nonzero(source.array[::1021])


def test_masked_scalars_touch_no_memory() -> None:
    b = Builder()
    x = pointer("x_ptr", i32)
    off = b.constant(False, i1)
    end = b.add(ops.AddPtr, pointer=x, offset=b.constant(1, i32))
    b.append(ops.Store(pointer=end, value=b.add(ops.Load, pointer=end, mask=off), mask=off))
    run(b.finish("scalar", (x,)), [_Guarded(1, np.int32).array])


def test_pointers_select_and_compare() -> None:
    """`p = where(i % 2 == 0, x + i, y + i); out = load(p); flag = p == x + i`, with bases of different arrays."""
    b = Builder()
    x, y, out, flag = pointer("x_ptr", i32), pointer("y_ptr", i32), pointer("out_ptr", i32), pointer("flag_ptr", i1)
    lanes = b.add(ops.Arange, start=0, end=64)
    bit = b.add(ops.And, lhs=lanes, rhs=b.constant(1, i32, (64,)))
    even = b.add(ops.CmpEq, lhs=bit, rhs=b.constant(0, i32, (64,)))
    chosen = b.add(ops.Select, condition=even, if_true=at(b, x, lanes), if_false=at(b, y, lanes))
    b.append(ops.Store(pointer=at(b, out, lanes), value=b.add(ops.Load, pointer=chosen)))
    b.append(ops.Store(pointer=at(b, flag, lanes), value=b.add(ops.CmpEq, lhs=chosen, rhs=at(b, x, lanes))))
    func = b.finish("pointers", (x, y, out, flag))
    data = [np.arange(64, dtype=np.int32), -np.arange(64, dtype=np.int32), np.zeros(64, np.int32), np.zeros(64, bool)]
    _, _, result, flags = agree(func, data)
    assert result[:4].tolist() == [0, -1, 2, -3]
    assert flags[:4].tolist() == [True, False, True, False]


def test_names_that_mean_something_to_c_or_mlir() -> None:
    """A kernel called like a C function it uses, with parameters called like our values."""
    b = Builder()
    x, out = pointer("v3", f32), pointer("c1", f32)
    lanes = b.add(ops.Arange, start=0, end=16)
    value = b.add(ops.Exp, source=b.add(ops.Load, pointer=at(b, x, lanes)))
    b.append(ops.Store(pointer=at(b, out, lanes), value=value))
    result = np.zeros(16, np.float32)
    run(b.finish("expf", (x, out)), [np.zeros(16, np.float32), result])
    assert (result == 1).all()


def test_a_name_outside_ascii() -> None:
    b = Builder()
    x = pointer("größe", f32)
    b.append(ops.Store(pointer=x, value=b.constant(2.0, f32)))
    result = np.zeros(1, np.float32)
    run(b.finish("überall", (x,)), [result])
    assert result[0] == 2


def random_kernel(seed: int, block: int = 64) -> Func:
    """A few random operations on values loaded, at random moves, from two arrays that are also stored to."""
    choose = random.Random(seed)
    b = Builder()
    x, y, n = pointer("x_ptr", i32), pointer("y_ptr", f32), parameter("n", i32)
    offs, mask = masked_offsets(b, block, n)
    integers, floats, bools = [offs], [b.cast(offs, f32)], [mask]

    def address(base: Value) -> Value:
        kind = choose.randrange(4)
        by = b.constant(choose.randrange(40), i32, (block,))
        moved = b.add(ops.Add, lhs=offs, rhs=by)
        if kind == 0:  # not contiguous
            moved = b.add(ops.Xor, lhs=moved, rhs=b.constant(choose.randrange(8), i32, (block,)))
        return at(b, base, moved if kind < 3 else offs)

    for _ in range(choose.randrange(8, 30)):
        kind = choose.randrange(9)
        allowed = choose.choice([mask, b.add(ops.And, lhs=mask, rhs=choose.choice(bools))])
        if kind == 0:
            integers.append(b.add(ops.Load, pointer=address(x), mask=allowed))
        elif kind == 1:
            other = choose.choice(floats)
            floats.append(b.add(ops.Load, pointer=address(y), mask=allowed, other=other))
        elif kind == 2:
            b.append(ops.Store(pointer=address(x), value=choose.choice(integers), mask=allowed))
        elif kind == 3:
            b.append(ops.Store(pointer=address(y), value=choose.choice(floats), mask=allowed))
        elif kind == 4:
            cls = choose.choice([ops.Add, ops.Sub, ops.Mul, ops.FloorDiv, ops.Mod, ops.And, ops.Xor, ops.Maximum])
            integers.append(b.add(cls, lhs=choose.choice(integers), rhs=choose.choice(integers)))
        elif kind == 5:
            cls = choose.choice([ops.Add, ops.Sub, ops.Mul, ops.Div])
            floats.append(b.add(cls, lhs=choose.choice(floats), rhs=choose.choice(floats)))
        elif kind == 6:
            cls = choose.choice([ops.CmpLt, ops.CmpEq, ops.CmpGe])
            bools.append(b.add(cls, lhs=choose.choice(integers), rhs=choose.choice(integers)))
        elif kind == 7:
            pair = {"if_true": choose.choice(floats), "if_false": choose.choice(floats)}
            floats.append(b.add(ops.Select, condition=choose.choice(bools), **pair))
        else:
            integers.append(b.cast(choose.choice(floats), i32))
    b.append(ops.Store(pointer=at(b, x, offs), value=integers[-1], mask=mask))
    b.append(ops.Store(pointer=at(b, y, offs), value=floats[-1], mask=mask))
    return b.finish("random", (x, y, n))


@pytest.mark.parametrize("seed", range(25))
def test_random_kernels_do_what_the_interpreter_does(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(-1000, 1000, 300, dtype=np.int32)
    y = rng.normal(0, 100, 300).astype(np.float32)
    agree(random_kernel(seed), [x, y, 230], (4,), Target("cpu", enable_fp_fusion=False))

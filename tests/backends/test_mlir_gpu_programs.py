"""Loops, branches, shapes and exchanges of emitted gpu-dialect MLIR: run thread by thread on the host, against the
interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mytriton.backends.mlir.backend import BACKEND
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import parameter
from mytriton.ir.core import Func, Value
from mytriton.layout.layout import Layout, replicated
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import Exchange, LaidOut, Segment
from mytriton.layout.routes import through
from mytriton.target import Target
from mytriton.types import INTEGERS, ScalarType, bf16, f16, f32, f64, i1, i8, i32, i64, u8, u32, u64
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, matmul, numbers, reduction, softmax

gpu_on_cpu = pytest.importorskip("tests.backends.gpu_on_cpu", reason="needs the MLIR bindings")

ABIS = ["pointer", "memref"]


def run_all(cases: Sequence[tuple[Func | LaidOut, list[Any]]], target: Target, rtol: float = 0.0) -> None:
    """Each kernel, compiled with all others, computes what the interpreter does."""
    kernels = gpu_on_cpu.Kernels([(program, target) for program, _ in cases])
    for number, (program, args) in enumerate(cases):
        func = program.func if isinstance(program, LaidOut) else program
        actual, expected = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
        interp.run(func, expected, (1,))
        kernels.run(number, actual, (1,))
        for a, e in zip(actual, expected, strict=True):
            if isinstance(e, np.ndarray) and rtol:
                np.testing.assert_allclose(np.float64(a), np.float64(e), rtol=rtol, atol=rtol, err_msg=f"case {number}")
            elif isinstance(e, np.ndarray):
                exact = [x.astype(np.float32) if x.dtype == DTYPES[bf16] else x for x in (a, e)]
                np.testing.assert_array_equal(*exact, err_msg=f"case {number}")


def zeros(size: int, element: ScalarType = i32) -> Any:
    return np.zeros(size, DTYPES[element])


# --- loops and branches -----------------------------------------------------------------------------------------------


def rotation(size: int, order: Sequence[int]) -> Func:
    """`for _ in range(n): x, y, z = (x, y, z)[order...]`, and a fourth value that counts, of a tile of `size`."""
    b, n = Tiles(), parameter("n", i32)
    arrays = [pointer(name, i32) for name in "xyz"]
    place = b.index((size,))
    loaded = [b.load(array, place) for array in arrays]

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        more = b.binary(ops.Add, carried[3], carried[order[0]])
        return [*(carried[source] for source in order), more]

    *turned, total = b.loop(n, [*loaded, b.constant(0, i32, (size,))], body)
    for array, value in zip(arrays, turned, strict=True):
        b.store(array, place, value)
    out = pointer("out", i32)
    b.store(out, place, total)
    return b.finish("rotation", (*arrays, out, n))


@pytest.mark.parametrize("abi", ABIS)
def test_carried_values_are_assigned_at_once(abi: str) -> None:
    cases = []
    for size, order, n in itertools.product((1, 32, 1024), itertools.permutations(range(3)), (0, 4)):
        arrays = [numbers((size,), seed=seed) for seed in range(3)]
        cases.append((rotation(size, order), [*arrays, zeros(size), n]))
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


def range_sums(element: ScalarType, ranges: Sequence[Sequence[int | None]]) -> Func:
    """How often each loop runs and the sum of its variable. Bounds that are None are read from an array, in order."""
    b, out, given = Tiles(), pointer("out", element), pointer("given", element)

    def at(base: Value, place: int) -> Value:
        return b.add(ops.AddPtr, pointer=base, offset=b.constant(place, i32))

    places, stores = itertools.count(), itertools.count()
    one, zero = b.constant(1, element), b.constant(0, element)
    for bounds in ranges:
        lower, upper, step = (
            b.add(ops.Load, pointer=at(given, next(places))) if n is None else b.constant(n, element) for n in bounds
        )
        i, count, total = b.params([element] * 3)
        carried = [i, count, total]
        sums = b.region(carried, lambda b, c=carried: [b.binary(ops.Add, c[1], one), b.binary(ops.Add, c[2], c[0])])
        loop = ops.For(lower=lower, upper=upper, step=step, initial=(zero, zero), body=sums)
        for value in b.append(loop).results:
            b.append(ops.Store(pointer=at(out, next(stores)), value=value))
    return b.finish("range_sums", (out, given))


def _ranges(element: ScalarType) -> list[tuple[int, int, int]]:
    low, high = element.low, element.high
    big = high // 3
    found = [(0, 10, 1), (0, 10, 3), (7, 7, 1), (9, 2, 2), (high - 5, high, 1), (high - 5, high, 4)]
    found += [(high - 7, high, 5), (low, high, big), (low, low + 3, 2), (0, high, high), (high, low, 1)]
    if element.signed:
        found += [(10, 0, -1), (10, -11, -4), (low + 5, low, -1), (low + 5, low, -4), (high, low, -big), (3, 3, -1)]
        found += [(0, low, low), (high, low, low), (0, 5, -1)]
    return [r for r in found if all(low <= n <= high for n in r)]


@pytest.mark.parametrize("abi", ABIS)
def test_loops_of_every_type_end_where_their_variable_would_wrap(abi: str) -> None:
    cases = []
    for element in INTEGERS:
        ranges = _ranges(element)
        for known in ((True, True, True), (True, False, True), (False, False, False)):
            chosen = [[n if k else None for n, k in zip(r, known, strict=True)] for r in (*ranges, (0, 9, 0))]
            given = [n for r in (*ranges, (0, 9, 0)) for n, k in zip(r, known, strict=True) if not k]
            array = np.array([0, *given], DTYPES[element])[1:]
            cases.append((range_sums(element, chosen), [zeros(2 * len(chosen), element), array]))
    run_all(cases, Target("mlir", num_warps=1, abi=abi))


def collatz(size: int) -> Func:
    """`while n > 1 and steps < limit`, with a tile that grows in every other step, under an `if` in the loop."""
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    n, limit = parameter("n", i32), parameter("limit", i32)
    place = b.index((size,))

    def condition(b: Tiles, carried: list[Value]) -> Value:
        more = b.add(ops.CmpGt, lhs=carried[0], rhs=b.constant(1, i32))
        return b.binary(ops.And, more, b.add(ops.CmpLt, lhs=carried[1], rhs=limit))

    def body(b: Tiles, carried: list[Value]) -> list[Value]:
        value, steps, tile, spare = carried
        odd = b.add(ops.CmpEq, lhs=b.binary(ops.And, value, b.constant(1, i32)), rhs=b.constant(1, i32))

        def up(b: Tiles) -> list[Value]:
            three = b.binary(ops.Mul, value, b.constant(3, i32))
            grown = b.binary(ops.Add, tile, b.splat(steps, (size,)))
            return [b.binary(ops.Add, three, b.constant(1, i32)), grown, tile]

        def down(b: Tiles) -> list[Value]:
            return [b.binary(ops.Shr, value, b.constant(1, i32)), spare, b.binary(ops.Add, tile, spare)]

        value, tile, spare = b.branch(odd, up, down)
        return [value, b.binary(ops.Add, steps, b.constant(1, i32)), tile, spare]

    first = [n, b.constant(0, i32), b.load(x, place), b.constant(1, i32, (size,))]
    _, steps, tile, spare = b.repeat(first, condition, body)
    total = b.binary(ops.Add, b.binary(ops.Add, tile, spare), b.splat(steps, (size,)))
    b.store(out, place, total)
    return b.finish("collatz", (x, out, n, limit))


@pytest.mark.parametrize("abi", ABIS)
def test_while_and_if_hand_values_on(abi: str) -> None:
    cases = [
        (collatz(size), [numbers((size,)), zeros(size), n, limit])
        for size in (1, 64, 2048)
        for n, limit in ((27, 1000), (1, 5), (6, 3), (6, 0))
    ]
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


def pointers(size: int) -> Func:
    """Walks through an array with a pointer and with a block of pointers, both carried."""
    b, x, out, n = Tiles(), pointer("x", f32), pointer("out", f32), parameter("n", i32)
    place = b.index((size,))

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        at, block, total = carried
        first = b.add(ops.Load, pointer=at)
        total = b.binary(ops.Add, total, b.binary(ops.Mul, b.add(ops.Load, pointer=block), b.splat(first, (size,))))
        at = b.add(ops.AddPtr, pointer=at, offset=b.constant(1, i32))
        return [at, b.add(ops.AddPtr, pointer=block, offset=b.constant(size, i32, (size,))), total]

    _, _, total = b.loop(n, [x, b.at(x, place), b.constant(0.0, f32, (size,))], body)
    b.store(out, place, total)
    return b.finish("pointers", (x, out, n))


@pytest.mark.parametrize("abi", ABIS)
def test_carried_pointers(abi: str) -> None:
    cases = [(pointers(size), [numbers((4 * size,), f32), zeros(size, f32), 4]) for size in (4, 512)]
    run_all(cases, Target("mlir", abi=abi, enable_fp_fusion=False))


def test_a_pointer_that_changes_its_array_has_no_memref_form() -> None:
    b, x, y, out, n = Tiles(), pointer("x", f32), pointer("y", f32), pointer("out", f32), parameter("n", i32)
    here, _ = b.loop(n, [x, y], lambda b, i, carried: [carried[1], carried[0]])
    b.append(ops.Store(pointer=out, value=b.add(ops.Load, pointer=here)))
    func = b.finish("swap", (x, y, out, n))
    findings = BACKEND.check(func, Target("mlir", abi="memref"))
    assert [d.message for d in findings] == [
        "this carries pointers into different arrays, `x` and `y`, which the memref form cannot say",
        "this carries pointers into different arrays, `y` and `x`, which the memref form cannot say",
    ]
    assert not BACKEND.check(func, Target("mlir"))
    for trips in (3, 4):
        arrays = [np.array([value], np.float32) for value in (1, 2, 0)]
        run_all([(func, [*arrays, trips])], Target("mlir", num_warps=1))


# --- shapes and reductions --------------------------------------------------------------------------------------------

SHAPES: list[tuple[tuple[int, ...], int]] = [
    *(((size,), 0) for size in (1, 2, 16, 64, 1024)),
    *(((32, 64), axis) for axis in (0, 1)),
    *(((2, 4), axis) for axis in (0, 1)),
    ((8, 256), 0),
    ((256, 8), 0),
    ((4, 8, 16), 1),
    ((1, 64), 1),
]


@pytest.mark.parametrize("abi", ABIS)
@pytest.mark.parametrize("warps", [1, 4])
def test_reductions_over_every_axis(abi: str, warps: int) -> None:
    cases: list[tuple[Func | LaidOut, list[Any]]] = []
    for shape, axis in SHAPES:
        for element in (i32, f32):
            size = int(np.prod(shape))
            args = [numbers((size,), element), zeros(size // shape[axis], element)]
            cases.append((reduction(shape, axis, "maximum", element), args))
    run_all(cases, Target("mlir", num_warps=warps, abi=abi))


COMBINE = [
    *(("add", element) for element in (i32, i64, u64)),
    *(("mul", element) for element in (i8, i32)),
    *((combine, element) for combine in ("maximum", "minimum") for element in (i8, u8, u32, i64, f16, bf16, f32, f64)),
    *((combine, element) for combine in ("maximum_nan", "minimum_nan") for element in (f16, f32, f64)),
    *((combine, element) for combine in ("and", "or", "xor") for element in (i1, i8, u32, i64)),
]


@pytest.mark.parametrize("abi", ABIS)
def test_reductions_with_every_operation_and_type(abi: str) -> None:
    """512 elements in 4 warps: across registers, lanes and warps."""
    cases: list[tuple[Func | LaidOut, list[Any]]] = []
    for combine, element in COMBINE:
        x = numbers((512,), element) if element != i1 else np.arange(512) % 3 == 1
        if element.kind == "float" and combine != "add":
            x[[5, 300]] = np.nan
        cases.append((reduction((512,), 0, combine, element), [x, zeros(1, element)]))
    run_all(cases, Target("mlir", abi=abi))


def test_sums_of_floats_and_tiles_from_rows_and_columns() -> None:
    cases: list[tuple[Func | LaidOut, list[Any]]] = []
    for shape, axis in (((8, 64), 1), ((64, 8), 0), ((4, 4, 32), 2), ((4, 4, 32), 0), ((2, 2), 1)):
        size = int(np.prod(shape))
        cases.append((softmax(shape, axis), [numbers((size,), f32), zeros(size, f32)]))
    for m, n, k in ((32, 64, 5), (16, 2, 3), (4, 128, 1)):
        args = [numbers((m * k,), f32), numbers((k * n,), f32), zeros(m * n, f32), k]
        cases.append((matmul(m, n, k), args))
    for target in (Target("mlir"), Target("mlir", num_warps=1), Target("mlir", abi="memref", num_warps=2)):
        run_all(cases, target, rtol=1e-4)


# --- conversions ------------------------------------------------------------------------------------------------------


def conversion(have: Layout, want: Layout, element: ScalarType, num_warps: int, of_pointers: bool = False) -> LaidOut:
    """`out[i] = x[i]`, loaded in one layout and stored in another; by hand, since the layout step avoids it. With
    `of_pointers`, the addresses are converted and the elements loaded in the other layout."""
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)

    def offsets(base: Value) -> Value:
        lanes = b.add(ops.Arange, start=0, end=have.size)
        return b.add(ops.AddPtr, pointer=b.splat(base, (have.size,)), offset=lanes)

    here = offsets(x) if of_pointers else b.add(ops.Load, pointer=offsets(x))
    first = tuple(b.ops)
    converted = b.append(Convert(source=here, through=through(have, want)))
    count = len(b.ops)
    value = b.add(ops.Load, pointer=converted.result) if of_pointers else converted.result
    b.append(ops.Store(pointer=offsets(out), value=value))
    second = tuple(b.ops[count:])
    func = b.finish("conversion", (x, out))
    layouts = {p: replicated(num_warps) for p in func.params}
    layouts |= {v: have for op in first for v in op.results} | {v: want for op in second for v in op.results}
    layouts[converted.result] = want
    items = (Segment(have, first, (here,)), Exchange(converted), Segment(want, second))
    return LaidOut(func, layouts, items, num_warps)


def spread(bits: str) -> Layout:
    """A layout for 2 warps that gives the position bits, from the lowest on, to registers `r`, lanes `l` and warps
    `w`; lanes and warps that get none hold copies."""
    entries: dict[str, list[int]] = {"r": [], "l": [], "w": []}
    for bit, kind in enumerate(bits):
        entries[kind].append(1 << bit)
    lanes, warps = (entries[kind] + [0] * (n - len(entries[kind])) for kind, n in (("l", 5), ("w", 1)))
    return Layout((1 << len(bits),), tuple(entries["r"]), tuple(lanes), tuple(warps))


LANES = (1, 2, 4, 8, 16)
CONVERSIONS = [
    (Layout((128,), (32,), LANES, (64,)), Layout((128,), (32,), LANES[::-1], (64,)), "shuffle"),
    (Layout((32,), (), LANES, (0,)), Layout((32,), (4, 8, 16), (1, 2, 0, 0, 0), (0,)), "shuffle"),
    (Layout((32,), (), LANES, (0,)), Layout((32,), (16, 2), (8, 0, 4, 0, 0), (1,)), "shuffle"),
    (Layout((128,), (32, 64), LANES, (0,)), Layout((128,), (64, 32), LANES, (0,)), "registers"),
    (Layout((8,), (1, 2, 4), (0,) * 5, (0,)), Layout((8,), (4, 1, 2), (0,) * 5, (0,)), "registers"),
    (spread("rlllllw"), spread("lllllwr"), "shared"),
    (spread("rrlllllw"), spread("wlllllrr"), "shared"),
    (spread("llr"), spread("rll"), "shared"),
    (spread("rrr"), spread("wll"), "shared"),
]


@pytest.mark.parametrize("abi", ABIS)
def test_conversions_inside_a_thread_a_warp_and_a_program(abi: str) -> None:
    cases: list[tuple[Func | LaidOut, list[Any]]] = []
    for have, want, how in CONVERSIONS:
        for element in (i1, bf16, i32, f64):
            assert through(have, want) == how
            x = numbers((have.size,), element) if element != i1 else np.arange(have.size) % 3 == 1
            cases.append((conversion(have, want, element, 2), [x, zeros(have.size, element)]))
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


@pytest.mark.parametrize("abi", ABIS)
def test_pointers_are_converted_too(abi: str) -> None:
    cases: list[tuple[Func | LaidOut, list[Any]]] = []
    for have, want, _ in CONVERSIONS:
        args = [numbers((have.size,)), zeros(have.size)]
        cases.append((conversion(have, want, i32, 2, of_pointers=True), args))
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


@pytest.mark.parametrize(
    ("have", "want"), [("rrlllllwrrrrrr", "lllllwrrrrrrrr"), ("rrrrrrrrrlllllw", "rrlllllrrrrrrrw")]
)
def test_what_does_not_fit_the_buffer_goes_in_rounds(have: str, want: str) -> None:
    """128 and 256 KB, through 32: the rounds are told apart by registers, or by the threads that take part."""
    size = 1 << len(have)
    program = conversion(spread(have), spread(want), f64, 2)
    run_all([(program, [numbers((size,), f64), zeros(size, f64)])], Target("mlir", num_warps=2))


def test_a_reduction_across_warps_in_rounds() -> None:
    """256 registers of 8 bytes in each of 64 threads: 128 KB, through 32."""
    b, x, out, size = Tiles(), pointer("x", i64), pointer("out", i64), 16384
    rows, row = (2, size // 2), (size // 2,)
    loaded = b.load(x, b.index((size,)))
    tile = b.shaped(loaded, rows)
    first = tuple(b.ops)
    reduced = b.append(PartialReduce(source=tile, axis=0, combine="xor", across="warps", bits=1))
    count = len(b.ops)
    b.store(out, b.index(row), b.shaped(reduced.result, row))
    second = tuple(b.ops[count:])
    func = b.finish("reduction", (x, out))
    have = spread("rrlllllrrrrrrw")
    kept = have.reshaped(rows).reduced(0, 1)
    layouts = {p: replicated(2) for p in func.params}
    layouts |= {v: have for op in first for v in op.results}
    layouts |= {v: kept.reshaped(row) for op in second for v in op.results}
    layouts |= {tile: have.reshaped(rows), reduced.result: kept}
    items = (Segment(have, first, (tile,)), Exchange(reduced), Segment(kept, second))
    program = LaidOut(func, layouts, items, 2)
    run_all([(program, [numbers((size,), i64), zeros(size // 2, i64)])], Target("mlir", num_warps=2))


# --- what is shown ----------------------------------------------------------------------------------------------------


def printed(shape: tuple[int, ...], element: ScalarType) -> Func:
    b, x = Tiles(), pointer("x", element)
    value = b.load(x, b.index(shape)) if shape else b.add(ops.Load, pointer=x)
    b.append(ops.Print(values=(value,), prefix='50% "a\\b"'))
    return b.finish("printed", (x,))


@pytest.mark.parametrize("shape", [(), (4,), (2, 64), (2, 2, 2)])
def test_each_element_is_printed_once_with_its_place(shape: tuple[int, ...], capfd: pytest.CaptureFixture[str]) -> None:
    size = int(np.prod(shape))
    for element in (i1, i8, u64, f16, f32):
        x = np.arange(-3, size - 3)
        array = x % 2 == 0 if element == i1 else (x / 2 if element.kind == "float" else x).astype(DTYPES[element])
        func = printed(shape, element)
        interp.run(func, [array], (2,))
        expected = capfd.readouterr().out.replace(".0\n", "\n")
        gpu_on_cpu.run(func, Target("mlir", num_warps=2), [array], (2,))
        assert sorted(capfd.readouterr().out.splitlines()) == sorted(expected.splitlines())


def test_an_assertion_stops_the_launch() -> None:
    b, x = Tiles(), pointer("x", i32)
    small = b.add(ops.CmpLt, lhs=b.load(x, b.index((512,))), rhs=b.constant(100, i32, (512,)))
    b.append(ops.Assert(condition=small, message='less than "100"'))
    func = b.finish("asserted", (x,))
    array = np.zeros(512, np.int32)
    gpu_on_cpu.run(func, Target("mlir", num_warps=1), [array], (2,))
    array[300] = 100
    with pytest.raises(AssertionError, match="device assertion"):
        gpu_on_cpu.run(func, Target("mlir", num_warps=1), [array], (2,))

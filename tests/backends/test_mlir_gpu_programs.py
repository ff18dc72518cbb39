"""Loops, branches, shapes and exchanges of emitted gpu-dialect MLIR: run thread by thread on the host, against the
interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton.backends.mlir.backend import BACKEND
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import parameter
from mytriton.ir.core import Func
from mytriton.layout.layout import replicated
from mytriton.layout.ops import PartialReduce
from mytriton.layout.program import Exchange, LaidOut, Segment
from mytriton.layout.routes import through
from mytriton.source import Span
from mytriton.target import Target
from mytriton.types import INTEGERS, bf16, f16, f32, f64, i1, i8, i32, i64, u64
from tests.backends.gpu_programs import (
    COMBINE,
    CONVERSIONS,
    collatz,
    conversion,
    pointers,
    printed,
    range_sums,
    ranges_of,
    rotation,
    spread,
    zeros,
)
from tests.backends.mlir_support import emitted, ptx_of
from tests.emulated import Job, compiled
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


# --- loops and branches -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("abi", ABIS)
def test_carried_values_are_assigned_at_once(abi: str) -> None:
    cases = []
    for size, order, n in itertools.product((1, 32, 1024), itertools.permutations(range(3)), (0, 4)):
        arrays = [numbers((size,), seed=seed) for seed in range(3)]
        cases.append((rotation(size, order), [*arrays, zeros(size), n]))
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


@pytest.mark.parametrize("abi", ABIS)
def test_loops_of_every_type_end_where_their_variable_would_wrap(abi: str) -> None:
    cases = []
    for element in INTEGERS:
        ranges = ranges_of(element)
        for known in ((True, True, True), (True, False, True), (False, False, False)):
            chosen = [[n if k else None for n, k in zip(r, known, strict=True)] for r in (*ranges, (0, 9, 0))]
            given = [n for r in (*ranges, (0, 9, 0)) for n, k in zip(r, known, strict=True) if not k]
            array = np.array([0, *given], DTYPES[element])[1:]
            cases.append((range_sums(element, chosen), [zeros(2 * len(chosen), element), array]))
    run_all(cases, Target("mlir", num_warps=1, abi=abi))


@pytest.mark.parametrize("abi", ABIS)
def test_while_and_if_hand_values_on(abi: str) -> None:
    cases = [
        (collatz(size), [numbers((size,)), zeros(size), n, limit])
        for size in (1, 64, 2048)
        for n, limit in ((27, 1000), (1, 5), (6, 3), (6, 0))
    ]
    run_all(cases, Target("mlir", num_warps=2, abi=abi))


@mytriton.jit
def count_in_memory(x: Any, n: int) -> None:
    while tl.load(x) < n:
        tl.store(x, tl.load(x) + 1)


def test_a_while_that_carries_nothing() -> None:
    x = np.zeros(1, np.float32)
    (launch,) = compiled("mlir", [Job(count_in_memory, 1, [x, 5], {}, {"num_warps": 2})])
    launch()
    assert x[0] == 5


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


def test_a_volatile_load_is_done_as_often_as_it_is_written() -> None:
    b, x, out = Tiles(), pointer("x", f32), pointer("out", f32)
    place = b.index((512,))
    loads = [b.add(ops.Load, pointer=b.at(x, place), volatile=True) for _ in range(2)]
    b.store(out, place, b.binary(ops.Add, *loads))
    func = b.finish("twice", (x, out))
    assert ptx_of(func, Target("mlir")).count("ld.volatile.global.b32") == 2 * 4
    run_all([(func, [numbers((512,), f32), zeros(512, f32)])], Target("mlir"))
    (finding, _) = BACKEND.check(func, Target("mlir", abi="memref"))
    assert finding.message == "this load is volatile, which the memref form cannot say"


def test_an_assertion_stops_the_launch() -> None:
    b, x = Tiles(), pointer("x", i32)
    b.span = Span(3, 5, 3, 20)
    small = b.add(ops.CmpLt, lhs=b.load(x, b.index((512,))), rhs=b.constant(100, i32, (512,)))
    b.append(ops.Assert(condition=small, message='less than "100"'))
    func = b.finish("asserted", (x,))
    array = np.zeros(512, np.int32)
    gpu_on_cpu.run(func, Target("mlir", num_warps=1), [array], (2,))
    array[300] = 100
    with pytest.raises(AssertionError, match="device assertion"):
        gpu_on_cpu.run(func, Target("mlir", num_warps=1), [array], (2,))
    assert 'cf.assert %all_assert, "line 3 of asserted: less than \\22100\\22"' in emitted(func, Target("mlir"))
    assert "__assertfail" in ptx_of(func, Target("mlir"))

"""Choice of layouts, segments and their listing."""

from __future__ import annotations

import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Effect, Func
from mytriton.layout.assign import lay_out
from mytriton.layout.layout import Layout, blocked
from mytriton.layout.printer import describe, layout_lines
from mytriton.layout.program import LaidOut
from mytriton.layout.simulate import owned, positions, run
from mytriton.target import Target
from mytriton.types import ScalarType, f16, f32, f64, i1, i32
from tests.ir.kernels import at, at_offsets, binary_kernel, copy_kernel, counter_kernel, mixed_kernel, offsets, pointer


def listing(laid_out: LaidOut) -> list[str]:
    return [line.text for line in layout_lines(laid_out)]


def test_add_in_the_tuned_form() -> None:
    assert listing(lay_out(binary_kernel(1024), Target())) == [
        "#b1024 = layout<1024: register=[1, 2, 512], lane=[4, 8, 16, 32, 64], warp=[128, 256]>",
        "  8 registers in each of 128 threads, runs of 4 consecutive elements",
        "scalars, in every thread:",
        "  %0 = program_id {axis=0} : i32",
        "  %1 = mul %0, 1024 : i32",
        "for each of 8 registers of #b1024, keeping %3, %4, %6, %8:",
        "  %2 = arange {start=0, end=1024} : vector<1024 x i32> #b1024",
        "  %3 = add %1, %2 : vector<1024 x i32> #b1024",
        "  %4 = cmp_lt %3, n : vector<1024 x bool> #b1024",
        "  %5 = addptr x_ptr, %3 : vector<1024 x ptr<f32>> #b1024",
        "  %6 = load %5, %4 : vector<1024 x f32> #b1024",
        "  %7 = addptr y_ptr, %3 : vector<1024 x ptr<f32>> #b1024",
        "  %8 = load %7, %4 : vector<1024 x f32> #b1024",
        "for each of 8 registers of #b1024:",
        "  %9 = add %6, %8 : vector<1024 x f32> #b1024",
        "  %10 = addptr out_ptr, %3 : vector<1024 x ptr<f32>> #b1024",
        "  store %10, %9, %4",
    ]


def test_add_with_an_element_a_thread_is_one_segment() -> None:
    laid_out = lay_out(binary_kernel(256), Target(num_warps=8, form="plain"))
    assert listing(laid_out)[:7] == [
        "#b256 = layout<256: register=[], lane=[1, 2, 4, 8, 16], warp=[32, 64, 128]>",
        "  1 register in each of 256 threads",
        "scalars, in every thread:",
        "  %0 = program_id {axis=0} : i32",
        "  %1 = mul %0, 256 : i32",
        "in #b256:",
        "  %2 = arange {start=0, end=256} : vector<256 x i32> #b256",
    ]
    assert [len(s.escaping) for s in laid_out.segments] == [0, 0]


def test_a_scalar_is_read_by_all_threads_before_one_of_them_stores() -> None:
    laid_out = lay_out(counter_kernel(64), Target())
    assert listing(laid_out)[1:8] == [
        "  1 register in each of 128 threads, 2 copies of each element",
        "scalars, in every thread:",
        "  %0 = load p : i32",
        "  %1 = add %0, 1 : i32",
        "  %2 = program_id {axis=0} : i32",
        "  %3 = mul %2, 64 : i32",
        "barrier",
    ]
    # The one that stores is also ahead of nobody who still has to write the block.
    assert [s.barrier for s in laid_out.segments] == [False, True, True]


def test_lines_keep_their_spans_and_values() -> None:
    lines = layout_lines(lay_out(binary_kernel(1024), Target()))
    spans = {line.text.split(" =")[0].strip(): line.span for line in lines if " = " in line.text}
    assert (spans["%0"], spans["%6"], spans["%8"], spans["%9"]) == (at(3), at(5), at(6), at(7))
    store = lines[-1]
    assert (store.span, store.values) == (at(7), ("%10", "%9", "%4"))
    assert lines[5].values == ("%3", "%4", "%6", "%8")


@pytest.mark.parametrize(
    ("element", "vector"), [(f16, 8), (f32, 4), (f64, 2), (i1, 16)], ids=lambda p: str(p) if isinstance(p, int) else ""
)
def test_a_chunk_is_16_bytes(element: ScalarType, vector: int) -> None:
    layouts = lay_out(copy_kernel(8192, element), Target()).layouts
    assert {layout.vector for layout in layouts.values() if layout.shape} == {vector}
    plain = lay_out(copy_kernel(8192, element), Target(form="plain")).layouts
    assert {layout.vector for layout in plain.values() if layout.shape} == {1}


def test_the_smallest_element_decides_and_sizes_are_apart() -> None:
    b = Builder()
    x, y = pointer("x", f16), pointer("y", f64)
    for p, element, size in ((x, f16, 4096), (y, f64, 8192)):
        target = at_offsets(b, p, offsets(b, size))
        b.append(ops.Store(pointer=target, value=b.constant(0.0, element, (size,))))
    layouts = lay_out(b.finish("k", (x, y)), Target()).layouts
    assert {(la.size, la.vector) for la in layouts.values() if la.shape} == {(4096, 8), (8192, 2)}
    mixed = lay_out(copy_kernel(8192, f64, f16), Target()).layouts
    assert {la.vector for la in mixed.values() if la.shape} == {8}


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("size", [1, 2, 16, 128, 1024, 131072])
@pytest.mark.parametrize("vector", [1, 4, 16])
def test_every_element_has_one_owner(size: int, vector: int, num_warps: int) -> None:
    layout = blocked(size, vector, num_warps)
    held = np.concatenate([positions(layout, w)[owned(layout, w)] for w in range(num_warps)])
    assert np.sort(held).tolist() == list(range(size))


def test_positions_agree_with_the_layouts_own() -> None:
    layout = Layout((1024,), (1, 2, 512), (4, 8, 16, 32, 64), (128, 256))
    table = np.stack([positions(layout, w) for w in range(4)])
    assert table.shape == (4, 8, 32)
    assert all(
        table[w, r, lane] == layout.position(r, lane, w) for w in (0, 3) for r in (0, 5, 7) for lane in (0, 9, 31)
    )
    assert table[1, :, 2].tolist() == [136, 137, 138, 139, 648, 649, 650, 651]


def test_layouts_in_words() -> None:
    assert describe(blocked(4096, 4, 4)) == "32 registers in each of 128 threads, runs of 4 consecutive elements"
    assert describe(blocked(32, 4, 4)) == "1 register in each of 128 threads, 4 copies of each element"


@pytest.mark.parametrize("func", [binary_kernel(4096), counter_kernel(512), mixed_kernel(1024)], ids=lambda f: f.name)
def test_segments_hold_every_operation_once_after_its_operands(func: Func) -> None:
    laid_out = lay_out(func, Target())
    order = [op for s in laid_out.segments for op in s.ops]
    assert {id(op) for op in order} == {id(op) for op in func.walk()}
    assert len(order) == len(func.body.ops)
    defined = set(func.params)
    for op in order:
        assert set(op.operands) <= defined
        defined.update(op.results)
    effects = [op for op in order if op.effect is not Effect.NONE]
    assert effects == [op for op in func.walk() if op.effect is not Effect.NONE]


def test_stores_do_not_share_a_loop_with_loads_or_other_stores() -> None:
    b = Builder()
    x, y = pointer("x", i32), pointer("y", i32)
    p, q = (at_offsets(b, v, offsets(b, 1024)) for v in (x, y))
    first = b.add(ops.Load, pointer=p)
    b.append(ops.Store(pointer=q, value=first))
    b.append(ops.Store(pointer=p, value=first))
    second = b.add(ops.Load, pointer=q)
    b.append(ops.Store(pointer=q, value=b.add(ops.Add, lhs=second, rhs=first)))
    laid_out = lay_out(b.finish("k", (x, y)), Target())
    kinds = [[op.opcode for op in s.ops if op.effect is not Effect.NONE] for s in laid_out.segments]
    assert kinds == [[], ["load"], ["store"], ["store"], ["load"], ["store"]]
    assert [s.registers for s in laid_out.segments] == [1, 8, 8, 8, 8, 8]


def test_unused_operations_are_kept_in_a_segment_of_their_own() -> None:
    b = Builder()
    unused = b.add(ops.Arange, start=0, end=512)
    laid_out = lay_out(b.finish("k", ()), Target())
    assert [[op.result for op in s.ops] for s in laid_out.segments] == [[unused]]


def test_a_splat_is_made_again_rather_than_kept() -> None:
    b = Builder()
    x = pointer("x", f32)
    p, zero = at_offsets(b, x, offsets(b, 1024)), b.constant(0.0, f32, (1024,))
    mask = b.add(ops.CmpLt, lhs=b.add(ops.Load, pointer=p), rhs=zero)
    loaded = b.add(ops.Load, pointer=p, mask=mask, other=zero)
    b.append(ops.Store(pointer=p, value=b.add(ops.Add, lhs=b.cast(b.cast(loaded, f16), f32), rhs=zero)))
    laid_out = lay_out(b.finish("k", (x,)), Target())
    assert listing(laid_out)[5] == "for each of 8 registers of #b1024, keeping %4, %7:"
    numbers = np.arange(-512, 512, dtype=np.float32)
    run(laid_out, [numbers], (1,))
    assert numbers.tolist() == [*range(-512, 0), *[0] * 512]

"""Layouts by themselves: what reshapes, transpositions, slices and reductions make of them, and the ways between."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mytriton.layout.layout import Layout, blocked, by_columns, index_bits, replicated
from mytriton.layout.routes import broadcast_registers, number, reduction, route, subsets, through
from mytriton.layout.simulate import owned, positions

SHAPES = [(1,), (8,), (1024,), (1, 1), (1, 128), (64, 32), (2, 1024), (8, 4, 16), (1, 64, 1), (4, 1, 256)]
WARPS = (1, 2, 4, 8)


def tile(shape: tuple[int, ...], num_warps: int, vector: int = 4) -> Layout:
    return blocked(prod(shape), vector, num_warps).reshaped(shape)


def held(layout: Layout, num_warps: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The positions as [warp, register, lane]."""
    return np.stack([positions(layout, w) for w in range(num_warps)])


def check_one_owner(layout: Layout, num_warps: int) -> None:
    """A bijection up to zero bits: every element is stored once, and all entries are single bits or 0."""
    elements = [positions(layout, w)[owned(layout, w)] for w in range(num_warps)]
    assert np.sort(np.concatenate(elements)).tolist() == list(range(layout.size))
    entries = [entry for part in layout.map for entry in part]
    assert all(entry & (entry - 1) == 0 for entry in entries)
    assert all(layout.register)
    assert layout.registers * 32 * num_warps == layout.size * layout.copies


@st.composite
def layouts(draw: st.DrawFn) -> tuple[Layout, int]:
    """A layout as the steps of a program make them, and its number of warps."""
    warps = draw(st.sampled_from(WARPS))
    layout = tile(draw(st.sampled_from(SHAPES)), warps, draw(st.sampled_from((1, 2, 4, 16))))
    for _ in range(draw(st.integers(0, 3))):
        axis = draw(st.integers(0, len(layout.shape) - 1))
        match draw(st.sampled_from(("transpose", "slice", "reduce"))):
            case "transpose":
                layout = layout.transposed(draw(st.permutations(range(len(layout.shape)))))
            case "slice":
                layout = layout.sliced(tuple(1 if i == axis else n for i, n in enumerate(layout.shape)))
            case "reduce" if layout.shape[axis] > 1:
                layout = layout.reduced(axis, draw(st.integers(1, layout.shape[axis] - 1)))
    return layout, warps


@given(layouts())
def test_every_layout_is_a_bijection_up_to_copies(made: tuple[Layout, int]) -> None:
    check_one_owner(*made)


@pytest.mark.parametrize("num_warps", [1, 4, 32])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposed(shape: tuple[int, ...], num_warps: int) -> None:
    layout = tile(shape, num_warps)
    numbers = np.arange(prod(shape)).reshape(shape)
    for order in itertools.permutations(range(len(shape))):
        moved = layout.transposed(order)
        assert moved.shape == tuple(shape[axis] for axis in order)
        np.testing.assert_array_equal(
            np.transpose(numbers, order).reshape(-1)[held(moved, num_warps)], held(layout, num_warps)
        )
        check_one_owner(moved, num_warps)


@pytest.mark.parametrize("num_warps", WARPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_slice_holds_what_a_broadcast_needs_in_the_thread_that_needs_it(
    shape: tuple[int, ...], num_warps: int
) -> None:
    layout = tile(shape, num_warps)
    for keep in itertools.product((False, True), repeat=len(shape)):
        operand = tuple(n if k else 1 for n, k in zip(shape, keep, strict=True))
        part = layout.sliced(operand)
        check_one_owner(part, num_warps)
        registers = [number(broadcast_registers(part, layout), r) for r in range(layout.registers)]
        numbers = np.broadcast_to(np.arange(prod(operand)).reshape(operand), shape).reshape(-1)
        np.testing.assert_array_equal(held(part, num_warps)[:, registers], numbers[held(layout, num_warps)])


def test_the_slices_of_a_tile() -> None:
    layout = tile((64, 32), 4)
    assert layout == Layout((64, 32), (1, 2, 512, 1024), (4, 8, 16, 32, 64), (128, 256))
    assert layout.sliced((64, 1)) == Layout((64, 1), (16, 32), (0, 0, 0, 1, 2), (4, 8))
    assert layout.sliced((1, 32)) == Layout((1, 32), (1, 2), (4, 8, 16, 0, 0), (0, 0))
    assert layout.sliced((1, 1)).map == replicated(4).map
    assert broadcast_registers(layout.sliced((64, 1)), layout) == (0, 0, 1, 2)
    assert broadcast_registers(layout.sliced((1, 32)), layout) == (1, 2, 0, 0)
    # Transposed, a thread's registers are no longer consecutive along rows, but along columns.
    turned = layout.transposed((1, 0))
    assert (turned.register, turned.lane) == ((64, 128, 16, 32), (256, 512, 1024, 1, 2))
    assert [(x.vector, x.step) for x in (layout, turned, layout.sliced((1, 32)))] == [(4, 1), (4, 64), (4, 1)]
    assert (layout.run(1), turned.run(64), turned.run(1)) == (128, 32, 4)
    assert by_columns((32, 64), 4, 4) == blocked(2048, 4, 4).reshaped((64, 32)).transposed((1, 0)) == turned
    assert layout.sliced((64, 1)).copies == 8


@pytest.mark.parametrize("num_warps", WARPS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reducing_across_registers_lanes_and_warps(shape: tuple[int, ...], num_warps: int) -> None:
    """Sums of distinct powers: every thread ends up with all elements of the axis, each of them once."""
    for axis in range(len(shape)):
        layout = tile(shape, num_warps)
        values = np.arange(prod(shape))[held(layout, num_warps)]
        for across in ("registers", "lanes", "warps"):
            extent = layout.shape[axis]
            unit = index_bits(layout.shape, axis, 1)
            place = ("registers", "lanes", "warps").index(across)
            entries = [e for e in layout.map[place] if e & index_bits(layout.shape, axis, extent - 1)]
            bits = sum(entries) // unit
            if not bits:
                continue
            step = reduction(layout, axis, bits, across)
            after = layout.reduced(axis, bits)
            check_one_owner(after, num_warps)
            assert len(step.combined) == bits.bit_count() == len(entries)
            if across == "registers":
                values = np.stack([values[:, step.sources(r)].sum(1) for r in range(after.registers)], axis=1)
            elif across == "lanes":
                for mask in step.combined:
                    values = values + values[:, :, np.arange(32) ^ mask]
            else:
                for mask in step.combined:
                    values = values + values[np.arange(num_warps) ^ mask]
            layout = after
        assert layout.shape[axis] == 1
        sums = np.arange(prod(shape)).reshape(shape).sum(axis).reshape(-1)
        np.testing.assert_array_equal(values, sums[held(layout, num_warps)])
        assert layout.map == tile(shape, num_warps).sliced(layout.shape).map


@given(layouts(), st.data())
def test_routes_lead_to_the_wanted_elements(made: tuple[Layout, int], data: st.DataObject) -> None:
    have, warps = made
    if data.draw(st.booleans()):  # any other permutation of the same bits
        bits = [(kind, i) for kind in range(3) for i in range(len(have.map[kind]))]
        mixed = dict(zip(bits, data.draw(st.permutations(bits)), strict=True))
        parts = [[have.map[mixed[k, i][0]][mixed[k, i][1]] for i in range(len(have.map[k]))] for k in range(3)]
        register, lane, warp = (tuple(part) for part in parts)
        want = Layout(have.shape, tuple(e for e in register if e), lane, warp)
    else:
        want = tile(have.shape, warps)
    way = route(have, want)
    if way is None:
        assert through(have, want) == "shared"
        return
    assert through(have, want) == ("registers" if have.lane == want.lane and have.warp == want.warp else "shuffle")
    source, wanted = held(have, warps), held(want, warps)
    lanes = np.array([number(way.lane_by_lane, lane) for lane in range(32)])
    for w, r in itertools.product(range(warps), range(want.registers)):
        offset = number(way.lane_by_register, r) + number(way.lane_by_warp, w)
        found = source[w, number(way.register, r)][lanes + offset]
        np.testing.assert_array_equal(found, wanted[w, r])


def test_ways_between_layouts() -> None:
    layout = Layout((8, 32), (1,), (2, 4, 8, 16, 32), (64, 128))
    assert through(layout, layout) == "registers"
    swapped = Layout((8, 32), (1,), (4, 2, 8, 16, 32), (64, 128))
    way = route(layout, swapped)
    assert way is not None and way.lane_by_lane == (2, 1, 4, 8, 16) and through(layout, swapped) == "shuffle"
    assert through(layout, Layout((8, 32), (2,), (1, 4, 8, 16, 32), (64, 128))) == "shared"  # lanes pick registers
    assert through(layout, Layout((8, 32), (1,), (2, 4, 8, 16, 64), (32, 128))) == "shared"  # another warp's elements


def test_bit_maps() -> None:
    assert [number((2, 0, 1), n) for n in range(8)] == [0, 2, 0, 2, 1, 3, 1, 3]
    assert subsets((1, 8)) == [0, 1, 8, 9]
    layout = Layout((4, 32), (1, 32, 64), (2, 4, 8, 16, 0), (0, 0))
    step = reduction(layout, 0, 0b11, "registers")
    assert (step.kept, step.combined, step.sources(1)) == ((1,), (2, 4), [1, 3, 5, 7])

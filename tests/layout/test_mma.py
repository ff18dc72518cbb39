"""Products by tensor cores: which thread holds what, how factors stand in shared memory, and that the program which is
laid out for them computes what the SSA does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import Func, Value
from mytriton.ir.ops.dot import accumulates_in
from mytriton.layout import mma
from mytriton.layout.assign import lay_out
from mytriton.layout.dots import dot_plan, factor_bytes, readings
from mytriton.layout.routes import number
from mytriton.layout.simulate import positions
from mytriton.layout.swizzle import LINE_BYTES, PIECE_BYTES
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, f16, f32, f64, i8, u8
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, check

Shape = Sequence[int]


def product(shape: Shape, element: ScalarType, flips: tuple[bool, bool] = (False, False), precision: str = "") -> Func:
    """`out = a @ b + out` of blocks [*batch, m, k, n]; a factor that is flipped is stored transposed."""
    *batch, m, k, n = shape
    total = accumulates_in(element)
    b, x, y, out = Tiles(), pointer("a", element), pointer("b", element), pointer("out", total)

    def factor(base: Value, rows: int, columns: int, flip: bool) -> Value:
        stored = (*batch, *((columns, rows) if flip else (rows, columns)))
        value = b.load(base, b.index(stored))
        order = (*range(len(batch)), len(batch) + 1, len(batch))
        return b.add(ops.Transpose, source=value, order=order) if flip else value

    place = b.index((*batch, m, n))
    lhs, rhs = factor(x, m, k, flips[0]), factor(y, k, n, flips[1])
    b.store(out, place, b.add(ops.Dot, lhs=lhs, rhs=rhs, acc=b.load(out, place), precision=precision))
    return b.finish("product", (x, y, out))


def arrays(shape: Shape, element: ScalarType) -> list[np.ndarray]:
    *batch, m, k, n = shape
    rng = np.random.default_rng(m * k + n)
    shapes = (*batch, m, k), (*batch, k, n), (*batch, m, n)
    return [
        rng.integers(-4 if element != u8 else 0, 5, s).astype(DTYPES[t])
        for s, t in zip(shapes, (element, element, accumulates_in(element)), strict=True)
    ]


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize(
    ("shape", "element"),
    [
        ((16, 16, 8), f16),
        ((32, 64, 16), bf16),
        ((128, 32, 64), f16),
        ((16, 8, 32), f32),
        ((64, 32, 32), f32),
        ((16, 32, 8), i8),
        ((32, 64, 64), u8),
        ((8, 4, 8), f64),
        ((32, 32, 16), f64),
        ((2, 16, 32, 16), f16),
        ((8, 16, 8, 8), f32),
        ((64, 512, 64), f16),  # four rounds
    ],
    ids=str,
)
@pytest.mark.parametrize("flips", [(False, False), (True, True)], ids=["rows", "columns"])
def test_products(shape: Shape, element: ScalarType, num_warps: int, flips: tuple[bool, bool]) -> None:
    func = product(shape, element, flips, "tf32" if element == f32 else "")
    laid_out = check(func, arrays(shape, element), Target(num_warps=num_warps))
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    doubles = "m16n8k16" if shape[0] >= 16 and shape[1] >= 16 else "m8n8k4"
    assert dot.instruction == {2: "m16n8k16", 4: "m16n8k8", 1: "m16n8k32", 8: doubles}[factor_bytes(dot)]


@pytest.mark.parametrize("of", dict.fromkeys([*mma.INSTRUCTIONS.values(), mma.LARGE_F64]), ids=lambda of: of.name)
def test_the_tables_are_those_of_the_ptx_isa(of: mma.Instruction) -> None:
    """As its formulas have it: `groupID = lane >> 2`, `threadID_in_group = lane % 4`."""
    lhs, rhs, total = of.tables
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for i in range(lhs.registers):
            word, place = divmod(i, of.word)
            row, k = group + 8 * (word % 2 if of.rows == 16 else 0), thread * of.word + place
            k += 4 * of.word * (word // 2 if of.rows == 16 else word)
            assert lhs.position(i, lane, 0) == row * of.depth + k
        for i in range(rhs.registers):
            word, place = divmod(i, of.word)
            assert rhs.position(i, lane, 0) == (thread * of.word + place + 4 * of.word * word) * 8 + group
        for i in range(total.registers):
            assert total.position(i, lane, 0) == (group + i // 2 * 8) * 8 + thread * 2 + i % 2


def test_warps_share_the_longer_side() -> None:
    half = mma.INSTRUCTIONS[f16]
    for shape, warps, split in [
        ((128, 128), 4, (64, 64)),
        ((128, 256), 8, (64, 64)),
        ((256, 64), 4, (64, 64)),
        ((16, 16), 4, (16, 8)),
        ((2, 16, 64), 4, (16, 32)),
    ]:
        layout = mma.sums(shape, half, warps)
        held = {divmod(p, shape[-1]) for p in positions(layout, 0).ravel().tolist()}
        assert (len({row for row, _ in held}), len({column for _, column in held})) == split
    assert mma.sums((16, 16), half, 4).copies == 2


def test_warps_share_rows_where_a_product_is_a_factor() -> None:
    b, x, out = Tiles(), pointer("x", f16), pointer("out", f32)
    place, zero = b.index((64, 64)), b.constant(0.0, f32, (64, 64))
    block = b.load(x, place)
    first = b.add(ops.Dot, lhs=block, rhs=block, acc=zero)
    lhs = b.add(ops.Cast, source=first, to=f16)
    b.store(out, place, b.add(ops.Dot, lhs=lhs, rhs=block, acc=zero))
    laid_out = check(b.finish("chain", (x, out)), arrays((64, 64, 64), f16)[::2])
    layout = mma.sums((64, 64), mma.INSTRUCTIONS[f16], 4, by_rows=True)
    assert layout.warp == (32 * 64, 16 * 64)
    assert {laid_out.layouts[op.result] for op in laid_out.func.walk() if isinstance(op, ops.Dot)} == {layout}


@pytest.mark.parametrize("flips", [(False, False), (True, True)], ids=["rows", "columns"])
@pytest.mark.parametrize(
    ("shape", "element"),
    [((64, k, 64), f16) for k in (16, 32, 64, 128)]
    + [((32, 16, 8), bf16), ((64, 32, 64), f32), ((64, 64, 64), i8), ((32, 16, 32), f64)],
    ids=str,
)
def test_what_is_read_at_once_is_in_different_banks(
    shape: Shape, element: ScalarType, flips: tuple[bool, bool]
) -> None:
    laid_out = lay_out(product(shape, element, flips, "tf32" if element == f32 else ""), Target())
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    plan, size = dot_plan(dot, laid_out.layouts), factor_bytes(dot)
    for factor, reading in zip((plan.lhs, plan.rhs), readings(dot, plan, laid_out.layouts[dot.result]), strict=True):
        if size == 1 and not factor.along:  # single bytes, of which several are in a bank
            continue
        # Eight rows of 16 bytes at a time, or what half a warp (of 8 bytes) or a whole one (of 4) asks for.
        count, width = (8, PIECE_BYTES) if reading.matrices else (LINE_BYTES // size, size)
        for first in range(0, 32, count):
            places = [number(reading.thread, lane) * size for lane in range(first, first + count)]
            assert len({place % LINE_BYTES // width for place in places}) == min(count, len(set(places)))
            assert all(place % width == 0 for place in places)


def test_what_tensor_cores_do_not_do() -> None:
    def instruction(shape: Shape, element: ScalarType, precision: str = "", **options: object) -> str:
        laid_out = lay_out(product(shape, element, precision=precision), Target(**options))  # type: ignore[arg-type]
        return next(op.instruction for op in laid_out.func.walk() if isinstance(op, ops.Dot))

    assert instruction((16, 16, 16), f16) == "m16n8k16"
    assert instruction((16, 16, 16), f16, chip="sm_75") == ""
    assert instruction((16, 16, 16), f16, form="plain") == ""
    assert instruction((8, 16, 16), f16) == instruction((16, 8, 16), f16) == instruction((16, 16, 4), f16) == ""
    assert instruction((16, 16, 16), f32, "tf32") == "m16n8k8"
    assert instruction((16, 16, 16), f64) == "m16n8k16"
    assert instruction((16, 16, 16), f64, chip="sm_89") == instruction((16, 8, 16), f64) == "m8n8k4"
    assert instruction((16, 16, 16), f64, backend="mlir") == "m8n8k4"
    assert instruction((16, 16, 16), f32, "tf32x3", chip="sm_90a") == "m16n8k8"
    assert instruction((16, 16, 16), f32, "ieee") == ""

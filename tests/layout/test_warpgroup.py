"""Products by warpgroups: who holds what, how descriptors find the factors, and that the program computes what the SSA
does."""

from __future__ import annotations

import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.layout import mma
from mytriton.layout.assign import lay_out
from mytriton.layout.dots import dot_plan, factor_bytes
from mytriton.layout.routes import number
from mytriton.layout.warpgroup import ALIGNED_BYTES, matrices
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, f16, f32, i8, u8
from tests.ir.kernels import pointer
from tests.layout.test_mma import Shape, arrays, product
from tests.layout.tiles import Tiles, check

FLIPS = pytest.mark.parametrize(
    "flips", [(False, False), (True, True), (False, True)], ids=["rows", "columns", "depths"]
)


def hopper(num_warps: int = 4) -> Target:
    return Target(chip="sm_90a", num_warps=num_warps)


@FLIPS
@pytest.mark.parametrize(
    ("shape", "num_warps", "instruction"),
    [
        ((64, 16, 16), 4, "m64n16k16"),
        ((128, 32, 32), 4, "m64n32k16"),
        ((64, 64, 128), 8, "m64n64k16"),  # two groups, one after the other along the columns
        ((256, 64, 32), 8, "m64n32k16"),
        ((128, 128, 64), 16, "m64n32k16"),  # both ways
        ((64, 16, 512), 4, "m64n256k16"),  # two instructions a step
        ((2, 64, 32, 16), 8, "m64n16k16"),
        ((64, 16, 16), 8, "m64n16k16"),  # both groups do the same
        ((64, 512, 64), 4, "m64n64k16"),  # in rounds
    ],
    ids=str,
)
def test_products(shape: Shape, num_warps: int, instruction: str, flips: tuple[bool, bool]) -> None:
    element = f16 if shape[-1] < 128 else bf16
    laid_out = check(product(shape, element, flips), arrays(shape, element), hopper(num_warps))
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    assert dot.instruction == instruction


@pytest.mark.parametrize(
    ("element", "shape", "instruction"),
    [(f32, (64, 16, 32), "m64n32k8"), (i8, (64, 128, 16), "m64n16k32"), (u8, (128, 32, 32), "m64n32k32")],
    ids=str,
)
def test_products_of_other_types(element: ScalarType, shape: Shape, instruction: str) -> None:
    laid_out = check(
        product(shape, element, (False, True), "tf32" * (element == f32)), arrays(shape, element), hopper()
    )
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    assert dot.instruction == instruction


def chain(m: int, k: int, n: int, d: int, element: ScalarType = f16) -> Func:
    """`out = (x @ y) @ z`, the first product rounded."""
    b, x, y, z, out = Tiles(), *(pointer(name, element) for name in "xyz"), pointer("out", f32)
    blocks = [b.load(p, b.index(shape)) for p, shape in ((x, (m, k)), (y, (k, n)), (z, (n, d)))]
    zeros = [b.constant(0.0, f32, (m, columns)) for columns in (n, d)]
    first = b.add(ops.Dot, lhs=blocks[0], rhs=blocks[1], acc=zeros[0])
    lhs = b.add(ops.Cast, source=first, to=element)
    b.store(out, b.index((m, d)), b.add(ops.Dot, lhs=lhs, rhs=blocks[2], acc=zeros[1]))
    return b.finish("chain", (x, y, z, out))


def chained(m: int, k: int, n: int, d: int) -> list[np.ndarray]:
    rng = np.random.default_rng(d)
    blocks = [rng.integers(-2, 3, shape).astype(np.float16) for shape in ((m, k), (k, n), (n, d))]
    return [*blocks, np.zeros((m, d), np.float32)]


@pytest.mark.parametrize(
    ("shape", "num_warps", "held"),
    [
        ((64, 16, 16, 16), 4, True),
        ((128, 32, 64, 32), 4, True),  # two tiles of rows
        ((128, 16, 32, 64), 8, True),
        ((64, 16, 64, 512), 4, False),  # the second factor does not fit in
        ((64, 16, 32, 32), 8, False),  # threads of two groups hold the sums
    ],
    ids=str,
)
def test_a_product_is_a_factor_where_it_is(shape: tuple[int, int, int, int], num_warps: int, held: bool) -> None:
    laid_out = check(chain(*shape), chained(*shape), hopper(num_warps))
    first, second = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    assert (first.held, second.held) == (False, held)


def test_the_sums_are_where_the_ptx_isa_has_them() -> None:
    """As its figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D" has it."""
    table = mma.of_warpgroup(f16, 64).tables[2]
    for i in range(table.registers):
        for lane in range(32):
            for warp in range(4):
                row, column = warp * 16 + lane // 4 + i // 2 % 2 * 8, i // 4 * 8 + lane % 4 * 2 + i % 2
                assert table.position(i, lane, warp) == row * 64 + column


@FLIPS
@pytest.mark.parametrize("shape", [(128, 128, 64), (64, 32, 128), (64, 16, 32), (64, 64, 16)], ids=str)
def test_descriptors_find_what_was_put(shape: Shape, flips: tuple[bool, bool]) -> None:
    """The hardware's way to an element, from the beginning of the first matrix, leads to its slot."""
    laid_out = lay_out(product(shape, f16, flips), hopper())
    (dot,) = (op for op in laid_out.func.walk() if isinstance(op, ops.Dot))
    plan, size, (_, k, n) = dot_plan(dot, laid_out.layouts), factor_bytes(dot), shape
    for factor, matrix, others in zip(
        (plan.lhs, plan.rhs), matrices(dot, plan, laid_out.layouts[dot.result]), (64, n), strict=True
    ):
        assert factor.start * size % ALIGNED_BYTES == 0
        for step in range(k // 16):
            places = matrix.places(number(matrix.step, step), size, others, 16)
            for other, depth in ((0, 0), (1, 3), (others - 1, 15), (9, 8)):
                at = (other, step * 16 + depth) if factor is plan.lhs else (step * 16 + depth, other)
                slot = number(factor.slot, at[0] * (k if factor is plan.lhs else n) + at[1])
                assert places[other, depth] == slot * size


def test_what_warpgroups_do_not_do() -> None:
    def instruction(shape: Shape, element: ScalarType = f16, **options: object) -> str:
        laid_out = lay_out(product(shape, element, precision="tf32"), Target(**options))  # type: ignore[arg-type]
        return next(op.instruction for op in laid_out.func.walk() if isinstance(op, ops.Dot))

    assert instruction((64, 64, 64), chip="sm_90a") == "m64n64k16"
    assert instruction((64, 64, 64), chip="sm_90") == "m16n8k16"
    assert instruction((64, 64, 64), chip="sm_90a", num_warps=2) == "m16n8k16"
    assert instruction((32, 64, 64), chip="sm_90a") == instruction((64, 64, 8), chip="sm_90a") == "m16n8k16"
    assert instruction((64, 64, 64), f32, chip="sm_90a") == "m16n8k8", "the columns of its second factor are apart"

"""What emitted gpu-dialect MLIR computes, thread by thread on the host, against the interpreter."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from mytriton.backends.mlir.backend import BACKEND
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func
from mytriton.target import Target
from mytriton.types import bf16, f16, i32
from tests.backends import gpu_cases, gpu_control_cases, gpu_tile_cases
from tests.backends.gpu_case import Case, check
from tests.ir.kernels import at_offsets, below, binary_kernel, mixed_kernel, offsets, pointer
from tests.ir.programs import GRID, Program, assert_same, programs
from tests.layout import test_random_tiles

gpu_on_cpu = pytest.importorskip("tests.backends.gpu_on_cpu", reason="needs the MLIR bindings")

FORMS = [("plain", "memref"), ("plain", "pointer"), ("tuned", "memref"), ("tuned", "pointer")]


def _same(func: Func, target: Target, make: Callable[[], list[Any]], grid: tuple[int, ...] = (3,)) -> None:
    expected, actual = make(), make()
    interp.run(func, expected, grid)
    gpu_on_cpu.run(func, target, actual, grid)
    assert_same(actual, expected)


@pytest.mark.parametrize(("form", "abi"), FORMS)
@pytest.mark.parametrize(("block", "num_warps"), [(16, 1), (32, 4), (256, 2), (2048, 4)])
def test_every_element_is_written_once_and_none_past_the_end(form, abi, block, num_warps):
    n = 3 * block - 5

    def make():
        x = np.arange(n, dtype=np.float32)
        return [x, x[::-1].copy(), np.full(n + 3, 7, np.float32), n]

    _same(binary_kernel(block), Target("mlir", form=form, abi=abi, num_warps=num_warps), make)


@pytest.mark.parametrize(("form", "abi"), FORMS)
def test_any_non_zero_byte_is_true_and_types_mix(form, abi):
    n = 700

    def make():
        rng = np.random.default_rng(1)
        x, y = rng.standard_normal(n).astype(np.float16), rng.standard_normal(n).astype(DTYPES[bf16])
        flag = rng.integers(0, 3, n).astype(np.uint8).view(np.bool_)
        return [x, y, flag, rng.integers(-(2**50), 2**50, n), np.zeros(n, np.float32), n]

    _same(mixed_kernel(256), Target("mlir", form=form, abi=abi, enable_fp_fusion=False), make)


def _strided() -> Func:
    """`out[2 * i + 1] = x[n - 1 - i]` where x[n - 1 - i] > 0: neither access is contiguous, and the mask varies."""
    b = Builder()
    x, out, n = pointer("x", i32), pointer("out", i32), parameter("n", i32)
    offs = offsets(b, 512)
    last = b.add(ops.Sub, lhs=n, rhs=b.constant(1, i32))
    back = b.add(ops.Sub, lhs=b.splat(last, (512,)), rhs=offs)
    value = b.add(ops.Load, pointer=at_offsets(b, x, back), mask=below(b, offs, n))
    positive = b.add(ops.CmpGt, lhs=value, rhs=b.constant(0, i32, (512,)))
    twice = b.add(ops.Mul, lhs=offs, rhs=b.constant(2, i32, (512,)))
    odd = b.add(ops.Add, lhs=twice, rhs=b.constant(1, i32, (512,)))
    b.append(ops.Store(pointer=at_offsets(b, out, odd), value=value, mask=positive))
    return b.finish("strided", (x, out, n))


@pytest.mark.parametrize(("form", "abi"), FORMS)
def test_scattered_accesses_and_masks_that_vary(form, abi):
    n = 1000

    def make():
        return [np.random.default_rng(2).integers(-9, 9, n).astype(np.int32), np.full(2 * n, -1, np.int32), n]

    _same(_strided(), Target("mlir", form=form, abi=abi), make, grid=(2,))


def _check_cases(cases: Sequence[Case], targets: Iterable[Target]) -> None:
    pairs = [(c, t) for c, t in zip(cases, targets) if not BACKEND.check(c.func, t)]  # noqa: B905 (targets repeat)
    kernels = gpu_on_cpu.Kernels([(case.func, target) for case, target in pairs])
    for number, (case, _) in enumerate(pairs):
        args = case.copies()
        kernels.run(number, args, case.grid)
        check(case, args)


@pytest.mark.parametrize(("form", "abi"), FORMS)
def test_elements_have_their_places_and_memory_its_order(form: str, abi: str) -> None:
    """Blocks of 1 to 8192 elements, chained pointers, scalar updates between barriers, grid axes, odd bytes."""
    _check_cases(gpu_cases.memory_cases(), itertools.repeat(Target("mlir", form=form, abi=abi, num_warps=1)))


def test_operations_at_the_edges_of_their_types() -> None:
    memory = {case.name for case in gpu_cases.memory_cases()}
    cases = [case for case in gpu_cases.every_case() if case.name not in memory]
    _check_cases(cases, itertools.cycle([Target("mlir", form=form, abi=abi, num_warps=1) for form, abi in FORMS]))


@pytest.mark.parametrize(("abi", "warps"), [("pointer", 4), ("memref", 2)])
def test_tiles_reductions_and_control_flow(abi: str, warps: int) -> None:
    cases = [*gpu_tile_cases.tile_cases(1024), *gpu_control_cases.control_cases()]
    # A host with instructions for bf16 takes one that is live across a branch through them: denormals become 0.
    cases = [case for case in cases if case.name != "bit_casts"][:: 1 if abi == "pointer" else 3]
    _check_cases(cases, itertools.repeat(Target("mlir", abi=abi, num_warps=warps, enable_fp_fusion=False)))


def _same_base(block: int = 128) -> Func:
    """`out[i] = *(x + i if x + i < x + 10 else x + 2 * i)`: a choice that a memref and an index can say."""
    b = Builder()
    x, out = pointer("x", f16), pointer("out", f16)
    offs = offsets(b, block)
    here = at_offsets(b, x, offs)
    limit = b.splat(b.add(ops.AddPtr, pointer=x, offset=b.constant(10, i32)), (block,))
    there = at_offsets(b, x, b.add(ops.Mul, lhs=offs, rhs=b.constant(2, i32, (block,))))
    chosen = b.add(ops.Select, condition=b.add(ops.CmpLt, lhs=here, rhs=limit), if_true=here, if_false=there)
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=b.add(ops.Load, pointer=chosen)))
    return b.finish("same_base", (x, out))


@pytest.mark.parametrize(("form", "abi"), FORMS)
def test_choice_and_comparison_of_pointers_into_one_array(form: str, abi: str) -> None:
    def make() -> list[Any]:
        return [np.arange(512, dtype=np.float16), np.zeros(256, np.float16)]

    _same(_same_base(), Target("mlir", form=form, abi=abi, num_warps=1), make, grid=(2,))


@given(test_random_tiles.kernels(), st.sampled_from(FORMS), st.sampled_from((1, 2, 4)), st.integers(0, 2))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_tiles_and_loops_compute_what_the_interpreter_does(func: Func, form, num_warps, trips: int) -> None:
    target = Target("mlir", form=form[0], abi=form[1], num_warps=num_warps)
    _same(func, target, lambda: test_random_tiles.arguments(trips), (1,))


@given(programs(), st.sampled_from(FORMS), st.sampled_from((1, 2, 4)))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_kernels_compute_what_the_interpreter_does(program: Program, form, num_warps) -> None:
    # exp and log may differ in the last place
    assume(not any(isinstance(op, (ops.Exp, ops.Log)) for op in program.func.walk()))
    target = Target("mlir", form=form[0], abi=form[1], num_warps=num_warps, enable_fp_fusion=False)
    _same(program.func, target, program.args, (GRID,))

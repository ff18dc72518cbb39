"""`kernel.warmup`: compiles what a launch would run, and runs nothing."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton import CompileError, LaunchError
from mytriton.stage import Stage


@mytriton.jit
def scale(x, n, factor, BLOCK: tl.constexpr, TYPE: tl.constexpr = tl.float32):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offs, (tl.load(x + offs, mask=offs < n).to(TYPE) * factor).to(x.dtype.element_ty), mask=offs < n)


@pytest.fixture(autouse=True)
def fresh():
    scale.clear_cache()


def test_a_launch_takes_what_a_warmup_compiled():
    made = scale.warmup(tl.float32, 8, 2.0, grid=(1,), BLOCK=8, backend="interp")
    assert not made.ran and "ssa" in made.compilation.planned
    x = np.ones(8, np.float32)
    assert x.ctypes.data % 16 == 0
    result = scale[1](x, 8, 2.0, BLOCK=8, backend="interp")
    assert result.ran and result.compilation is made.compilation and x.tolist() == [2] * 8


def test_arrays_are_neither_read_nor_written():
    x = np.ones(8, np.float32)
    made = scale.warmup(x, 8, 2.0, grid=lambda meta: 1 / 0, BLOCK=8, backend="interp")
    assert not made.ran and x.tolist() == [1] * 8


@pytest.mark.parametrize("backend", ["cuda", "mlir", "cpu"])
def test_it_compiles_to_the_code_that_runs(backend):
    if backend != "cuda":
        pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)
    made = scale.warmup(tl.float16, 1000, 2.0, BLOCK=64, backend=backend)
    assert [stage.name for stage in made.compilation.stages][-1] == ("asm" if backend == "cpu" else "cubin")
    assert made.compilation.specialization.params[0][2].divisible_by_16
    assert [str(type_) for _, type_, _ in made.compilation.specialization.params] == ["ptr<f16>", "i32", "f32"]


def test_dtypes_of_every_library():
    given = [tl.int64, np.int64, np.dtype(np.int64)], [tl.bfloat16, np.dtype(ml_dtypes.bfloat16), ml_dtypes.bfloat16]
    for same in given:
        made = [scale.warmup(dtype, 8, 2.0, BLOCK=8, backend="interp").compilation for dtype in same]
        assert made[0] is made[1] is made[2]


def test_the_dtype_of_a_constexpr_is_a_value():
    made = scale.warmup(tl.float32, 8, 2.0, BLOCK=8, TYPE=tl.float64, backend="interp")
    assert dict(made.compilation.specialization.constexprs)["TYPE"] == tl.float64


def test_what_is_wrong_is_said():
    with pytest.raises(LaunchError, match=r"argument `x` is a dtype of complex64; kernels take arrays of bool"):
        scale.warmup(np.complex64, 8, 2.0, BLOCK=8, backend="interp")
    with pytest.raises(LaunchError, match="`scale` needs the argument `factor`"):
        scale.warmup(tl.float32, 8, BLOCK=8, backend="interp")
    with pytest.raises(LaunchError, match="takes 5 arguments"):
        scale.warmup(tl.float32, 8, 2.0, 8, tl.float32, np.zeros(2), backend="interp")
    with pytest.raises(LaunchError, match="which no kernel takes"):
        scale[1](tl.float32, 8, 2.0, BLOCK=8, backend="interp")


def test_around_a_kernel():
    seen = []
    tuned = mytriton.autotune([mytriton.Config({"BLOCK": 8}), mytriton.Config({"BLOCK": 16}, num_warps=2)], key=["n"])
    computed = mytriton.heuristics({"factor": lambda args: seen.append(args["x"].dtype) or 3.0})
    made = tuned(computed(scale)).warmup(tl.float32, 8, backend="interp")
    assert [dict(m.compilation.specialization.constexprs)["BLOCK"] for m in made] == [8, 16]
    assert seen == [tl.float32] * 2


def test_configs_that_do_not_compile_are_left_out():
    def tuned(*blocks):
        return mytriton.autotune([mytriton.Config({"BLOCK": block}) for block in blocks], key=["n"])(scale)

    made = tuned(8, 12, 16).warmup(tl.float32, 8, 2.0, backend="interp")  # extents are powers of two
    assert [m.config.kwargs["BLOCK"] for m in made] == [8, 16]
    with pytest.raises(CompileError, match="12"):
        tuned(12, 24).warmup(tl.float32, 8, 2.0, backend="interp")


def test_a_stage_is_told_without_the_bytes_that_it_made() -> None:
    cubin = Stage("cubin", "binary", "", artifact=bytes(9000))
    assert repr(cubin).startswith("Stage(name='cubin'") and len(repr(cubin)) < 300

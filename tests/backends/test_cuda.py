"""CUDA C++ as emitted: the text, that NVRTC takes it for every chip, and what it computes, emulated on the CPU."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mytriton.backends.cuda.backend import BACKEND, options
from mytriton.backends.cuda.emit import emit
from mytriton.backends.cuda.literals import literal
from mytriton.backends.cuda.names import mangle
from mytriton.backends.cuda.positions import owner, position
from mytriton.backends.nvidia import nvrtc
from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.layout.assign import lay_out
from mytriton.layout.layout import Layout, blocked, replicated
from mytriton.stage import Compilation
from mytriton.target import CHIPS, Target
from mytriton.types import ScalarType, f16, f32, f64, i32, i64
from tests.backends import seed_kernels
from tests.backends.emulate import build
from tests.backends.gpu_case import Case, check, elementwise, pointer
from tests.backends.gpu_cases import every_case, memory_cases
from tests.backends.gpu_memory_cases import scalar_update
from tests.backends.seed_kernels import add_kernel, copy_kernel

Golden = Callable[[str, str], None]


def compiled(function: Callable[..., object], block: int, target: Target, aligned: bool = True) -> Compilation:
    return seed_kernels.compiled(function, block, target, arrays=aligned, size=aligned)


def emitted(case: Case, target: Target) -> str:
    return "\n".join(line.text for line in emit(lay_out(case.func, target), target))


PLAIN = Target(num_warps=8, form="plain")


@pytest.mark.parametrize("kernel", [add_kernel, copy_kernel])
def test_plain_text_is_the_introductory_one(kernel: Callable[..., object], golden: Golden) -> None:
    golden(f"{kernel.__name__}.plain.cu", compiled(kernel, 256, PLAIN).stage("cuda").text)


def test_tuned_text(golden: Golden) -> None:
    golden("add_kernel.tuned.cu", compiled(add_kernel, 1024, Target()).stage("cuda").text)


def test_every_line_knows_its_python_line_and_values() -> None:
    lines = compiled(add_kernel, 256, PLAIN).stage("cuda").lines
    spans = {line.text.strip(): line.span.line for line in lines if line.span is not None}
    assert spans["int v0 = blockIdx.x;"] == 2
    assert spans["int v2 = threadIdx.x;"] == spans["int v3 = (v1 + v2);"] == 3
    assert spans["bool v5 = (v3 < n);"] == 5
    assert spans["float v8 = (v5 ? y[v3] : 0.0f);"] == 8
    assert spans["out[v3] = v9;"] == 10
    load = next(line for line in lines if "v6 =" in line.text)
    assert {"%6", "%5", "%4", "%3", "x"} <= set(load.values)
    assert all(line.span is not None for line in lines)


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("warps", [1, 4])
def test_emulated_kernels_agree_with_the_interpreter(
    warps: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # Every case once; the other number of warps repeats what depends on it: where elements are, and in which order.
    target = Target(num_warps=warps, chip="sm_75")
    cases = every_case() if warps == 1 else memory_cases()
    library = build([(emitted(c, target), target.threads) for c in cases], tmp_path)
    for number, case in enumerate(cases):
        args = case.copies()
        types = [DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in case.func.params]
        library.run(number, case.grid, args, types)
        check(case, args)
    assert "runtime error" not in capfd.readouterr().err


@pytest.mark.parametrize("chip", CHIPS)
def test_nvrtc_takes_every_kernel_without_a_warning(chip: str) -> None:
    target = Target(chip=chip, num_warps=1, form="plain" if chip == "sm_86" else "tuned")
    # What a chip lacks shows on the oldest, and in form: the others take a selection.
    cases = every_case(512) if chip == "sm_75" else every_case(512)[::7] if chip == "sm_86" else memory_cases(512)
    texts = [f"namespace k{number} {{\n{emitted(c, target)}\n}}" for number, c in enumerate(cases)]
    compiled = nvrtc.compile_ptx("\n".join(texts), options(target))
    assert compiled.log == ""
    assert compiled.ptx.count(".visible .entry") == len(texts)


def test_wide_accesses_where_addresses_are_proven_aligned() -> None:
    text = compiled(add_kernel, 1024, Target()).stage("cuda").text
    assert "mt_load_if<4>(mask[r], a + r, x + offs[r], 0.0f);" in text  # n is a multiple of 16: one mask for four
    sass = compiled(add_kernel, 1024, Target()).stage("sass").text
    assert (sass.count("LDG.E.128"), sass.count("STG.E.128"), sass.count("LDG")) == (4, 2, 4)
    assert "mt_" not in compiled(add_kernel, 1024, Target(), aligned=False).stage("cuda").text


def test_overflow_goes_through_unsigned_unless_it_is_impossible() -> None:
    assert "int v3 = (v1 + v2);" in compiled(add_kernel, 256, PLAIN).stage("cuda").text
    tuned = compiled(add_kernel, 1024, Target()).stage("cuda").text
    assert "int v1 = pid * 1024u;" in tuned  # up to 2**31 - 1 programs


def test_fusion_is_an_option_of_the_compiler() -> None:
    assert "-fmad=true" in options(Target())
    assert "-fmad=false" in options(Target(enable_fp_fusion=False))
    case = elementwise(
        "madd",
        (f32, f32),
        f32,
        lambda b, v: b.add(ops.Add, lhs=b.add(ops.Mul, lhs=v[0], rhs=v[1]), rhs=v[0]),
        [np.ones(8, np.float32), np.ones(8, np.float32)],
    )
    for fusion in (True, False):
        target = Target(enable_fp_fusion=fusion)
        ptx = nvrtc.compile_ptx(emitted(case, target), options(target)).ptx
        assert ("fma.rn.f32" in ptx) is fusion


def test_scalar_accesses_wait_for_each_other() -> None:
    text = emitted(scalar_update(), Target())
    load, barrier, store, second = (text.index(t) for t in ("= c[", "__syncthreads", "threadIdx.x == 0", "= c[v"))
    assert load < barrier < store and load == second
    # Before the store; before the new value is read; before the block that might be stored over it.
    assert text.count("__syncthreads();") == 3


def test_only_one_copy_of_an_element_is_stored() -> None:
    assert owner(replicated(4), 128) == ["threadIdx.x == 0"]
    assert owner(blocked(32, 1, 4), 128) == ["threadIdx.x < 32"]
    assert owner(blocked(128, 4, 4), 128) == []
    assert owner(Layout((32,), (1, 0), (0, 2, 4, 8, 16), ()), 32) == ["(threadIdx.x & 1) == 0", "(r & 2) == 0"]


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (blocked(256, 1, 8), "threadIdx.x"),
        (blocked(32, 1, 4), "(threadIdx.x & 31)"),
        (blocked(1024, 4, 4), "threadIdx.x * 4 + (r & 3) + (r >> 2) * 512"),
        (Layout((8,), (4,), (1, 2, 0, 0, 0), ()), "(threadIdx.x & 3) + r * 4"),
        (Layout((8,), (3,), (1, 2, 4, 0, 0), ()), "((threadIdx.x & 7)) ^ (r * 3)"),
    ],
)
def test_positions_read_well_and_are_right(layout: Layout, text: str) -> None:
    assert position(layout, 0) == text
    for thread in range(32 << len(layout.warp)):
        for register in range(layout.registers):
            code = text.replace("threadIdx.x", str(thread)).replace("r ", f"{register} ")
            code = code[:-1] + str(register) if code.endswith("r") else code
            assert eval(code) == layout.position(register, thread & 31, thread >> 5)  # our own text, of numbers


def test_names_stay_if_they_can_and_never_collide() -> None:
    assert [mangle(n) for n in ("x", "x_ptr", "tile_i", "BLOCK")] == ["x", "x_ptr", "tile_i", "BLOCK"]
    changed = ["float", "new", "v0", "α", "threadIdx", "main", "p_x", "mt_abs", "__a", "r", "and", "a__b", "_Z"]
    names = [mangle(n) for n in changed]
    assert names[:4] == ["p_float", "p_new", "p_v0", "p__3b1_"]
    assert len(set(names)) == len(names) and all(n.startswith("p_") and n.isascii() for n in names)


def test_a_kernel_and_parameters_with_impossible_names_compile() -> None:
    b = Builder()
    names = ["float", "v0", "α", "threadIdx", "r"]
    params = [*(pointer(n, i32) for n in names), parameter("blockIdx", i32)]
    for param in params[:-1]:
        b.append(ops.Store(pointer=param, value=params[-1]))
    case = Case(b.finish("main", tuple(params)), ())
    for form in ("plain", "tuned"):
        target = Target(form=form)
        ptx = nvrtc.compile_ptx(emitted(case, target), options(target)).ptx
        assert ".entry p_main(" in ptx and ptx.count("st.global") == 5


def test_a_kernel_may_be_called_like_a_function_of_the_compiler() -> None:
    for name in ("abs", "norm", "roundf", "assert", "row_sum"):
        b, out = Builder(), pointer("out", i32)
        b.append(ops.Store(pointer=out, value=b.constant(1, i32)))
        case = Case(b.finish(name, (out,)), ())
        symbol = name if name == "row_sum" else f"p_{name}"
        ptx = nvrtc.compile_ptx(emitted(case, Target()), options(Target())).ptx
        assert f".entry {symbol}(" in ptx


def test_constants_are_exact() -> None:
    assert literal(-(2**31), i32) == "(-2147483647 - 1)"
    assert literal(-(2**63), i64) == "(-9223372036854775807LL - 1)"
    assert [literal(v, f32) for v in (1.0, 16777215.0, 1e16, -0.0)] == ["1.0f", "16777215.0f", "1e+16f", "-0.0f"]
    assert literal(float(np.float32(0.1)), f32) == "0.1f"
    assert literal(float("nan"), f32) == "__int_as_float(0x7fc00000)"
    assert literal(float("-inf"), f64) == "__longlong_as_double(0xfff0000000000000)"
    assert literal(1.0, f16) == "0x3c00"


def test_the_stages() -> None:
    compilation = compiled(add_kernel, 256, Target()).run()
    assert [s.name for s in compilation.stages][-5:] == list(BACKEND.planned(Target()))
    assert all(s.ok for s in compilation.stages)
    assert BACKEND.check(compilation.stage("layout").artifact.func, Target()) == []


def test_loops_over_more_registers_than_a_thread_has_stay_loops() -> None:
    texts = [compiled(add_kernel, block, Target()).stage("cuda").text for block in (16384, 32768)]
    assert [text.count("#pragma unroll 1\n") for text in texts] == [0, 4]

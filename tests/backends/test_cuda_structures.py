"""Control flow, shapes and reductions as CUDA C++: what they compute, emulated on the CPU, and what they compile to."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mytriton import language as tl
from mytriton.backends.cuda.backend import options
from mytriton.backends.cuda.emit import emit
from mytriton.backends.nvidia import nvrtc
from mytriton.ir.arithmetic import DTYPES
from mytriton.layout.assign import lay_out
from mytriton.layout.ops import Convert
from mytriton.layout.program import LaidOut
from mytriton.target import Target
from mytriton.types import ScalarType, i32
from tests.backends.emulate import build
from tests.backends.gpu_case import Case, check
from tests.backends.gpu_control_cases import control_cases
from tests.backends.gpu_tile_cases import reduced, reductions, tile_cases
from tests.backends.private_programs import private_case
from tests.backends.scattered import scatter
from tests.backends.structured_kernels import add_tiles, compiled, gcd, row_sum, softmax

EMULATED = "sm_75"  # whose text holds no instruction that a CPU lacks
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def text(laid_out: LaidOut, target: Target) -> str:
    return "\n".join(line.text for line in emit(laid_out, target))


# --- numbers ----------------------------------------------------------------------------------------------------------


def run_all(programs: Sequence[tuple[Case, LaidOut, Target]], folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Emulate every program and compare what it computes with the interpreter's."""
    library = build([(text(laid_out, target), target.threads) for _, laid_out, target in programs], folder)
    for number, (case, _, _) in enumerate(programs):
        types = [DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in case.func.params]
        for upwards in (False, True):
            args = case.copies()
            library.run(number, case.grid, args, types, upwards)
            check(case, args)
    assert "runtime error" not in capfd.readouterr().err


@needs_compiler
def test_random_programs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    programs = []
    for seed in range(60):
        target = Target(num_warps=(1, 2, 4)[seed % 3], form="tuned" if seed % 2 else "plain", chip=EMULATED)
        case = private_case(seed, elements=8 if seed < 40 else 256)
        scattered = seed < 20 or seed >= 55
        programs.append((case, scatter(case.func, target, seed) if scattered else lay_out(case.func, target), target))
    run_all(programs, tmp_path, capfd)


@needs_compiler
def test_tiles_and_control_flow(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    target = Target(chip=EMULATED)
    cases = [*reductions(), *tile_cases(), *control_cases()]
    run_all([(case, lay_out(case.func, target), target) for case in cases], tmp_path, capfd)


@needs_compiler
def test_tiles_in_layouts_that_no_one_would_choose(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    programs = []
    for number, case in enumerate([*reductions(), *tile_cases(1024)][::4]):
        target = Target(num_warps=(1, 2, 8)[number % 3], chip=EMULATED)
        programs.append((case, scatter(case.func, target, number), target))
    made = (op for _, laid_out, _ in programs for op in laid_out.func.walk())
    ways = Counter(op.through for op in made if isinstance(op, Convert))
    assert min(ways[way] for way in ("registers", "shuffle", "shared")) > 10
    run_all(programs, tmp_path, capfd)


@needs_compiler
def test_a_missing_barrier_would_be_noticed(tmp_path: Path) -> None:
    case, target = reduced(i32, "add", (1024,), 0), Target(chip=EMULATED)
    right = text(lay_out(case.func, target), target)
    assert right.count("    __syncthreads();\n") == 1
    library = build([(right.replace("    __syncthreads();\n", ""), target.threads)], tmp_path)
    args = case.copies()
    library.run(0, case.grid, args, [None, None], upwards=True)
    with pytest.raises(AssertionError, match="differs"):
        check(case, args)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_nvrtc_takes_every_kernel_and_keeps_arrays_in_registers(chip: str) -> None:
    target = Target(chip=chip)
    cases = [*control_cases(), *tile_cases(1024)[::2]] if chip == "sm_90" else reductions()[::2]
    texts = [f"namespace k{n} {{\n{text(lay_out(c.func, target), target)}\n}}" for n, c in enumerate(cases)]
    compiled = nvrtc.compile_ptx("\n".join(texts), options(target))
    assert compiled.log == ""
    assert compiled.ptx.count(".visible .entry") == len(texts)
    assert "__local_depot" not in compiled.ptx


# --- through all stages -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "constants"),
    [(row_sum, {"BLOCK": 512}), (add_tiles, {"BM": 16, "BN": 32}), (gcd, {})],
    ids=["row_sum", "add_tiles", "gcd"],
)
def test_texts(kernel: Callable[..., Any], constants: dict[str, int], golden: Callable[[str, str], None]) -> None:
    golden(f"{kernel.__name__}.cu", compiled(kernel, Target(), **constants).stage("cuda").text)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_a_softmax_down_to_instructions(chip: str) -> None:
    compilation = compiled(softmax, Target(chip=chip), BLOCK=1024).run()
    sass = compilation.stage("sass").text
    assert (sass.count("LDG.E.128"), sass.count("STG.E.128"), sass.count(" LDG."), sass.count(" STG.")) == (2, 2, 2, 2)
    assert sass.count("SHFL.BFLY") >= 10 and sass.count("BAR.SYNC") == 3
    assert "LDL" not in sass and "STL" not in sass
    assert compilation.stage("layout").stats["exchanges"] == 6
    assert compilation.stage("layout").stats["shared bytes"] == compilation.stage("cubin").stats["shared"] == 16
    # The lines of a reduction lead to the call that asked for it.
    shuffles = {line.span.line for line in compilation.stage("ptx").lines if "shfl" in line.text and line.span}
    assert shuffles == {6, 8}


def zeros_in_a_loop(x, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.where(tl.load(x + offs, mask=mask, other=0.0) == 1.0, 0.0, 0.0)
    for _ in range(3, -1, -1):
        tl.store(out + offs, value, mask=mask)


def test_a_constant_made_before_a_loop_that_stores_it_in_wide_accesses_is_an_array() -> None:
    done = compiled(zeros_in_a_loop, Target(), BLOCK=256)
    assert "mt_store<2>(out + offs[0], vc" in done.stage("cuda").text
    assert done.stage("ptx").text.count("st.global.v2") == 1

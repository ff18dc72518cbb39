"""The mlir backend's texts: goldens, links, names, and what a boundary form cannot say."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from mytriton.backends.mlir.backend import BACKEND
from mytriton.backends.mlir.names import GENERATED, entry_name, parameter_names
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Op
from mytriton.source import Span
from mytriton.target import Target
from mytriton.types import PointerType, Type, f32, i32
from tests.backends import gpu_cases, structured_kernels
from tests.backends.gpu_memory_cases import pointer_choice
from tests.backends.mlir_support import SEED, emitted, ptx_of
from tests.backends.seed_kernels import add_kernel, compiled, copy_kernel

pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)

Golden = Callable[[str, str], None]


# --- texts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [add_kernel, copy_kernel])
def test_plain_memref_text_is_the_introductory_one(kernel: Callable[..., object], golden: Golden) -> None:
    golden(f"{kernel.__name__}.plain.mlir", compiled(kernel, 256, SEED).stage("mlir/emit").text)


def test_tuned_pointer_text(golden: Golden) -> None:
    golden("add_kernel.tuned.mlir", compiled(add_kernel, 1024, Target("mlir")).stage("mlir/emit").text)


@pytest.mark.parametrize(
    ("kernel", "constants", "target"),
    [
        (structured_kernels.row_sum, {"BLOCK": 256}, Target("mlir", num_warps=2)),
        (structured_kernels.gcd, {}, Target("mlir", abi="memref")),
    ],
)
def test_text_of_loops_and_reductions(kernel, constants: dict[str, int], target: Target, golden: Golden) -> None:
    text = structured_kernels.compiled(kernel, target, **constants).stage("mlir/emit").text
    golden(f"{kernel.__name__}.mlir", text)


def test_the_seed_stages_make_no_stage_of_their_own_accord() -> None:
    compilation = compiled(add_kernel, 256, SEED).run("ptx")
    names = [s.name for s in compilation.stages]
    assert names[names.index("layout") :] == [
        "layout",
        "mlir/emit",
        "mlir/cleanup",
        "mlir/attach-nvvm-target",
        "mlir/convert-scf-to-cf",
        "mlir/convert-gpu-to-nvvm",
        "mlir/reconcile-unrealized-casts",
        "mlir/debug-info",
        "mlir/gpu-module-to-binary",
        "llvm",
        "ptx",
    ]
    assert all(s.ok for s in compilation.stages)


def test_every_line_knows_its_python_line_and_values() -> None:
    lines = compiled(add_kernel, 256, SEED).stage("mlir/emit").lines
    spans = {line.text.strip(): line.span.line for line in lines if line.span is not None}
    assert spans["%bid_x = gpu.block_id x"] == spans["%block_id_x = arith.index_cast %bid_x : index to i32"] == 2
    assert spans["%tid_x = gpu.thread_id x"] == spans["%v3 = arith.addi %v1, %thread_id_x : i32"] == 3
    assert spans["%v5 = arith.cmpi slt, %v3, %n : i32"] == 5
    assert spans["%loaded8 = memref.load %y[%idx7] : memref<?xf32>"] == 8
    assert spans["memref.store %v9, %out[%idx10] : memref<?xf32>"] == 10
    load = next(line for line in lines if "%loaded6 =" in line.text)
    assert {"%6", "%5", "%4"} <= set(load.values)


def test_names_stay_if_they_can_and_never_collide() -> None:
    names = ["x", "v3", "bid_x", "float", "α", "p_v3", "r", "splat1", "lanes4", "array3", "x_ptr", "self"]
    params = tuple(parameter(n, i32) for n in names)
    made = parameter_names(params)
    assert len(set(made.values())) == len(names)
    assert [made[p] for p in params[:4]] == ["%x", "%p_v3", "%p_bid_x", "%float"]
    assert made[params[4]] == "%p__u3b1_"
    assert all(n.isascii() and not GENERATED.fullmatch(n[1:]) for n in made.values())
    assert entry_name("α_kernel") == "_u3b1__kernel"


@pytest.mark.parametrize("abi", ["pointer", "memref"])
def test_every_name_we_make_is_one_we_reserve(abi: str) -> None:
    target = Target("mlir", abi=abi)
    for case in gpu_cases.every_case():
        if BACKEND.check(case.func, target):
            continue
        made = set(re.findall(r"^ *%(\w+) = ", emitted(case.func, target), re.MULTILINE))
        assert [n for n in made if not GENERATED.fullmatch(n)] == []


def test_python_names_that_are_words_of_the_languages_below_compile() -> None:
    b = Builder()
    params = tuple(parameter(n, PointerType(f32)) for n in ("float", "v1", "α", "idx2", "entry"))
    b.append(ops.Store(pointer=params[2], value=b.add(ops.Load, pointer=params[1])))
    for name in ("main", "add", "größe", "kernel", "abs"):
        func = b.finish(name, params)
        for abi in ("pointer", "memref"):
            assert f".entry {entry_name(name)}(" in ptx_of(func, Target("mlir", abi=abi))


# --- what a form cannot say -------------------------------------------------------------------------------------------


def test_an_operation_without_text_is_named_with_its_place() -> None:
    b, place = Builder(), Span(3, 5, 3, 9)
    b.append(_Unknown(span=place))
    (finding,) = BACKEND.check(b.finish("k", ()), Target("mlir"))
    assert (finding.code, finding.span) == ("MT611", place)
    assert finding.message == "the mlir backend cannot compile `unknown`"


class _Unknown(Op):
    opcode = "unknown"

    def type_rule(self) -> tuple[Type, ...]:
        return ()


def test_a_choice_between_arrays_has_no_memref_form() -> None:
    case = pointer_choice()
    assert not BACKEND.check(case.func, Target("mlir", abi="pointer"))
    findings = BACKEND.check(case.func, Target("mlir", abi="memref"))
    assert [d.code for d in findings] == ["MT610"]
    assert findings[0].message == (
        "this chooses between pointers into different arrays, `x` and `y`, which the memref form cannot say"
    )
    assert findings[0].hint == 'compile with abi="pointer"'

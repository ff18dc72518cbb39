"""Pipelines that fail, each in its own way: what they are run on, and what has to be said of them."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass

from tests.lab.modules import CRASHING, SAXPY

DEBUG = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"


def device(body: str, params: str = "%x: f32, %p: !llvm.ptr<1>") -> str:
    """A kernel of these lines, the first of which is row 3."""
    rows = "\n".join(f"    {row}" for row in body.splitlines())
    return f"gpu.module @m {{\n  llvm.func @k({params}) attributes {{gpu.kernel, nvvm.kernel}} {{\n{rows}\n    llvm.return\n  }}\n}}\n"


def binary(chip: str, features: str = "+ptx80", *before: str) -> str:
    """The passes that make PTX."""
    passes = (f"nvvm-attach-target{{chip={chip} features={features}}}", *before, "gpu.module(convert-gpu-to-nvvm)")
    return ",".join([*passes, DEBUG, "gpu-module-to-binary{format=isa}"])


@dataclass
class Failing:
    """`stage` fails, or (`died`: how) ends its process, for a reason that holds `cause`, at row `line` of the text if
    that is to be told; `hint` is part of what to do about it."""

    text: str
    pipeline: str
    stage: str
    cause: str
    line: int | None = None
    hint: str = ""
    died: str = ""


TILES = "func.func @f(%a: memref<4xf32>) {\n  affine.for %i = 0 to 4 {\n    %0 = affine.load %a[%i] : memref<4xf32>\n    affine.store %0, %a[%i] : memref<4xf32>\n  }\n  return\n}\n"

DEEP = "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * 20000 + "}\n" * 20000 + "return\n}\n"

FAILING: dict[str, Failing] = {
    "bad pass name": Failing(
        SAXPY,
        "canonicalise",
        "mlir/canonicalise",
        "does not refer to a registered pass",
        hint="did you mean canonicalize",
    ),
    "bad option": Failing(
        SAXPY, "cse,canonicalize{max=3}", "mlir/canonicalize", "no such option max", hint="max-iterations=<long>"
    ),
    "bad value of an option": Failing(
        SAXPY,
        "convert-arith-to-llvm{index-bitwidth=x}",
        "mlir/convert-arith-to-llvm",
        "failed to add",
        hint="index-bitwidth=<uint>",
    ),
    "wrong nesting": Failing(
        SAXPY,
        "func.func(convert-gpu-to-nvvm)",
        "mlir/func.func(convert-gpu-to-nvvm)",
        "restricted to 'gpu.module'",
        hint="write gpu.module(convert-gpu-to-nvvm)",
    ),
    "no nesting": Failing(
        TILES,
        "affine-loop-unroll",
        "mlir/affine-loop-unroll",
        "unable to schedule pass",
        hint="func.func(affine-loop-unroll)",
    ),
    "a pass for another operation": Failing(
        SAXPY, "func.func(inline)", "mlir/func.func(inline)", "does not define a symbol table", 1
    ),
    "illegal operation": Failing(
        device("%y = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>"),
        "gpu.module(convert-gpu-to-nvvm)",
        "mlir/gpu.module(convert-gpu-to-nvvm)",
        "failed to legalize operation 'llvm.intr.exp'",
        3,
    ),
    "unlowered cast": Failing(
        device("%y = builtin.unrealized_conversion_cast %x : f32 to i32\nllvm.store %y, %p : i32, !llvm.ptr<1>"),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "LLVM Translation failed for operation: builtin.unrealized_conversion_cast",
        3,
    ),
    "unlowered operation": Failing(
        device(
            "%c = arith.constant 0 : index\n%m = memref.alloca() : memref<4xf32>\n%y = math.trunc %x : f32\nmemref.store %y, %m[%c] : memref<4xf32>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "missing `LLVMTranslationDialectInterface`",
        5,
    ),
    "verifier failure after a pass": Failing(
        device("nvvm.wgmma.fence.aligned"),
        binary("sm_90"),
        "mlir/nvvm-attach-target",
        "'nvvm.wgmma.fence.aligned' op is not supported on sm_90",
        3,
    ),
    "unsupported chip": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_999").replace("format=isa", "format=bin"),
        "mlir/gpu-module-to-binary",
        "ptxas",
        1,
    ),
    "no MLIR": Failing(
        "func.func @f(%a: i32) {\n  %0 = arith.mulq %a, %a : i32\n  return\n}\n",
        "cse",
        "mlir/parse",
        "custom op 'arith.mulq' is unknown",
        2,
    ),
    "ptxas": Failing(
        device(
            '%y = llvm.inline_asm "nonsense.f32 $0, $1;", "=f,f" %x : (f32) -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>'
        ),
        binary("sm_90").replace("format=isa", "format=bin"),
        "mlir/gpu-module-to-binary",
        "ptxas",
        1,
    ),
    "abort: no instruction": Failing(
        CRASHING,
        binary("sm_90", "+ptx80", "gpu.module(convert-math-to-llvm)"),
        "mlir/gpu-module-to-binary",
        "Cannot select: ",
        3,
        died="SIGABRT",
    ),
    "abort: an instruction of another chip": Failing(
        device(
            "%m = llvm.mlir.constant(-1 : i32) : i32\n%y = nvvm.redux.sync fmax %x, %m : f32 -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.redux.sync.fmax",
        4,
        died="SIGABRT",
    ),
    "segmentation fault: nested too deeply": Failing(DEEP, "cse", "mlir/parse", "killed by SIGSEGV", died="SIGSEGV"),
    "exit: PTX too old for the chip": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_90", "+ptx60"),
        "mlir/gpu-module-to-binary",
        "PTX version 6.0 does not support target 'sm_90'",
        died="status 1",
    ),
    "exit: a constraint of assembly": Failing(
        device('%y = llvm.inline_asm "foo $0;", "=z" : () -> i32\nllvm.store %y, %p : i32, !llvm.ptr<1>'),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "couldn't allocate output register for constraint 'z'",
        died="status 1",
    ),
}

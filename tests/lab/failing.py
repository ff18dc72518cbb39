"""Pipelines that fail, each in its own way: what they are run on, and what has to be said of them."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass

from tests.lab.modules import SAXPY

DEBUG = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"


def device(body: str, params: str = "%x: f32, %p: !llvm.ptr<1>") -> str:
    """A kernel of these lines, the first of which is row 3."""
    rows = "\n".join(f"    {row}" for row in body.splitlines())
    return f"gpu.module @m {{\n  llvm.func @k({params}) attributes {{gpu.kernel, nvvm.kernel}} {{\n{rows}\n    llvm.return\n  }}\n}}\n"


def host(body: str) -> str:
    """A function of these lines, the first of which is row 2, for the processor at hand."""
    rows = "\n".join(f"  {row}" for row in body.splitlines())
    return f"llvm.func @f(%p: !llvm.ptr) {{\n{rows}\n  llvm.return\n}}\n"


def binary(chip: str, features: str = "+ptx80", *before: str) -> str:
    """The passes that make PTX."""
    passes = (f"nvvm-attach-target{{chip={chip} features={features}}}", *before, "gpu.module(convert-gpu-to-nvvm)")
    return ",".join([*passes, DEBUG, "gpu-module-to-binary{format=isa}"])


@dataclass
class Failing:
    """`stage` fails, or (`died`: how) ends its process, for a reason that holds `cause`, at row `line` of the text, where
    `op` stands; both are missing where no operation is at fault, but the pipeline. `hint` is part of what to do."""

    text: str
    pipeline: str
    stage: str
    cause: str
    line: int | None = None
    hint: str = ""
    died: str = ""
    op: str = ""


TILES = "func.func @f(%a: memref<4xf32>) {\n  affine.for %i = 0 to 4 {\n    %0 = affine.load %a[%i] : memref<4xf32>\n    affine.store %0, %a[%i] : memref<4xf32>\n  }\n  return\n}\n"

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
        "'x' value invalid for uint argument!",
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
        SAXPY,
        "func.func(inline)",
        "mlir/func.func(inline)",
        "does not define a symbol table",
        1,
        op="func.func",
    ),
    "illegal operation": Failing(
        device("%y = llvm.intr.exp(%x) : (f32) -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>"),
        "gpu.module(convert-gpu-to-nvvm)",
        "mlir/gpu.module(convert-gpu-to-nvvm)",
        "failed to legalize operation 'llvm.intr.exp'",
        3,
        op="llvm.intr.exp",
    ),
    "unlowered cast": Failing(
        device("%y = builtin.unrealized_conversion_cast %x : f32 to i32\nllvm.store %y, %p : i32, !llvm.ptr<1>"),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "LLVM Translation failed for operation: builtin.unrealized_conversion_cast",
        3,
        op="builtin.unrealized_conversion_cast",
    ),
    "unlowered operation": Failing(
        device(
            "%c = arith.constant 0 : index\n%m = memref.alloca() : memref<4xf32>\n%y = math.trunc %x : f32\nmemref.store %y, %m[%c] : memref<4xf32>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "missing `LLVMTranslationDialectInterface`",
        5,
        op="math.trunc",
    ),
    "verifier failure after a pass": Failing(
        device("nvvm.wgmma.fence.aligned"),
        binary("sm_90"),
        "mlir/nvvm-attach-target",
        "'nvvm.wgmma.fence.aligned' op is not supported on sm_90",
        3,
        op="nvvm.wgmma.fence.aligned",
    ),
    "unsupported chip": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_999"),
        "mlir/gpu-module-to-binary",
        "LLVM knows no chip 'sm_999' of NVIDIA's processors; the nearest are sm_89, sm_90, sm_90a",
        1,
        op="gpu.module",
    ),
    "no MLIR": Failing(
        "func.func @f(%a: i32) {\n  %0 = arith.mulq %a, %a : i32\n  return\n}\n",
        "cse",
        "mlir/parse",
        "custom op 'arith.mulq' is unknown",
        2,
        op="arith.mulq",
    ),
    "ptxas": Failing(
        device(
            '%y = llvm.inline_asm "nonsense.f32 $0, $1;", "=f,f" %x : (f32) -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>'
        ),
        binary("sm_90").replace("format=isa", "format=bin"),
        "mlir/gpu-module-to-binary",
        "Not a name of any known instruction: 'nonsense'",
        3,
        op="llvm.inline_asm",
    ),
    "unsupported chip: the assembler's": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_30", "+ptx60").replace("format=isa", "format=bin"),
        "mlir/gpu-module-to-binary",
        "Value 'sm_30' is not defined for option 'gpu-name'",
        1,
        "format=isa",
        op="gpu.module",
    ),
    "unsupported version of PTX": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_90", "+ptx92"),
        "mlir/gpu-module-to-binary",
        "LLVM knows no feature 'ptx92'",
        1,
        op="gpu.module",
    ),
    "no chip": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        "gpu.module(convert-gpu-to-nvvm),gpu-module-to-binary{format=isa}",
        "mlir/gpu-module-to-binary",
        "the module has no target attributes",
        1,
        "nvvm-attach-target{chip=sm_90}",
        op="gpu.module",
    ),
    "an error of a pass that succeeds": Failing(
        "func.func @f(%a: vector<4x2xbf16>, %b: vector<2x2xbf16>, %c: vector<2x2xf32>) -> vector<2x2xf32> {\n  %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>\n  return %d : vector<2x2xf32>\n}\n",
        "convert-nvgpu-to-nvvm",
        "mlir/convert-nvgpu-to-nvvm",
        "failed to deduce operand PTX types",
        2,
        op="nvgpu.mma.sync",
    ),
    "no terminator": Failing(
        "func.func @f(%a: i32) {\n  %0 = arith.addi %a, %a : i32\n}\n",
        "cse",
        "mlir/parse",
        "block with no terminator",
        2,
        op="arith.addi",
    ),
    "verifier failure of the text": Failing(
        "func.func @f(%a: i32) -> f32 {\n  return %a : i32\n}\n",
        "cse",
        "mlir/parse",
        "doesn't match function result type",
        2,
        op="return",
    ),
}

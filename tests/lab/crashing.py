"""Pipelines that end the process they run in: aborts of LLVM, exits, and a stack that is too small."""

# ruff: noqa: E501

from __future__ import annotations

from tests.lab import modules
from tests.lab.failing import Failing, binary, device, host

DEEP = "func.func @f(%c: i1) {\n" + "scf.if %c {\n" * 20000 + "}\n" * 20000 + "return\n}\n"

CRASHING: dict[str, Failing] = {
    "abort: no instruction": Failing(
        modules.CRASHING,
        binary("sm_90", "+ptx80", "gpu.module(convert-math-to-llvm)"),
        "mlir/gpu-module-to-binary",
        "Cannot select: ",
        3,
        died="SIGABRT",
        op="math.tanh",
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
        op="nvvm.redux.sync",
    ),
    "segmentation fault: nested too deeply": Failing(
        DEEP,
        "cse",
        "mlir/parse",
        "killed by SIGSEGV",
        20001,
        "20,001 regions in each other",
        died="SIGSEGV",
        op="scf.if",
    ),
    "exit: PTX too old for the chip": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        binary("sm_90", "+ptx60"),
        "mlir/gpu-module-to-binary",
        "PTX version 6.0 does not support target 'sm_90'",
        1,
        "features=+ptx80",
        died="status 1",
        op="gpu.module",
    ),
    "exit: a constraint of assembly": Failing(
        device('%y = llvm.inline_asm "foo $0;", "=z" : () -> i32\nllvm.store %y, %p : i32, !llvm.ptr<1>'),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "couldn't allocate output register for constraint 'z'",
        3,
        died="status 1",
        op="llvm.inline_asm",
    ),
    "abort: a cluster's barrier on an older chip": Failing(
        device("nvvm.cluster.arrive"),
        binary("sm_80"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.barrier.cluster.arrive",
        3,
        "no instruction for it on this chip",
        died="SIGABRT",
        op="nvvm.cluster.arrive",
    ),
    "abort: a barrier's fence on an older chip": Failing(
        device("nvvm.fence.mbarrier.init"),
        binary("sm_80"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.fence.mbarrier_init",
        3,
        died="SIGABRT",
        op="nvvm.fence.mbarrier.init",
    ),
    "abort: a bulk copy in an older PTX": Failing(
        device("nvvm.cp.async.bulk.commit.group"),
        binary("sm_90", "+ptx78"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.cp.async.bulk.commit.group",
        3,
        died="SIGABRT",
        op="nvvm.cp.async.bulk.commit.group",
    ),
    "abort: a product of bf16 on an older chip": Failing(
        device(
            "%z = arith.constant 0.0 : f32\n%d = nvvm.mma.sync A[%n, %n, %n, %n] B[%n, %n] C[%z, %z, %z, %z] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>\n%q = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>\nllvm.store %q, %p : f32, !llvm.ptr<1>",
            "%n: i32, %p: !llvm.ptr<1>",
        ),
        binary("sm_75", "+ptx70"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.mma.m16n8k16.row.col.bf16",
        4,
        died="SIGABRT",
        op="nvvm.mma.sync",
    ),
    "abort: an asynchronous copy on an older chip": Failing(
        device("nvvm.cp.async.commit.group\nnvvm.cp.async.wait.group 0"),
        binary("sm_70", "+ptx70"),
        "mlir/gpu-module-to-binary",
        "Cannot select: intrinsic %llvm.nvvm.cp.async.wait.group",
        4,
        died="SIGABRT",
        op="nvvm.cp.async.wait.group",
    ),
    "abort: an operand that assembly has not": Failing(
        device('%y = llvm.inline_asm "foo $0, $5;", "=r" : () -> i32\nllvm.store %y, %p : i32, !llvm.ptr<1>'),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "Invalid $ operand number in inline asm string: 'foo $0, $5;'",
        3,
        died="SIGABRT",
        op="llvm.inline_asm",
    ),
    "abort: numbers of 80 bits": Failing(
        device(
            "%l = llvm.load %p : !llvm.ptr<1> -> f80\n%t = llvm.fadd %l, %l : f80\nllvm.store %t, %p : f80, !llvm.ptr<1>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "unsupported library call operation",
        4,
        "use f64",
        died="SIGABRT",
        op="llvm.fadd",
    ),
    "abort: numbers of 128 bits": Failing(
        device(
            "%l = llvm.load %p : !llvm.ptr<1> -> f128\n%t = llvm.fadd %l, %l : f128\nllvm.store %t, %p : f128, !llvm.ptr<1>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "unsupported library call operation",
        4,
        died="SIGABRT",
        op="llvm.fadd",
    ),
    "abort: vectors of unknown length": Failing(
        device(
            "%l = llvm.load %p : !llvm.ptr<1> -> vector<[4]xf32>\n%t = llvm.fadd %l, %l : vector<[4]xf32>\nllvm.store %t, %p : vector<[4]xf32>, !llvm.ptr<1>"
        ),
        binary("sm_90"),
        "mlir/gpu-module-to-binary",
        "Cannot implicitly convert a scalable size to a fixed-width size",
        4,
        "vector<4xf32>",
        died="SIGABRT",
        op="llvm.fadd",
    ),
    "abort: host code": Failing(
        host(
            "%l = llvm.load %p : !llvm.ptr -> vector<[4]xf32>\n%t = llvm.fadd %l, %l : vector<[4]xf32>\nllvm.store %t, %p : vector<[4]xf32>, !llvm.ptr"
        ),
        "cse",
        "asm",
        "Cannot implicitly convert a scalable size",
        3,
        died="SIGABRT",
        op="llvm.fadd",
    ),
    "exit: host assembly": Failing(
        host('%y = llvm.inline_asm "foo $0", "=r" : () -> i32\nllvm.store %y, %p : i32, !llvm.ptr'),
        "cse",
        "asm",
        "invalid instruction mnemonic 'foo'",
        2,
        died="status 1",
        op="llvm.inline_asm",
    ),
    "abort: a value of an option": Failing(
        device("llvm.store %x, %p : f32, !llvm.ptr<1>"),
        "nvvm-attach-target{chip=sm_90 O=9}",
        "mlir/nvvm-attach-target",
        "verifyInvariants",
        hint="an option of the pass has a value",
        died="SIGABRT",
    ),
}

"""The values that a line of each language names, and what it does with them."""

from __future__ import annotations

import pytest

from explorer.model.names import scanner


def named(language: str, line: str) -> str:
    """The names of a line, each with the first letter of its role."""
    return " ".join(f"{name.text}:{name.role[0]}" for name in scanner(language)(line))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%3 = add %1, %2 : vector<256 x i32>", "%3:d %1:r %2:r"),
        ("%4 = addptr x, %3 : vector<256 x ptr<f32>>", "%4:d x:r %3:r"),
        ("%20 = add %17, f32(%19) : f32", "%20:d %17:r %19:r"),
        ("%17 = reduce %16 {axis=0, combine=add} : f32", "%17:d %16:r"),
        ("store %10, %9, %5", "%10:r %9:r %5:r"),
        ("%12 = for %13 = 0 to n step 1 with %14 = 0.0 : f32 {", "%12:d %13:b n:r %14:b"),
        ("  } do with %20, %21 {", "%20:b %21:b"),
        ("    yield %23", "%23:r"),
        ("%26, %27 = if bool(%25) : f32, f32 {", "%26:d %27:d %25:r"),
        ("for each of 2 registers of #b256, keeping %3, %5:", "%3:r %5:r"),
    ],
)
def test_ssa(line: str, expected: str) -> None:
    # Words that are no values are told apart by what the printer says of the line: see test_values.
    assert " ".join(n for n in named("ssa", line).split() if n[0] == "%" or n in ("x:r", "n:r")) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("%v3 = arith.addi %v1, %at16 : i32", "%v3:d %v1:r %at16:r"),
        ("%v26, %v27 = scf.if %cast15 -> (f32, f32) {", "%v26:d %v27:d %cast15:r"),
        ("%2:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32) {",
         "%2:d %i:b %c0:r %n:r %c1:r %a:b %x:r"),
        ("%3 = arith.addf %2#1, %1 : f32", "%3:d %2:r %1:r"),
        ("^bb3(%15: vector<2xf32>):  // 2 preds: ^bb1, ^bb2", "%15:d"),
        ("gpu.func @k(%x: !llvm.ptr<1> {llvm.align = 16 : i64}, %n: i32) kernel {", "%x:b %n:b"),
        ("llvm.store %v9, %v41 : f32, !llvm.ptr<1>", "%v9:r %v41:r"),
    ],
)  # fmt: skip
def test_mlir(line: str, expected: str) -> None:
    assert named("mlir", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("  %22 = phi float [ 0.000000e+00, %20 ], [ %19, %18 ]", "%22:d %19:r"),
        ("  br i1 %17, label %18, label %20", "%17:r"),
        ("18:                ; preds = %6", ""),
        ("define ptx_kernel void @k(ptr addrspace(1) %0, i32 %4) #0 {", "%0:d %4:d"),
    ],
)
def test_llvm(line: str, expected: str) -> None:
    assert named("llvm", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("\tadd.s32 \t%r8, %r5, %r7;", "%r8:w %r5:r %r7:r"),
        ("\t@%p3 bra \t$L__BB0_5;", "%p3:r"),
        ("\tst.global.f32 \t[%rd4], %f3;", "%rd4:r %f3:r"),
        ("\tld.global.v2.f32 \t{%f1, %f2}, [%rd3];", "%f1:w %f2:w %rd3:r"),
        ("\tsetp.lt.s32 \t%p1|%p2, %r1, %r3;", "%p1:w %p2:w %r1:r %r3:r"),
        ("\tmov.u32 \t%r6, %tid.x;", "%r6:w"),
        ("\t.reg .b32 \t%r<14>;", ""),
    ],
)
def test_ptx(line: str, expected: str) -> None:
    assert named("ptx", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    int offs[2];", "offs:d"),
        ("        offs[r] = (unsigned)v1 + v2;", "offs:w r:r v1:r v2:r"),
        ("    for (int r = 0; r < 2; ++r) {", "r:b r:r r:w"),
        ("    mt_load_each<2>(mask, a, x + offs[0], 0.0f);", "mask:r a:r x:r offs:r"),
        ("add_kernel(float* x, float* y, int n) {", "x:b y:b n:b"),
        ("    float v28 = v14 * zr;", "v28:d v14:r zr:r"),
        ("    if (v25 != 0) {", "v25:r"),
        ("    return wanted ? a : b;", "wanted:r a:r b:r"),
        ('extern "C" __global__ void __launch_bounds__(128)', ""),
        ("    #pragma unroll", ""),
        ("    mt_vector<M, N> v = *(const mt_vector<M, N>*)from;", "M:r N:r v:d M:r N:r from:r"),
    ],
)
def test_cuda(line: str, expected: str) -> None:
    assert named("cuda", line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/*0070*/ [------ r- w- y s05] SHF.L.U32 R0, R0, 0x1, RZ ;", "R0:w R0:r"),
        ("/*0090*/ [------ r- w- y s04] ISETP.GE.AND P0, PT, R4, UR6, PT ;", "P0:w R4:r UR6:r"),
        ("/*0100*/ [------ r1 w5 - s01] @!P0 LDG.E R6, desc[UR4][R2.64] ;", "P0:r R6:w UR4:r R2:r"),
        ("/*0320*/ [------ r2 w5 - s02] STG.E.64 desc[UR4][R2.64], R6 ;", "UR4:r R2:r R6:r"),
        ("/*0010*/ [------ r- w- - s01] IADD3 R2, P1, R4, UR4, RZ ;", "R2:w P1:w R4:r UR4:r"),
        ("/*0010*/ [------ r- w- - s01] LEA.HI.X R3, R0, UR5, R3, 0x2, P0 ;", "R3:w R0:r UR5:r R3:r P0:r"),
        ("/*0010*/ [------ r- w- - s01] SHFL.BFLY PT, R3, R2, 0x10, 0x1f ;", "R3:w R2:r"),
        ("/*0010*/ [------ r- w- - s01] PLOP3.LUT P0, PT, P1, PT, PT, 0x8, 0x0 ;", "P0:w P1:r"),
        (".L_x_3:", ""),
    ],
)
def test_sass(line: str, expected: str) -> None:
    assert named("sass", line) == expected


def test_a_wide_register_stands_for_several() -> None:
    (address,) = (n for n in scanner("sass")("/*0000*/ STG.E.128 desc[UR4][R2.64], R8 ;") if n.text == "R2")
    assert address.covers == ("R2", "R3")
    (stored,) = (n for n in scanner("sass")("/*0000*/ STG.E.128 desc[UR4][R2.64], R8 ;") if n.text == "R8")
    assert stored.covers == ("R8", "R9", "R10", "R11")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("├─ (zr, zi) =", "zr:w zi:w"),
        ("│  │  ├─ mask: mask", "mask:r"),
        ("│     └─ offs", "offs:r"),
        ("│  └─ tuple", ""),
        ("│     └─ tl.load()", ""),
    ],
)
def test_tree(line: str, expected: str) -> None:
    assert named("tree", line) == expected


def test_other_languages_have_none() -> None:
    assert named("report", "%1 = 2") == named("asm", "movl %eax, %ebx") == ""

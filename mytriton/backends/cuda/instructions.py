"""The device functions that hold the instructions of tensor cores (PTX ISA, "Warp Level Matrix Multiply-Accumulate
Instructions")."""

from __future__ import annotations

from mytriton.layout.mma import INSTRUCTIONS, LARGE_F64, Instruction
from mytriton.types import ScalarType, bf16, f16, f32, f64, i8, u8

#: For each type of factors: that of both factors and of the sums as PTX names them, the C++ type of a factor's register
#: and of a sum, and the letters that assembly has for these.
TYPES = {
    f16: ("f16", "f32", "unsigned", "float", "r", "f"),
    bf16: ("bf16", "f32", "unsigned", "float", "r", "f"),
    f32: ("tf32", "f32", "unsigned", "float", "r", "f"),
    i8: ("s8", "s32", "unsigned", "int", "r", "r"),
    u8: ("u8", "s32", "unsigned", "int", "r", "r"),
    f64: ("f64", "f64", "double", "double", "d", "d"),
}
_MMA = """\
void {name}({sum}* sum, const {word}* lhs, const {word}* rhs) {{
    asm volatile("mma.sync.aligned.{shape}.row.col.{total}.{factor}.{factor}.{total} "
                 "{{{sums}}}, {{{lhs}}}, {{{rhs}}}, {{{sums}}};"
                 : {out}
                 : {given});
}}"""
_LDMATRIX = """\
void mt_ldmatrix_x{count}{suffix}(unsigned* to, unsigned from) {{
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{words}}}, [%{count}];"
                 : {out} : "r"(from));
}}"""
_TF32 = """\
unsigned mt_f32_to_tf32(float x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(x));
    return y;
}"""
# With what rounding leaves of either factor; of infinities nothing.
_THRICE = """\
void mt_mma_f32_thrice(float* sum, const unsigned* lhs, const unsigned* rhs) {
    unsigned high[6], low[6];
    #pragma unroll
    for (int i = 0; i < 6; ++i) {
        float x = __uint_as_float(i < 4 ? lhs[i] : rhs[i - 4]);
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high[i]) : "f"(x));
        float rest = x - __uint_as_float(high[i]);
        rest = rest == rest ? rest : 0.0f;
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low[i]) : "f"(rest));
    }
    #pragma unroll
    for (int i = 0; i < 3; ++i) {
        const unsigned* a = i == 0 ? low : high;
        const unsigned* b = i == 1 ? low + 4 : high + 4;
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
}"""
_ADDRESS = """\
unsigned mt_shared_address(const void* p) {
    return (unsigned)__cvta_generic_to_shared(p);
}"""


def texts() -> dict[str, str]:
    """The functions that hold the instructions, by name."""
    found = {"mt_f32_to_tf32": _TF32, "mt_shared_address": _ADDRESS}
    for count in (1, 2, 4):
        words = ", ".join(f"%{i}" for i in range(count))
        out = ", ".join(f'"=r"(to[{i}])' for i in range(count))
        for suffix, trans in (("", ""), ("_trans", ".trans")):
            text = _LDMATRIX.format(count=count, suffix=suffix, trans=trans, words=words, out=out)
            found[f"mt_ldmatrix_x{count}{suffix}"] = text
    for element in TYPES:
        found[function(element, INSTRUCTIONS[element])] = _mma(element, INSTRUCTIONS[element])
    found[function(f64, LARGE_F64)] = _mma(f64, LARGE_F64)
    return found | {function(f32, INSTRUCTIONS[f32], "tf32x3"): _THRICE}


def function(element: ScalarType, of: Instruction, precision: str = "") -> str:
    """The name of the function for an instruction."""
    return f"mt_mma_{element}{'_large' if of is LARGE_F64 else '_thrice' if precision == 'tf32x3' else ''}"


def _mma(element: ScalarType, of: Instruction) -> str:
    factor, total, word, sum_, letter, sum_letter = TYPES[element]
    counts = (of.sums, *of.words)
    numbers = iter(range(sum(counts)))
    sums, lhs, rhs = (", ".join(f"%{next(numbers)}" for _ in range(count)) for count in counts)
    out = ", ".join(f'"+{sum_letter}"(sum[{i}])' for i in range(of.sums))
    given = ", ".join(f'"{letter}"({n}[{i}])' for n, c in zip(("lhs", "rhs"), of.words, strict=True) for i in range(c))
    return _MMA.format(name=function(element, of), sum=sum_, word=word, shape=of.name, total=total, factor=factor,
                       sums=sums, lhs=lhs, rhs=rhs, out=out, given=given)  # fmt: skip

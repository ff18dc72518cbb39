"""A kernel each line of which becomes an instruction that no other line does, and what shows it in PTX and SASS."""

from __future__ import annotations

import mytriton as triton
import mytriton.language as tl
from mytriton.language.extra import libdevice


@triton.jit
def tripled(x):
    return x * 3.25


@triton.jit
def distinct(x, k, sums, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offs < n
    a = tl.load(x + offs, mask=inside, other=0.0)
    b = libdevice.popc(tl.load(k + offs, mask=inside, other=0).to(tl.int32))
    d = tl.rsqrt(a) + 7.5
    total = tl.sum(d)
    for _ in range(n):
        total = tripled(total)
    tl.atomic_add(sums, total)
    e = tl.floor(d)
    tl.store(out + offs, e + b)


SIGNATURE = "*fp32, *i8, *fp32, *fp32, i32, 128"

#: By the beginning of a line: patterns of an instruction of PTX and of one of SASS that only this line asks for.
MARKS = {
    "offs = ": (r"%[cn]?t(id|aid)\.x", r"SR_(TID|CTAID)\.X"),
    "a = ": (r"ld\.global\.[fb]32", r"LDG\.E R"),
    "b = ": (r"ld\.global\.[sub]8|popc", r"LDG\.E\.[SU]8|POPC"),
    "d = ": (r"rsqrt|0f40F00000", r"MUFU\.RSQ|FADD.* 7\.5"),
    "total = tl.sum": (r"shfl|(ld|st)\.shared", r"SHFL|LDS|STS"),
    "return x * 3.25": (r"0f40500000", r"FMUL.* 3\.25"),
    "tl.atomic_add": (r"\b(atom|red)\.", r"\b(ATOM|RED)"),
    "e = ": (r"cvt\.rmi", r"FRND.*FLOOR"),
    "tl.store(": (r"st\.global", r"STG"),
}

"""Conversions to and from float8, which is held as its bits: device functions of the prelude.

To nearest even, saturating: what is beyond the largest number, and infinity, become it; NaN becomes 0x7f. That is PTX's
`cvt.rn.satfinite`, which needs sm_89; below that the same is done in integers.
"""

from __future__ import annotations

from mytriton.types import FLOAT8_LARGEST, f8e4nv, f8e5

_INSTRUCTION = """\
__device__ unsigned char mt_f32_to_{type}(float x) {{
    unsigned short pair;
    asm("cvt.rn.satfinite.{ptx}x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(x));
    return pair;
}}"""

# A sum with a number whose last bit is worth what that of a subnormal float8 is rounds to subnormals; the smallest
# normal number follows them. Others are rounded as integers, and their exponent gets the other bias.
_INTEGER = """\
__device__ unsigned char mt_f32_to_{type}(float x) {{
    float size = fminf(fabsf(x), {largest}f);
    unsigned bits = __float_as_uint(size), last = bits >> {cut} & 1;
    unsigned small = __float_as_uint(size + {coarse}f) - __float_as_uint({coarse}f);
    unsigned normal = (bits + {half:#x} + last - {bias:#x}) >> {cut};
    return x != x ? 0x7f : (__float_as_uint(x) >> 24 & 0x80) | (size < {least}f ? small : normal);
}}"""

# An exponent of 8 bits and its bias are larger than one of 4: a product makes up for it, of subnormal numbers too.
_WIDEN_E4 = """\
__device__ float mt_f8e4nv_to_f32(unsigned char h) {
    unsigned size = h & 0x7f;
    float x = __uint_as_float(size << 20) * __uint_as_float(0x7b800000);
    return __uint_as_float((size == 0x7f ? 0x7fffffff : __float_as_uint(x)) | (h & 0x80u) << 24);
}"""


def _integer(name: str, mantissa: int, bias: int, largest: float) -> str:
    cut, least = 23 - mantissa, 2.0 ** (1 - bias)
    return _INTEGER.format(type=name, largest=largest, cut=cut, half=(1 << cut - 1) - 1, bias=127 - bias << 23,
                           least=least, coarse=least * 2.0**cut)  # fmt: skip


def texts(has_instruction: bool) -> dict[str, str]:
    """The functions by name. A float8e5 needs none to be widened: it is the upper half of a float16."""
    found = {"mt_f8e4nv_to_f32": _WIDEN_E4}
    for type_, ptx, mantissa, bias in ((f8e4nv, "e4m3", 3, 7), (f8e5, "e5m2", 2, 15)):
        instruction = _INSTRUCTION.format(type=type_, ptx=ptx)
        integer = _integer(type_.name, mantissa, bias, FLOAT8_LARGEST[type_])
        found[f"mt_f32_to_{type_}"] = instruction if has_instruction else integer
    return found

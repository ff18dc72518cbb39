"""Atomic operations in CUDA C++ (CUDA programming guide, "Atomic Functions", "Memory Fence Functions")."""

from __future__ import annotations

from collections.abc import Callable

from mytriton.ir import ops
from mytriton.types import ScalarType, f32

_NAMES = {
    "add": "atomicAdd",
    "max": "atomicMax",
    "min": "atomicMin",
    "and": "atomicAnd",
    "or": "atomicOr",
    "xor": "atomicXor",
    "xchg": "atomicExch",
    "cas": "atomicCAS",
}
#: What takes 64 bits without a sign only, although the sign changes nothing.
_BITS = ("add", "and", "or", "xor", "xchg", "cas")


def fences(op: ops.Atomic) -> tuple[str, str]:
    """The statements before and after an operation, which order it; the functions themselves order nothing."""
    fence = {"gpu": "__threadfence();", "cta": "__threadfence_block();", "sys": "__threadfence_system();"}[op.scope]
    return fence if op.order in ("acq_rel", "release") else "", fence if op.order in ("acq_rel", "acquire") else ""


def call(helper: Callable[..., str], op: ops.Atomic, element: ScalarType, pointer: str, operands: list[str]) -> str:
    """The expression of what was there; `operands` are the value, or what is compared and the value. `helper` calls
    one of `texts`."""
    suffix = "_system" if op.scope == "sys" else ""
    name = _NAMES[op.kind] + suffix
    if op.kind == "add" and element.bits == 16:
        return helper(f"mt_atomic_add_{element}{suffix}", pointer, *operands)
    if element.kind == "int" and element.bits == 16 and element.signed:
        return f"(short)atomicCAS{suffix}((unsigned short*)({pointer}), {', '.join(operands)})"
    by_bits = op.kind in ("max", "min", "cas") or (op.kind == "xchg" and element != f32)
    if element.kind == "float" and element.bits > 16 and by_bits:
        return helper(f"mt_atomic_{op.kind}_{element}", pointer, *operands)
    if element.kind == "int" and element.bits == 64 and element.signed and op.kind in _BITS:
        word = "unsigned long long"
        return f"(long long){name}(({word}*)({pointer}), {', '.join(f'({word}){text}' for text in operands)})"
    return f"{name}({', '.join([pointer, *operands])})"


_HALF_ADD = """\
unsigned short mt_atomic_add_{0}{1}(unsigned short* p, unsigned short x) {{
    unsigned short old;
    asm volatile("atom{2}.add.noftz.{0} %0, [%1], %2;" : "=h"(old) : "l"(p), "h"(x) : "memory");
    return old;
}}"""
# As mt_f32_to_bf16 before sm_80, which no helper may call. Bits are compared, so a NaN ends the loop as well.
_BF16_LOOP = """\
unsigned short mt_atomic_add_bf16{0}(unsigned short* p, unsigned short x) {{
    unsigned short seen = *(volatile unsigned short*)p, old;
    do {{
        old = seen;
        float sum = __uint_as_float((unsigned)old << 16) + __uint_as_float((unsigned)x << 16);
        unsigned bits = __float_as_uint(sum);
        unsigned short rounded = sum != sum ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
        seen = atomicCAS{0}(p, old, rounded);
    }} while (seen != old);
    return old;
}}"""


def half_texts(has_bf16: bool) -> dict[str, str]:
    """Additions of 16 bits, for which only headers have functions; bfloat16 has an instruction from sm_90 on."""
    found: dict[str, str] = {}
    for suffix, scope in (("", ""), ("_system", ".sys")):
        found[f"mt_atomic_add_f16{suffix}"] = _HALF_ADD.format("f16", suffix, scope)
        loop = _HALF_ADD.format("bf16", suffix, scope) if has_bf16 else _BF16_LOOP.format(suffix)
        found[f"mt_atomic_add_bf16{suffix}"] = loop
    return found


def texts() -> dict[str, str]:
    """Helper functions for what there is no function of CUDA's."""
    found: dict[str, str] = {}
    for name, c, word, bits, value in (
        ("f32", "float", "unsigned", "__float_as_uint", "__uint_as_float"),
        ("f64", "double", "unsigned long long", "__double_as_longlong", "__longlong_as_double"),
    ):
        suffix = "f" if name == "f32" else ""
        for kind in ("max", "min"):
            found[f"mt_atomic_{kind}_{name}"] = f"""{c} mt_atomic_{kind}_{name}({c}* p, {c} x) {{
    {word} seen = *(volatile {word}*)p, old;
    do {{
        old = seen;
        seen = atomicCAS(({word}*)p, old, ({word}){bits}(f{kind}{suffix}({value}(old), x)));
    }} while (seen != old);
    return {value}(old);
}}"""
        found[f"mt_atomic_cas_{name}"] = f"""{c} mt_atomic_cas_{name}({c}* p, {c} expected, {c} x) {{
    return {value}(atomicCAS(({word}*)p, ({word}){bits}(expected), ({word}){bits}(x)));
}}"""
        found[f"mt_atomic_xchg_{name}"] = f"""{c} mt_atomic_xchg_{name}({c}* p, {c} x) {{
    return {value}(atomicExch(({word}*)p, ({word}){bits}(x)));
}}"""
    return found

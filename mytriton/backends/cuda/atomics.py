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
    if element.kind == "float" and (op.kind in ("max", "min", "cas") or (op.kind == "xchg" and element != f32)):
        return helper(f"mt_atomic_{op.kind}_{element}", pointer, *operands)
    if element.kind == "int" and element.bits == 64 and element.signed and op.kind in _BITS:
        word = "unsigned long long"
        return f"(long long){name}(({word}*)({pointer}), {', '.join(f'({word}){text}' for text in operands)})"
    return f"{name}({', '.join([pointer, *operands])})"


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

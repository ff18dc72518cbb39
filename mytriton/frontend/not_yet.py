"""Names of Triton's language that kernels in the wild use and this compiler does not take yet, with what serves
instead."""

from __future__ import annotations

from mytriton import language

_SUPPORTED = "supported are: " + ", ".join(language.__all__)
_TYPES = "the types are int1, int8 to int64, uint8 to uint64, float16, bfloat16, float32 and float64"
_OUTSIDE = "store the block, and reduce it outside of the kernel"
_PRINT = "store the value, and print it after the launch"
_ASSERT = "check arguments before the launch"

_INSTEAD = {
    "argmax argmin reduce sum xor_sum": _OUTSIDE,
    "max": "tl.maximum(x, y) is the larger of two values; for a whole block, " + _OUTSIDE,
    "min": "tl.minimum(x, y) is the smaller of two values; for a whole block, " + _OUTSIDE,
    "cast": "write x.to(dtype)",
    "device_assert static_assert": _ASSERT,
    "device_print static_print": _PRINT,
    "float8e4nv float8e5": _TYPES,
    "advance associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or atomic_xchg atomic_xor "
    "cat cumprod cumsum debug_barrier dot dot_scaled extra flip gather histogram "
    "inline_asm_elementwise interleave join make_block_ptr pointer_type randint rand randn softmax sort "
    "split swizzle2d tensor umulhi": _SUPPORTED,
}

#: What to do instead, by name.
NOT_YET = {name: hint for names, hint in _INSTEAD.items() for name in names.split()}

#: The same for Python's own functions.
BUILTINS = {"print": _PRINT}

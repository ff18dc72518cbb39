"""Names of Triton's language that this compiler does not take yet, with what serves instead.

Every public name of Triton 3.9's `triton.language` is either one of `mytriton.language` or listed here.
"""

from __future__ import annotations

_FLOAT8 = "Triton has it on older or other GPUs only; use tl.float8e4nv or tl.float8e5, or pass the array as uint8"
_POINTERS = "make descriptors in the kernel, with tl.make_tensor_descriptor"
_ATOMIC = "tl.atomic_add(p, 0) reads, tl.atomic_xchg(p, x) writes, a `while` with tl.atomic_cas waits"
_OPERATORS = "write it with operators and functions of tl"
_ANNOTATION = "run-time values have no class here; ask x.dtype and x.shape"

_INSTEAD = {
    "atomic_load atomic_poll atomic_store": _ATOMIC,
    "tensor_descriptor": _POINTERS,
    "block_type": "a block's type is x.type",
    "condition": "write the condition by itself: while x > 0:",
    "const constexpr_type slice tensor tuple void": _ANNOTATION,
    "expect_zero": "leave it out: it checks nothing but in Triton's debug builds",
    "float8e4b15 float8e4b8 float8e5b16": _FLOAT8,
    "target_info": "a kernel is the same for every target",
}

#: What to do instead, by name.
NOT_YET = {name: hint for names, hint in _INSTEAD.items() for name in names.split()}

_LIBDEVICE = {
    "acosh": "write log(x + sqrt(x * x - 1))",
    "add_rd add_rn add_ru add_rz mul_rd mul_rn mul_ru mul_rz sub_rd sub_rn sub_ru sub_rz": "write the operator; "
    "enable_fp_fusion=False keeps it from being fused",
    "asinh": "write log(x + sqrt(x * x + 1)) of the absolute value, with the sign of x",
    "atanh": "write 0.5 * log((1 + x) / (1 - x))",
    "cosh": "write (exp(x) + exp(-x)) / 2",
    "erfc": "write 1 - erf(x)",
    "exp10 fast_exp10f": "write exp2(x * 3.321928094887362)",
    "expm1": "write exp(x) - 1, which loses digits near 0",
    "hypot": "write sqrt(x * x + y * y)",
    "ldexp scalbn": "write x * exp2(n)",
    "log10 fast_log10f": "write log2(x) * 0.3010299956639812",
    "log1p": "write log(1 + x), which loses digits near 0",
    "sinh": "write (exp(x) - exp(-x)) / 2",
    "tan fast_tanf": "write sin(x) / cos(x)",
    "acos asin atan atan2 brev byte_perm cbrt clz cospi cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv ffs "
    "hadd ilogb j0 j1 jn lgamma logb mul24 mulhi nextafter norm3d norm4d normcdf normcdfinv popc rcbrt remainder "
    "rhadd rhypot rnorm3d rnorm4d sad sinpi tgamma y0 y1 yn": _OPERATORS,
}

#: The same for the functions of libdevice.
LIBDEVICE = {name: hint for names, hint in _LIBDEVICE.items() for name in names.split()}
LIBDEVICE |= {
    f"{old}2{new}_{rounding}": "convert with .to(dtype), which truncates to integers and rounds floats to nearest"
    for old in ("double", "float", "int", "uint", "ll", "ull")
    for new in ("double", "float", "int", "uint", "ll", "ull")
    for rounding in ("rn", "rz", "rd", "ru")
}
LIBDEVICE |= {
    f"{name}_{rounding}": "floats round to nearest"
    for name in ("div", "fma", "rcp", "sqrt")
    for rounding in ("rz", "rd", "ru")
}

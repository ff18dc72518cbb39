"""Names of Triton's language that this compiler does not take yet, with what serves instead.

Every public name of Triton 3.9's `triton.language` is either one of `mytriton.language` or listed here.
"""

from __future__ import annotations

_FLOAT8 = "Triton has it on older or other GPUs only; use tl.float8e4nv or tl.float8e5, or pass the array as uint8"
_POINTERS = "a descriptor is made by tl.make_tensor_descriptor, or an argument of the launch (TensorDescriptor)"
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

_ROUNDED = "write the operator, or add_rn, sub_rn, mul_rn and div_rn of libdevice: results round to nearest"

_LIBDEVICE = {
    "add_rd add_ru add_rz mul_rd mul_ru mul_rz sub_rd sub_ru sub_rz": _ROUNDED,
    "cospi": "write cos(x * 3.141592653589793)",
    "sinpi": "write sin(x * 3.141592653589793)",
    "ldexp scalbn": "write x * exp2(n)",
    "normcdf": "write 0.5 * erfc(x * -0.7071067811865476)",
    "rcbrt": "write 1 / cbrt(x)",
    "rhypot": "write 1 / hypot(x, y)",
    "byte_perm cyl_bessel_i0 cyl_bessel_i1 double2hiint double2loint erfcinv erfcx erfinv hiloint2double ilogb j0 j1 "
    "jn lgamma logb mul24 nextafter norm3d norm4d normcdfinv rcp64h remainder rnorm3d rnorm4d sad tgamma y0 y1 "
    "yn": _OPERATORS,
}

#: The same for the functions of libdevice.
LIBDEVICE = {name: hint for names, hint in _LIBDEVICE.items() for name in names.split()}
LIBDEVICE |= {
    f"{old}2{new}_{rounding}": "convert with .to(dtype), which rounds floats to nearest"
    for new in ("double", "float")
    for old in ("double", "int", "uint", "ll", "ull")
    for rounding in ("rz", "rd", "ru")
}
LIBDEVICE |= {f"{name}_{way}": _ROUNDED for name in ("div", "fma", "rcp", "sqrt") for way in ("rz", "rd", "ru")}

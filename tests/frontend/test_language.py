"""Every public name of Triton's language is one of ours, or is refused with what to write instead."""

from __future__ import annotations

import pytest

import mytriton.language as tl
from mytriton.frontend.not_yet import LIBDEVICE, NOT_YET
from mytriton.language.extra import libdevice
from tests.frontend.support import errors, hints

#: `triton.language.__all__` of Triton 3.9.0.
TRITON = """
PropagateNan TRITON_MAX_TENSOR_NUMEL abs add arange argmax argmin associative_scan assume atomic_add atomic_and
atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg atomic_xor bfloat16
bitonic_merge block_type broadcast broadcast_to cast cat cdiv ceil clamp condition const constexpr constexpr_type cos
cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf exp exp2 expand_dims
expect_zero extra fdiv flip float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma
full gather histogram inline_asm_elementwise int1 int16 int32 int64 int8 interleave join load load_tensor_descriptor
log log2 make_block_ptr make_tensor_descriptor map_elementwise math max max_constancy max_contiguous maximum min
minimum mul multiple_of num_programs pair_uniform_to_normal permute philox philox_impl pi32_t pointer_type program_id
rand rand4x randint randint4x randn randn4x range ravel reduce reduce_or reshape rsqrt sigmoid sin slice softmax sort
split sqrt sqrt_rn squeeze static_assert static_print static_range store store_tensor_descriptor sub sum swizzle2d
target_info tensor tensor_descriptor to_tensor topk trans tuple uint16 uint32 uint64 uint8 uint_to_uniform_float
umulhi unsqueeze view void where xor_sum zeros zeros_like
"""

#: The methods of `triton.language.tensor`.
METHODS = """
T abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_load atomic_max atomic_min
atomic_or atomic_poll atomic_store atomic_xchg atomic_xor broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2
expand_dims flip floor gather histogram item log log2 logical_and logical_or max min permute ravel reduce reduce_or
reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn store sum to trans view xor_sum
"""

#: The functions of `triton.language.extra.libdevice` but for conversions (`float2int_rn`), which `.to` makes, and those
#: of other rounding (`div_rd`, `fma_ru`).
LIBDEVICE_NAMES = """
clz popc byte_perm mulhi mul24 brev sad abs floor rsqrt ceil trunc exp2 saturatef fma_rn fast_dividef div_rn rcp_rn
sqrt_rn sqrt add_rn mul_rn int_as_float float_as_int uint_as_float float_as_uint longlong_as_double double_as_longlong
fast_sinf fast_cosf fast_log2f fast_logf fast_expf fast_tanhf fast_tanf fast_exp10f fast_log10f fast_powf hadd rhadd
sub_rn rsqrt_rn ffs rint llrint nearbyint isnan signbit copysign finitef isinf nextafter sin cos sinpi cospi tan log2
exp exp10 cosh sinh tanh atan2 atan asin acos log log10 log1p acosh asinh atanh expm1 hypot rhypot norm3d rnorm3d
norm4d rnorm4d cbrt rcbrt j0 j1 y0 y1 yn jn cyl_bessel_i0 cyl_bessel_i1 erf erfinv erfc erfcx erfcinv normcdfinv
normcdf lgamma ldexp scalbn fmod remainder fma pow tgamma round llround fdim ilogb logb isfinited
"""


def test_every_name_is_supported_or_refused_with_advice():
    assert sorted(set(TRITON.split()) - set(tl.__all__) - set(NOT_YET)) == []
    assert sorted(set(LIBDEVICE_NAMES.split()) - set(libdevice.__all__) - set(LIBDEVICE)) == []
    assert {"int2float_rz", "ll2double_ru", "double2float_rd", "fma_rz", "sqrt_ru"} <= set(LIBDEVICE)
    assert sorted(set(NOT_YET) & set(tl.__all__)) == []
    assert sorted(set(LIBDEVICE) & set(libdevice.__all__)) == []
    assert all(NOT_YET.values()) and all(LIBDEVICE.values())


@pytest.mark.parametrize("name", sorted(NOT_YET))
def test_what_is_not_supported_says_so(name):
    text = f"def k(x):\n    tl.{name}"
    assert errors(text, "*fp32") == [f"3:5 MT135 `tl.{name}` is not supported yet"]
    assert hints(text, "*fp32") == [NOT_YET[name]]


@pytest.mark.parametrize("name", METHODS.split())
def test_every_method_is_known(name):
    text = f"def k(x):\n    tl.arange(0, 8)[:, None].{name}"
    try:
        found = errors(text, "*fp32")
    except AssertionError:
        return  # it is supported, and need not be called
    assert found == [f"3:5 MT135 `.{name}` is not supported yet"]
    assert hints(text, "*fp32") == [NOT_YET[name]]


@pytest.mark.parametrize("name", tl.__all__)
def test_every_function_says_what_it_means(name):
    function = getattr(tl, name)
    if not callable(function) or function in (tl.dtype, tl.pointer_type):
        return
    assert function.__doc__ and function.__doc__[0] not in "\n " and function.__doc__.rstrip().endswith(".")


def test_functions_of_the_language_are_for_kernels():
    with pytest.raises(tl.LanguageError, match=r"tl\.sum works only inside a kernel"):
        tl.sum(1)


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("tl.qqqq", "help(mytriton.language) lists what there is"),
        ("tl.extra.mlu", "every vendor's libdevice is tl.extra.libdevice here"),
        (
            "tl._experimental_descriptor_load",
            "Triton itself renamed it: make_tensor_descriptor, and d.load(offsets) of what that gives",
        ),
        ("n[:, None]", "leave an index out, or make a block first, as by tl.full"),
        ("tl.static_assert(1 > 2)", "give the constexprs in it values for which it holds"),
        ("assert n, 5", "write it in quotes, or as a constexpr that is a string"),
    ],
)
def test_every_refusal_says_what_to_do(statement, hint):
    assert hints(f"def k(n):\n    {statement}", "i32") == [hint]

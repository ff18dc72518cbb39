"""Device functions the emitted kernels call: declared before the kernel, defined after it, and only if they are used.

They hold what CUDA C++ leaves undefined or needs a header for. No function relies on undefined behaviour: the compiler
may evaluate any of them at compile time.
"""

from __future__ import annotations

from mytriton.backends.cuda import copying, float8, instructions
from mytriton.backends.cuda.atomics import half_texts
from mytriton.backends.cuda.atomics import texts as _atomic_texts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.exp2 import COEFFICIENTS, HIGHEST, LOWEST
from mytriton.target import Target
from mytriton.types import INTEGERS

#: Hints for the cache that are not the default, and have an instruction: `__ldcg`, `__stcg`.
LOAD_HINTS, STORE_HINTS = ("cg", "cs", "cv"), ("cg", "cs", "wt")

_BF16_INSTRUCTION = """\
__device__ unsigned short mt_f32_to_bf16(float x) {
    unsigned short h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}"""

# The instruction needs sm_80. NaN must be kept apart: rounding could carry it into infinity.
_BF16_INTEGER = """\
__device__ unsigned short mt_f32_to_bf16(float x) {
    unsigned bits = __float_as_uint(x);
    return x != x ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}"""

_TEXTS = {
    "mt_f16_to_f32": """\
__device__ float mt_f16_to_f32(unsigned short h) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(h));
    return x;
}""",
    "mt_f32_to_f16": """\
__device__ unsigned short mt_f32_to_f16(float x) {
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}""",
    "mt_bf16_to_f32": """\
__device__ float mt_bf16_to_f32(unsigned short h) {
    return __uint_as_float((unsigned)h << 16);
}""",
    # Rounding to odd (toward zero, then setting the last bit if anything was cut off) keeps enough for a second
    # rounding to a narrower type to give what one rounding would have given (Boldo and Melquiond, "Emulation of FMA
    # and correctly rounded sums", 2008).
    "mt_f64_to_odd": """\
__device__ float mt_f64_to_odd(double x) {
    float y = __double2float_rz(x);
    return y == x ? y : __uint_as_float(__float_as_uint(y) | 1);
}""",
    "mt_i64_to_odd": """\
__device__ float mt_i64_to_odd(long long x) {
    float y = __ll2float_rz(x);
    return __float2ll_rz(y) == x ? y : __uint_as_float(__float_as_uint(y) | 1);
}""",
    "mt_u64_to_odd": """\
__device__ float mt_u64_to_odd(unsigned long long x) {
    float y = __ull2float_rz(x);
    return __float2ull_rz(y) == x ? y : __uint_as_float(__float_as_uint(y) | 1);
}""",
    "mt_exp2": f"""\
__device__ float mt_exp2(float x) {{
    float y = x < {LOWEST}f ? {LOWEST}f : x > {HIGHEST}f ? {HIGHEST}f : x;
    float k = rintf(y), f = y - k, p = {COEFFICIENTS[-1]}f;
    {" ".join(f"p = fmaf(p, f, {c}f);" for c in COEFFICIENTS[2:-1][::-1])}
    {" ".join(f"p = fmaf(p, f, {c}f);" for c in (*COEFFICIENTS[1::-1], 1.0))}
    int exponent = k != k ? 0 : (int)k, half = exponent >> 1;
    return p * __int_as_float((half + 127) << 23) * __int_as_float((exponent - half + 127) << 23);
}}""",
    # The product of two bf16 is exact. What rounding leaves out of the sum is computed exactly (Knuth's TwoSum), and an
    # even last bit moved towards it.
    "mt_fma_to_odd": """\
__device__ double mt_fma_to_odd(double x, double y, double z) {
    double product = x * y, sum = product + z;
    double part = sum - product, error = (product - (sum - part)) + (z - part);
    long long bits = __double_as_longlong(sum);
    bool inexact = error < 0 || error > 0;
    if (!inexact || error - error != 0 || (bits & 1)) return sum;
    return __longlong_as_double((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}""",
}

# Wide accesses. None calls another: the line of a call within a call would not say for which outer call it stands.
# i1 is `bool` in registers and `unsigned char` in memory, hence two types. LOAD and STORE are the access itself. What
# is not loaded has a value before: left undefined, the compiler takes what the load before brought, and waits for it.
_WIDE_TEXTS = {
    "mt_load": """\
template <int N, class T, class M> __device__ void mt_load(T* to, const M* from) {
    mt_vector<M, N> v = LOAD;
    #pragma unroll
    for (int i = 0; i < N; ++i) to[i] = v.at[i];
}""",
    "mt_load_if": """\
template <int N, class T, class M, class O>
__device__ void mt_load_if(bool wanted, T* to, const M* from, O other) {
    mt_vector<M, N> v;
    #pragma unroll
    for (int i = 0; i < N; ++i) v.at[i] = (M)other;
    if (wanted) v = LOAD;
    #pragma unroll
    for (int i = 0; i < N; ++i) to[i] = (T)v.at[i];
}""",
    "mt_load_each": """\
template <int N, class T, class M, class O>
__device__ void mt_load_each(const bool* wanted, T* to, const M* from, O other) {
    bool all = true;
    #pragma unroll
    for (int i = 0; i < N; ++i) all = all && wanted[i];
    if (all) {
        mt_vector<M, N> v = LOAD;
        #pragma unroll
        for (int i = 0; i < N; ++i) to[i] = v.at[i];
    } else {
        #pragma unroll
        for (int i = 0; i < N; ++i) to[i] = wanted[i] ? (T)from[i] : (T)other;
    }
}""",
    "mt_store": """\
template <int N, class T, class M> __device__ void mt_store(M* to, const T* from) {
    mt_vector<M, N> v;
    #pragma unroll
    for (int i = 0; i < N; ++i) v.at[i] = from[i];
    STORE;
}""",
    "mt_store_each": """\
template <int N, class T, class M>
__device__ void mt_store_each(const bool* wanted, M* to, const T* from) {
    bool all = true;
    #pragma unroll
    for (int i = 0; i < N; ++i) all = all && wanted[i];
    if (all) {
        mt_vector<M, N> v;
        #pragma unroll
        for (int i = 0; i < N; ++i) v.at[i] = from[i];
        STORE;
    } else {
        #pragma unroll
        for (int i = 0; i < N; ++i) if (wanted[i]) to[i] = from[i];
    }
}""",
}
_TYPES = {
    "mt_vector": """\
template <class T, int N> struct alignas(sizeof(T) * N) mt_vector { T at[N]; };""",
    # What the instructions with hints for the cache move.
    "mt_word": """\
template <int N> struct mt_word { typedef unsigned short type; };
template <> struct mt_word<4> { typedef unsigned type; };
template <> struct mt_word<8> { typedef uint2 type; };
template <> struct mt_word<16> { typedef uint4 type; };""",
}
_WORD = "typename mt_word<sizeof(M) * N>::type"
_TEXTS |= _TYPES
_TEXTS |= {name: f"__device__ {text}" for name, text in (_atomic_texts() | instructions.texts()).items()}
for _name, _text in _WIDE_TEXTS.items():
    for _hint in ("", *(LOAD_HINTS if "LOAD" in _text else STORE_HINTS)):
        _load, _store = "*(const mt_vector<M, N>*)from", "*(mt_vector<M, N>*)to = v"
        if _hint:
            _load = f"__builtin_bit_cast(mt_vector<M, N>, __ld{_hint}((const {_WORD}*)from))"
            _store = f"__st{_hint}(({_WORD}*)to, __builtin_bit_cast({_WORD}, v))"
        _hinted = f"{_name}_{_hint}" if _hint else _name
        _done = _text.replace(f" {_name}(", f" {_hinted}(")
        _TEXTS[_hinted] = _done.replace("LOAD", _load).replace("STORE", _store)

# The trips of a loop: counted, because one step more than the last may be no number of the type. {0} is the type's
# name, {1} its C++ type, {2} its unsigned one.
_TRIPS = """\
__device__ {2} mt_trips_{0}({1} lower, {1} upper, {1} step) {{
    if (step > 0 && lower < upper) return (({2})upper - ({2})lower - 1) / ({2})step + 1;
    if (step < 0 && lower > upper) return (({2})lower - ({2})upper - 1) / (0 - ({2})step) + 1;
    return 0;
}}"""
_UNSIGNED_TRIPS = """\
__device__ {2} mt_trips_{0}({1} lower, {1} upper, {1} step) {{
    return step > 0 && lower < upper ? (upper - lower - 1) / step + 1 : 0;
}}"""
for _type in INTEGERS:
    if _type.bits >= 32:
        _unsigned = next(t for t in INTEGERS if t.bits == _type.bits and not t.signed)
        _trips = _TRIPS if _type.signed else _UNSIGNED_TRIPS
        _TEXTS[f"mt_trips_{_type}"] = _trips.format(_type.name, c_type(_type), c_type(_unsigned))

# fmax and fmin ignore a NaN; a sum does not.
for _name, _float in (("f32", "float"), ("f64", "double")):
    for _which in ("max", "min"):
        _TEXTS[f"mt_{_which}_nan_{_name}"] = f"""\
__device__ {_float} mt_{_which}_nan_{_name}({_float} x, {_float} y) {{
    return x != x || y != y ? x + y : f{_which}{"f" if _float == "float" else ""}(x, y);
}}"""

# Integer functions, once for each type: {0} its name, {1} its C++ type, {2} its unsigned one, {3} its last bit, {4} and
# {5} its least and greatest value; {6} to {8} the source and the instruction of a conversion.
_INTEGER_TEXTS = {
    # Spelled so that it does not become PTX's abs, whose result ptxas takes for positive: widened or converted, the
    # least integer would not be negative any more.
    "mt_abs": """\
__device__ {1} mt_abs_{0}({1} x) {{ return ({1})(({2})(x < 0 ? ~x : x) + (x < 0)); }}""",
    # x / 0 and INT_MIN / -1 are undefined in C++: any value will do here, but no undefined behaviour.
    "mt_div": """\
__device__ {1} mt_div_{0}({1} x, {1} y) {{
    return y == 0 ? 0 : y == -1 ? ({1})(0 - ({2})x) : x / y;
}}""",
    "mt_mod": """\
__device__ {1} mt_mod_{0}({1} x, {1} y) {{ return y == 0 || y == -1 ? 0 : x % y; }}""",
    # A shift by the width or more is undefined in C++.
    "mt_shl": """\
__device__ {1} mt_shl_{0}({1} x, {1} y) {{ return ({2})y > {3} ? 0 : ({1})(({2})x << y); }}""",
    "mt_shr": """\
__device__ {1} mt_shr_{0}({1} x, {1} y) {{ return x >> (({2})y > {3} ? {3} : y); }}""",
}
_UNSIGNED_TEXTS = {
    "mt_div": """\
__device__ {1} mt_div_{0}({1} x, {1} y) {{ return y == 0 ? 0 : x / y; }}""",
    "mt_mod": """\
__device__ {1} mt_mod_{0}({1} x, {1} y) {{ return y == 0 ? 0 : x % y; }}""",
    "mt_shl": _INTEGER_TEXTS["mt_shl"],
    "mt_shr": """\
__device__ {1} mt_shr_{0}({1} x, {1} y) {{ return y > {3} ? 0 : x >> y; }}""",
}
# The instruction saturates; for NaN it gives 0 only from f32 to 32 bits (PTX ISA, "cvt").
_FROM_FLOAT = """\
__device__ {1} mt_{6}_to_{0}({7} x) {{ return x != x ? 0 : {8}(x); }}"""
_NARROW_FROM_FLOAT = """\
__device__ {1} mt_{6}_to_{0}({7} x) {{
    int y = x != x ? 0 : {8}(x);
    return y < {4} ? {4} : y > {5} ? {5} : y;
}}"""
_RZ = {"i32": "int_rz", "i64": "ll_rz", "u32": "uint_rz", "u64": "ull_rz"}
for _type in INTEGERS:
    _unsigned = next(t for t in INTEGERS if t.bits == _type.bits and not t.signed)
    _about = _type.name, c_type(_type), c_type(_unsigned), _type.bits - 1, _type.low, _type.high
    for _name, _text in (_INTEGER_TEXTS if _type.signed else _UNSIGNED_TEXTS).items():
        _TEXTS[f"{_name}_{_type}"] = _text.format(*_about)
    for _short, _float in (("f32", "float"), ("f64", "double")):
        _text = _FROM_FLOAT if _type.name in _RZ else _NARROW_FROM_FLOAT
        _convert = f"__{_float}2{_RZ.get(_type.name, 'int_rz')}"
        _TEXTS[f"mt_{_short}_to_{_type}"] = _text.format(*_about, _short, _float, _convert)


class Prelude:
    """Collects the helper functions of one kernel."""

    def __init__(self, target: Target) -> None:
        generation = target.generation
        self._texts = {**_TEXTS, "mt_f32_to_bf16": _BF16_INSTRUCTION if generation >= 80 else _BF16_INTEGER}
        self._texts |= float8.texts(generation >= 89) | copying.texts()
        self._texts |= {name: f"__device__ {text}" for name, text in half_texts(generation >= 90).items()}
        self._used: dict[str, None] = {}

    def define(self, function: str, text: str) -> None:
        """Have a function of which there are too many to have all of them."""
        self._texts[function] = text

    def call(self, function: str, *arguments: str, width: int | None = None, hint: str = "") -> str:
        """The text of a call, `mt_load<4>(...)` with a width, `mt_load_cg<4>(...)` with a hint of `HINTS` as well; the
        function will be declared and defined."""
        if width is not None:
            self._used["mt_vector"] = None
        if hint:
            self._used["mt_word"] = None
            function = f"{function}_{hint}"
        assert function in self._texts, function
        self._used[function] = None
        return f"{function}{'' if width is None else f'<{width}>'}({', '.join(arguments)})"

    @property
    def used(self) -> dict[str, str]:
        """The definitions of the functions called so far, and of the types that they need, by name."""
        return {name: self._texts[name] for name in self._used}

"""C++ names for what the author named. Different Python names never get one C++ name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from mytriton.backends.cuda.variables import Scope, Variable
from mytriton.ir.core import Func

_KEYWORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await
co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do
double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
"""

#: Names the emitted text relies on; a parameter of the same name would hide them.
_USED = """
threadIdx blockIdx blockDim gridDim warpSize r lane part round kk next printf max min
expf exp logf log sqrtf sqrt fabsf fabs fmaxf fmax fminf fmin
fmodf fmod exp2f exp2 log2f log2 rsqrtf rsqrt sinf sin cosf cos tanhf tanh erff erf floorf floor ceilf ceil powf pow
fmaf fma rintf main linux unix NULL
"""

#: Functions that NVRTC declares, each also with an `f` behind its name: no kernel can be called so.
_DECLARED = """
abs acos acosh asin asinh atan atan2 atanh cbrt copysign cosh cospi cyl_bessel_i0 cyl_bessel_i1 erfc erfcinv erfcx
erfinv exp10 expm1 fdim fdivide frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log10 log1p logb lrint lround
modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv rcbrt remainder remquo rhypot rint rnorm rnorm3d
rnorm4d round scalbln scalbn sincos sincospi sinh sinpi tan tgamma trunc y0 y1 yn
"""
_OTHERS_DECLARED = """
labs llabs ullmin ullmax llmin llmax umin umax clock clock64 malloc free assert dim3 size_t ptrdiff_t clock_t va_list
std
"""

_RESERVED = frozenset((_KEYWORDS + _USED).split())
# `v3`, `vc3` and `v3_...` name values and what belongs to them, `mt_...` helper functions, `p_...` names mangled here;
# `__...` and `_X...` are reserved.
_OURS = re.compile(r"vc?\d+(_.*)?|mt_.*|p_.*|_[A-Z_].*|.*__.*")
_NOT_FOR_KERNELS = frozenset([*_OTHERS_DECLARED.split(), *(n + f for n in _DECLARED.split() for f in ("", "f"))])
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mangle(name: str) -> str:
    """`name` itself if it is a C++ identifier without a meaning of its own; else `p_` and the name with every
    character but ASCII letters and digits written as its code point: `float` -> `p_float`, `α` -> `p__3b1_`."""
    if _PLAIN.fullmatch(name) and name not in _RESERVED and not _OURS.fullmatch(name):
        return name
    return _escape(name)


def mangle_kernel(name: str) -> str:
    """As `mangle`, for the kernel itself."""
    return _escape(name) if name in _NOT_FOR_KERNELS else mangle(name)


def _escape(name: str) -> str:
    return "p_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in name)


def variable_names(func: Func, variables: Sequence[Variable], use_hints: bool) -> dict[Variable, str]:
    """The name of every variable: `v3` for the first of its values, `%3`, or the author's own name (tuned form) where
    it is legal and no other variable that could be meant there has it."""
    claims: dict[str, list[Variable]] = {}
    for variable in variables if use_hints else ():
        for hint in variable.hints:
            if mangle(hint) == hint:
                claims.setdefault(hint, []).append(variable)
    parameters = {p.id for p in func.params}
    owners = {hint: _owners(claimants) for hint, claimants in claims.items() if hint not in parameters}
    names = {}
    for variable in variables:
        own = (hint for hint in variable.hints if variable in owners.get(hint, ()))
        names[variable] = next(own, "v" + variable.values[0].id.removeprefix("%"))
    return names


def _owners(claimants: Sequence[Variable]) -> set[Variable]:
    """Of the variables that want a name those that may have it: where it can mean no other of them. Carried ones go
    before: they are what the author's name stands for from one trip to the next."""
    claimants = [v for v in claimants if v.carried] or claimants
    count = Counter(v.scope for v in claimants)
    around = {v.scope[:length] for v in claimants for length in range(len(v.scope))}

    def is_apart(scope: Scope) -> bool:
        outer = any(scope[:length] in count for length in range(len(scope)))
        return count[scope] == 1 and scope not in around and not outer

    return {v for v in claimants if is_apart(v.scope)}

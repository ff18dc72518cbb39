"""C++ names for what the author named. Different Python names never get one C++ name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable

from mytriton.ir.core import Func, Value

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
threadIdx blockIdx blockDim gridDim warpSize r max min expf exp logf log sqrtf sqrt fabsf fabs fmaxf fmax fminf fmin
fmodf fmod exp2f exp2 log2f log2 rsqrtf rsqrt sinf sin cosf cos tanhf tanh erff erf floorf floor ceilf ceil powf pow
fmaf fma rintf main linux unix
"""

_RESERVED = frozenset((_KEYWORDS + _USED).split())
# `v3` and `vc3` name values, `mt_...` helper functions, `p_...` names mangled here; `__...` and `_X...` are reserved.
_OURS = re.compile(r"vc?\d+|mt_.*|p_.*|_[A-Z_].*|.*__.*")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def mangle(name: str) -> str:
    """`name` itself if it is a C++ identifier without a meaning of its own; else `p_` and the name with every
    character but ASCII letters and digits written as its code point: `float` -> `p_float`, `α` -> `p__3b1_`."""
    if _PLAIN.fullmatch(name) and name not in _RESERVED and not _OURS.fullmatch(name):
        return name
    return "p_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in name)


def value_names(func: Func, values: Iterable[Value], use_hints: bool) -> Callable[[Value], str]:
    """The naming of a function's values: parameters by their mangled name, others `v3` for `%3`, or the author's own
    name (tuned form) where it is legal and no other value has it."""
    values = list(values)
    taken = Counter([p.id for p in func.params] + [v.hint for v in values])
    unique = {hint for hint, count in taken.items() if count == 1} if use_hints else set()
    names = {p: mangle(p.id) for p in func.params}
    for value in values:
        own = value.hint in unique and mangle(value.hint) == value.hint
        names[value] = value.hint if own else "v" + value.id.removeprefix("%")
    return names.__getitem__

"""The language of kernels: `import mytriton.language as tl`.

These functions are read by the compiler, never run: calling one outside a kernel raises `LanguageError`. Each says
what it means on every backend. A *block* is a tile of elements of one type, with any number of axes whose extents are
powers of two, at most 2**20 elements in all; a scalar has no axes. Wherever blocks meet, they broadcast as in NumPy:
a scalar stands for all elements, missing axes are added in front, and axes of extent 1 repeat.

Operators on blocks and scalars
    + - *        both sides are converted to one type: the higher kind wins (bool < int < float), then the wider type,
                 and unsigned at equal width; bfloat16 with float16 or an integer gives float32; two different floats
                 of 8 bits give float16, one of them with itself, bfloat16 or an integer float32; a Python number or
                 constexpr does not widen the other side. Integers wrap at their width, floats are correctly rounded;
                 bool counts as int32, but the product of two is a bool, as in Triton: their `&`.
    /            true division, correctly rounded; integers become float32; float16 and bfloat16 give float32.
    // %         integers: truncates toward zero, the remainder has the dividend's sign (as in C and Triton); by zero
                 any value, never a trap; both sides must be signed, or both unsigned. `%` of floats is C's
                 fmod (float16 and bfloat16 give float32). Two constexprs follow Python: floor.
    & | ^ ~      bitwise, of integers and bools.
    << >>        shifts; bool counts as int32. `>>` keeps the sign of a signed left side and fills with zeros for an
                 unsigned one. By the width or more: 0, or all sign bits. The amount counts as unsigned, so a negative
                 one is more than the width.
    < <= == ...  bool, after the same promotion; NaN is unequal to everything.
    pointer + n  moves a pointer by n elements; n is an integer scalar or block, signed or not. Offsets are computed in
                 their own type: an int32 product wraps, so widen one side for more than 2**31 elements.
    x[:, None]   `:` keeps an axis, `None` adds one of extent 1; axes that are not named stay. There is no other index.
    x.to(dtype)  converts elements: float to integer truncates toward zero, saturates (a negative one to 0 in an
                 unsigned type), NaN gives 0; integers wrap;
                 narrower floats round to nearest even, and to float8e4nv and float8e5 saturate: what is beyond 448
                 or 57344, infinity too, becomes that, and NaN stays NaN; to bool is `!= 0`. `bitcast=True` keeps the
                 bits instead.
    and or not   of scalars and, elementwise, of blocks: a number counts as true unless it is 0. Both sides of a
                 run-time one are computed.
    x if c else y  with a run-time scalar c: only the side that is chosen is computed, and both are promoted to one
                 type; where c is a constexpr the other side need not even have a meaning.

Statements
    if           on a run-time scalar is a branch: a name is defined after it if both branches give it one type. On a
                 constexpr it is decided by the compiler, and the branch that is not taken need not have a meaning.
    for          over range or tl.range is a loop at run time, whose variable is not known to the compiler; over
                 tl.static_range it is unrolled, and its variable is a constexpr.
    while        tests before each trip. `break` and `continue` are not part of the language.
    names        that have a value before a loop and are assigned in it are carried from trip to trip, and keep their
                 type; names bound only inside a loop or one branch are not defined after it.
    return       anywhere but in a run-time loop. A function called by kernels returns values, or tuples of them, of
                 one type on all run-time paths.
    f(x, y=1)    calls another `@jit` function, which is inlined; recursion is an error. A Python function that is
                 decorated with `constexpr_function` is called by the compiler, with constexprs.
    assert       stops the launch with its message; like tl.device_assert it is always checked.
    print        is tl.device_print.
    x = 3        gives a number the type it has at run time (int32, float32, ...): it takes part in promotion, and
                 arithmetic with it is that of run-time values. It still serves where a constexpr is needed.
    x: tl.constexpr = 3  declares a constexpr, which no run-time branch or loop may change.

Known at compile time
    x.dtype, x.type, x.shape, x.numel; pointer.dtype.element_ty; and of a dtype `is_floating()`, `is_int()`,
    `is_int_signed()`, `is_fp16()` and so on, `primitive_bitwidth`, `itemsize`, `name`, `==`, as in Triton. `x.T` is
    `tl.trans(x)`. Most functions of one block are methods too: `x.sum(axis=0)`, `x.reshape(4, 8)`.

A multiplication followed by an addition may be fused into one operation with one rounding on `cuda`, `mlir` and
`cpu`, unless the kernel is launched with `enable_fp_fusion=False`.
"""

from __future__ import annotations

from typing import Any

from mytriton import types
from mytriton.language import core, extra, math, standard
from mytriton.language.assembly import inline_asm_elementwise
from mytriton.language.atomics import (
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_max,
    atomic_min,
    atomic_or,
    atomic_xchg,
    atomic_xor,
)
from mytriton.language.compile_time import constexpr_function
from mytriton.language.debugging import device_assert, device_print, static_assert, static_print
from mytriton.language.dots import dot, dot_scaled
from mytriton.language.elementwise import (
    add,
    cast,
    cdiv,
    map_elementwise,
    maximum,
    minimum,
    mul,
    sub,
    swizzle2d,
    to_tensor,
    where,
)
from mytriton.language.kernel_only import LanguageError as LanguageError
from mytriton.language.kernel_only import kernel_only
from mytriton.language.lookups import gather, histogram
from mytriton.language.math import (
    PropagateNan,
    abs,
    ceil,
    clamp,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    fdiv,
    floor,
    fma,
    log,
    log2,
    pow,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    sqrt_rn,
    tanh,
    umulhi,
)
from mytriton.language.memory import (
    assume,
    debug_barrier,
    load,
    max_constancy,
    max_contiguous,
    multiple_of,
    store,
)
from mytriton.language.orders import bitonic_merge, cat, flip, interleave, join, sort, split, topk
from mytriton.language.randoms import (
    pair_uniform_to_normal,
    philox,
    philox_impl,
    rand,
    rand4x,
    randint,
    randint4x,
    randn,
    randn4x,
    uint_to_uniform_float,
)
from mytriton.language.reductions import argmax, argmin, max, min, reduce_or, softmax, sum, xor_sum
from mytriton.language.scans import associative_scan, cumprod, cumsum, reduce
from mytriton.language.shapes import (
    arange,
    broadcast,
    broadcast_to,
    expand_dims,
    full,
    permute,
    ravel,
    reshape,
    squeeze,
    trans,
    unsqueeze,
    view,
    zeros,
    zeros_like,
)
from mytriton.language.windows import (
    advance,
    load_tensor_descriptor,
    make_block_ptr,
    make_tensor_descriptor,
    store_tensor_descriptor,
)

__all__ = [
    "TRITON_MAX_TENSOR_NUMEL",
    "PropagateNan",
    "abs",
    "add",
    "advance",
    "arange",
    "argmax",
    "argmin",
    "associative_scan",
    "assume",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
    "bfloat16",
    "bitonic_merge",
    "broadcast",
    "broadcast_to",
    "cast",
    "cat",
    "cdiv",
    "ceil",
    "clamp",
    "constexpr",
    "constexpr_function",
    "core",
    "cos",
    "cumprod",
    "cumsum",
    "debug_barrier",
    "device_assert",
    "device_print",
    "div_rn",
    "dot",
    "dot_scaled",
    "dtype",
    "erf",
    "exp",
    "exp2",
    "expand_dims",
    "extra",
    "fdiv",
    "flip",
    "float8e4nv",
    "float8e5",
    "float16",
    "float32",
    "float64",
    "floor",
    "fma",
    "full",
    "gather",
    "histogram",
    "inline_asm_elementwise",
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "interleave",
    "join",
    "load",
    "load_tensor_descriptor",
    "log",
    "log2",
    "make_block_ptr",
    "make_tensor_descriptor",
    "map_elementwise",
    "math",
    "max",
    "max_constancy",
    "max_contiguous",
    "maximum",
    "min",
    "minimum",
    "mul",
    "multiple_of",
    "num_programs",
    "pair_uniform_to_normal",
    "permute",
    "philox",
    "philox_impl",
    "pi32_t",
    "pointer_type",
    "pow",
    "program_id",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "range",
    "ravel",
    "reduce",
    "reduce_or",
    "reshape",
    "rsqrt",
    "sigmoid",
    "sin",
    "softmax",
    "sort",
    "split",
    "sqrt",
    "sqrt_rn",
    "squeeze",
    "standard",
    "static_assert",
    "static_print",
    "static_range",
    "store",
    "store_tensor_descriptor",
    "sub",
    "sum",
    "swizzle2d",
    "tanh",
    "to_tensor",
    "topk",
    "trans",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint_to_uniform_float",
    "umulhi",
    "unsqueeze",
    "view",
    "where",
    "xor_sum",
    "zeros",
    "zeros_like",
]

int1 = types.i1
int8 = types.i8
int16 = types.i16
int32 = types.i32
int64 = types.i64
uint8 = types.u8
uint16 = types.u16
uint32 = types.u32
uint64 = types.u64
float8e4nv = types.f8e4nv
float8e5 = types.f8e5
float16 = types.f16
bfloat16 = types.bf16
float32 = types.f32
float64 = types.f64

#: The class of these, for annotations; `tl.dtype("fp32")` in a kernel is `tl.float32`.
dtype = types.ScalarType
#: `tl.pointer_type(tl.float32)`: the type of a pointer to float32, for `pointer.to(...)`.
pointer_type = types.PointerType

pi32_t = pointer_type(int32)

#: A block may have this many elements at most.
TRITON_MAX_TENSOR_NUMEL = 2**20


class constexpr:
    """Marks a parameter (`BLOCK: tl.constexpr`) or a module's constant (`SCALE = tl.constexpr(0.5)`) as known at
    compile time. Its value is part of the kernel's cache key, so a changed global recompiles and is never stale. Above
    a Python function, `@tl.constexpr` is `constexpr_function`."""

    __slots__ = ("value",)
    value: Any

    def __init__(self, value: Any) -> None:
        self.value = value.value if isinstance(value, constexpr) else value

    def __repr__(self) -> str:
        return f"constexpr({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return bool(self.value == (other.value if isinstance(other, constexpr) else other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value.__index__())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.value(*args, **keywords)

    def __float__(self) -> float:
        return float(self.value)


def program_id(axis: int) -> Any:
    """This program's position along `axis` (0, 1 or 2; a constexpr) of the launch grid: an int32 scalar."""
    kernel_only("program_id")


def num_programs(axis: int) -> Any:
    """The extent of `axis` (0, 1 or 2; a constexpr) of the launch grid: an int32 scalar."""
    kernel_only("num_programs")


def range(start: Any, end: Any = None, step: Any = 1, **hints: Any) -> Any:
    """Python's `range` for a `for` loop that runs at run time; bounds and step are integers of any type, and the loop
    variable has the type they promote to. A negative step counts down, a constexpr step 0 is an error, and a run-time
    step 0 stops the launch as `device_assert` does. A name that is assigned in the loop and has a value before it keeps
    its type; the other names assigned in it, and the variable, are not defined after it. `num_stages`
    is the number of buffers into which blocks are loaded ahead that `dot` takes, if it is not the launch's;
    `loop_unroll_factor`, `flatten`, `warp_specialize`, `disallow_acc_multi_buffer` and `disable_licm` are accepted as
    advice and change no result."""
    kernel_only("range")


def static_range(start: int, end: int | None = None, step: int = 1) -> Any:
    """`range` with constexpr bounds for a `for` loop that is unrolled at compile time. A negative step counts down,
    step 0 is an error; the loop's names are not defined after it."""
    kernel_only("static_range")


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least `n` (1 for n < 2): block sizes must be powers of two."""
    return 1 if n < 2 else 1 << (int(n) - 1).bit_length()

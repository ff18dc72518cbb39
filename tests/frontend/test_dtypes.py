"""What kernels ask of types and shapes, answered at compile time."""

from __future__ import annotations

import pytest

from tests.frontend.support import lowered

#: Compile-time questions, in a kernel with p (*fp16), b (a block of 4 x 8 f32 pointers), n (i32), u (u8), t (bool):
#: each must be true.
QUESTIONS = """
p.dtype == tl.pointer_type(tl.float16)
p.dtype.element_ty == tl.float16
p.type.element_ty == tl.float16
p.dtype.is_ptr()
not p.dtype.is_floating()
p.dtype.element_ty.is_fp16()
p.dtype.scalar == p.dtype
b.dtype.element_ty == tl.float32
b.type.element_ty.element_ty == tl.float32
b.type.scalar == b.dtype
b.type.is_block()
b.type.shape == (4, 8)
b.type.get_block_shapes() == (4, 8)
b.type.numel == 32
b.shape == (4, 8)
b.shape[0] == 4
b.shape[-1] == 8
len(b.shape) == 2
len((n, u, t)) == 3
b.numel == 32
n.numel == 1
n.shape == ()
n.type == tl.int32
not n.type.is_block()
n.dtype != tl.int64
n.dtype in (tl.int32, tl.int64)
n.dtype.is_int()
n.dtype.is_int_signed()
n.dtype.is_int32()
not n.dtype.is_floating()
n.dtype.primitive_bitwidth == 32
n.dtype.int_bitwidth == 32
n.dtype.itemsize == 4
n.dtype.name == "int32"
n.dtype.get_int_max_value() == 2147483647
u.dtype.is_int_unsigned()
u.dtype.is_uint8()
u.dtype.get_int_max_value() == 255
u.dtype.get_int_min_value() == 0
u.dtype.name == "uint8"
t.dtype.is_bool()
t.dtype.is_int1()
t.dtype.is_int()
t.dtype.is_int_unsigned()
t.dtype.primitive_bitwidth == 1
tl.load(b).dtype.is_floating()
tl.load(b).dtype.is_standard_floating()
not tl.load(b).dtype.is_fp8()
not tl.load(b).dtype.is_fp8e4nv()
tl.load(b).dtype.is_fp32()
tl.load(b).dtype.name == "fp32"
tl.load(b).dtype.fp_mantissa_width == 23
tl.load(b).type.with_element_ty(tl.int8) == (tl.load(b) > 0).to(tl.int8).type
tl.bfloat16.is_bf16()
tl.float8e4nv.is_fp8() and tl.float8e4nv.is_fp8e4nv() and not tl.float8e5.is_fp8e4nv()
tl.float8e5.is_floating() and not tl.float8e5.is_standard_floating()
tl.float8e4nv.fp_mantissa_width == 3 and tl.float8e5.exponent_bias == 15
tl.dtype("fp8e5") == tl.float8e5 and tl.float8e4nv.name == "fp8e4nv"
(tl.zeros((4,), tl.float8e5) + tl.zeros((4,), tl.float8e5)).dtype == tl.float32
(tl.zeros((4,), tl.float8e5) * tl.zeros((4,), tl.float8e4nv)).dtype == tl.float16
(tl.zeros((4,), tl.float8e5) * tl.zeros((4,), tl.float16)).dtype == tl.float16
(tl.zeros((4,), tl.float8e5) * tl.zeros((4,), tl.bfloat16)).dtype == tl.float32
(tl.zeros((4,), tl.float8e5) * n).dtype == tl.float32
(tl.zeros((4,), tl.float8e5) * 2.0).dtype == tl.float32
tl.abs(tl.zeros((4,), tl.float8e5)).dtype == tl.float8e5
tl.where(tl.arange(0, 4) > n, tl.zeros((4,), tl.float8e5), 1.0).dtype == tl.float8e5
tl.sort(tl.zeros((4,), tl.float8e5)).dtype == tl.float8e5
tl.sum(tl.zeros((4,), tl.float8e5)).dtype == tl.float32
tl.exp(tl.zeros((4,), tl.float8e5)).dtype == tl.float32
tl.bfloat16.fp_mantissa_width == 7
tl.float64.primitive_bitwidth == 64
tl.float32.scalar == tl.float32
tl.dtype("fp32") == tl.float32
tl.dtype("int1") == tl.int1
tl.pi32_t.element_ty == tl.int32
(n + tl.zeros((4,), tl.float32)).dtype == tl.float32
tl.PropagateNan.ALL != tl.PropagateNan.NONE
K.value == 5
n.dtype.value == tl.int32
n.to(tl.int32, fp_downcast_rounding="rtne").dtype == tl.int32
tl.TRITON_MAX_TENSOR_NUMEL == 1048576
"""


@pytest.mark.parametrize("question", QUESTIONS.strip().split("\n"))
def test_types_are_asked_at_compile_time(question):
    text = f"""
    def k(p, q, n, u, t, K: tl.constexpr):
        b = q + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)
        answer: tl.constexpr = {question}
        if answer:
            pass
        else:
            tl.store(p, false)
    """
    lowered(text, "*fp16, *fp32, i32, u8, i1, 5")

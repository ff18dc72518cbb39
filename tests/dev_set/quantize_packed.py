"""T4 pytorch/FBGEMM `_kernel_quantize_fp8_packed_row`: rows to 8-bit floats: the largest magnitude, scaling, clamping
and the cast; three coordinates of one program number; the scale's bytes taken apart by shifts and stored one by one."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def bits_of(scale):
    return tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,f", [scale], dtype=tl.uint32, is_pure=True, pack=1)


@triton.jit
def quantize_packed_kernel(
    A, A_fp8, packed_scale, scale_ub, zero_start, B, M, N, K,
    stride_ab, stride_am, stride_an, stride_ak, stride_ob, stride_om, stride_on, stride_ok, packed_stride,
    MAX_FP8: tl.constexpr, EPS: tl.constexpr, CLAMP_MAX: tl.constexpr, JAGGED: tl.constexpr,
    BLOCK: tl.constexpr, USE_INT64: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    if USE_INT64:
        pid = pid.to(tl.int64)
    n = tl.arange(0, BLOCK)
    b, m, i = pid // (M * N) % B, pid // N % M, pid % N
    source = A + b * stride_ab + m * stride_am + i * stride_an
    target = A_fp8 + b * stride_ob + m * stride_om + i * stride_on
    rows = K
    if JAGGED:
        rows = tl.minimum(K, tl.load(zero_start + b))
    largest = 0.0
    for start in range(tl.cdiv(rows, BLOCK)):
        offs = start * BLOCK + n
        a = tl.load(source + offs * stride_ak, mask=offs < rows, other=0.0)
        largest = tl.maximum(largest, tl.max(tl.abs(a)).to(tl.float32))
    if CLAMP_MAX:
        largest = tl.clamp(largest, EPS, tl.load(scale_ub))
    else:
        largest = tl.maximum(largest, EPS)
    scale = MAX_FP8 / largest
    bits = bits_of(1.0 / scale)
    bytes = packed_scale.to(tl.pointer_type(tl.uint8)) + pid * packed_stride
    tl.store(bytes, (bits & 0xFF).to(tl.uint8))
    tl.store(bytes + 1, ((bits >> 8) & 0xFF).to(tl.uint8))
    tl.store(bytes + 2, ((bits >> 16) & 0xFF).to(tl.uint8))
    tl.store(bytes + 3, ((bits >> 24) & 0xFF).to(tl.uint8))
    for start in range(tl.cdiv(K, BLOCK)):
        offs = start * BLOCK + n
        a = tl.load(source + offs * stride_ak, mask=offs < rows, other=0.0)
        scaled = tl.clamp(a * scale, -MAX_FP8, MAX_FP8)
        tl.store(target + offs * stride_ok, scaled.to(A_fp8.dtype.element_ty), mask=offs < K)


@quantize_packed_kernel.example(shape=(2, 3, 2, 70))
def quantize_packed(shape):
    b, m, n, k = shape
    a = np.random.default_rng(0).standard_normal(shape).astype(ml_dtypes.bfloat16)
    steps = [s // a.itemsize for s in a.strides]
    args = {"A": a, "A_fp8": np.zeros(shape, ml_dtypes.float8_e4m3fn), "packed_scale": np.zeros(b * m * n, np.float32)}
    args |= {"scale_ub": np.array([1200.0], np.float32), "zero_start": np.array([k, k - 7], np.int32)}
    args |= {"B": b, "M": m, "N": n, "K": k, "packed_stride": 4}
    args |= {f"stride_{side}{axis}": step for side in "ao" for axis, step in zip("bmnk", steps, strict=True)}
    args |= {"MAX_FP8": 448.0, "EPS": 1e-12, "CLAMP_MAX": True, "JAGGED": True}
    # As the interpreter does not know the instruction, NumPy is the reference.
    loaded = np.where(np.arange(k) < args["zero_start"][:, None, None, None], a.astype(np.float32), 0)
    largest = np.abs(loaded).max(-1, keepdims=True)
    scale = np.float32(448) / np.clip(largest, np.float32(1e-12), np.float32(1200))
    quantized = np.clip(loaded * scale, -448, 448).astype(ml_dtypes.float8_e4m3fn)
    return triton.Example(
        args={**args, "BLOCK": 32, "USE_INT64": False},
        grid=b * m * n,
        expected={"packed_scale": (np.float32(1) / scale).reshape(-1), "A_fp8": quantized},
    )

"""T3 huggingface/kernels-community `fused_final_kernel`: statistics of a layer norm on the way, a gate, a product of
matrices; numbers of tiles taken apart by // and %, blocks of one and two dimensions, a transposed store."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def norm_gate_matmul_kernel(
    In, Gate, NormW, NormB, ProjW, Out, M, H, D, s1,
    stride_in_h, stride_in_row, stride_gate_m, stride_gate_h, stride_proj_d, stride_proj_h, stride_out_m, stride_out_d,
    EPS: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    pid_m, pid_n = tl.cdiv(M, BLOCK_M), tl.cdiv(D, BLOCK_N)
    in_group = GROUP_M * pid_n
    first = pid // in_group * GROUP_M
    size = min(pid_m - first, GROUP_M)
    tile_m = first + (pid % in_group) % size
    tile_n = (pid % in_group) // size
    m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = (m // s1) * s1 + m % s1
    total = tl.zeros([BLOCK_M], dtype=tl.float32)
    squares = tl.zeros([BLOCK_M], dtype=tl.float32)
    for start in range(0, H, BLOCK_K):
        h = start + tl.arange(0, BLOCK_K)
        mask = (m < M)[:, None] & (h < H)[None, :]
        x = tl.load(In + rows[:, None] * stride_in_row + h[None, :] * stride_in_h, mask=mask, other=0.0)
        total += tl.sum(x, axis=1)
        squares += tl.sum(x * x, axis=1)
    mean = total / H
    rstd = tl.rsqrt(squares / H - mean * mean + EPS)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for start in range(0, H, BLOCK_K):
        h = start + tl.arange(0, BLOCK_K)
        mask = (m < M)[:, None] & (h < H)[None, :]
        x = tl.load(In + rows[:, None] * stride_in_row + h[None, :] * stride_in_h, mask=mask, other=0.0)
        w, b = tl.load(NormW + h, mask=h < H, other=0.0), tl.load(NormB + h, mask=h < H, other=0.0)
        gate = tl.load(Gate + m[:, None] * stride_gate_m + h[None, :] * stride_gate_h, mask=mask, other=0.0)
        x = ((x - mean[:, None]) * rstd[:, None] * w[None, :] + b[None, :]) * gate
        p = tl.load(
            ProjW + n[None, :] * stride_proj_d + h[:, None] * stride_proj_h,
            mask=(n < D)[None, :] & (h < H)[:, None],
            other=0.0,
        )
        acc += tl.dot(x.to(p.dtype), p)
    target = Out + n[:, None] * stride_out_d + m[None, :] * stride_out_m
    tl.store(target, tl.trans(acc), mask=(n < D)[:, None] & (m < M)[None, :])


@norm_gate_matmul_kernel.example(m=40, h=24, d=20)
def norm_gate_matmul(m, h, d):
    rng = np.random.default_rng(0)
    x, gate = rng.standard_normal((2, m, h), dtype=np.float32)
    w, b = rng.standard_normal((2, h), dtype=np.float32)
    args = {"In": x, "Gate": gate, "NormW": w, "NormB": b, "ProjW": rng.standard_normal((d, h), dtype=np.float32)}
    args |= {"Out": np.zeros((d, m), np.float32), "M": m, "H": h, "D": d, "s1": 8, "stride_in_h": 1, "stride_in_row": h}
    args |= {"stride_gate_m": h, "stride_gate_h": 1, "stride_proj_d": h, "stride_proj_h": 1, "stride_out_m": 1}
    args |= {"stride_out_d": m, "EPS": 1e-5, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 8}
    # Factors of float32 may be rounded to tf32; sums of 24 products of numbers around 3 are stored.
    return triton.Example(args=args, grid=triton.cdiv(m, 16) * triton.cdiv(d, 16), rtol=2e-3, atol=4e-2)

"""T3 state-spaces/mamba `mamba3_siso_bwd_kernel_dk_state_post`: a rotation of neighbouring pairs backwards: reshape to
[n, 2], split, sine and cosine by inline assembly in a helper, join, atomic additions of a masked vector."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def fast_sin_cos(angle):
    sine = tl.inline_asm_elementwise("sin.approx.f32 $0, $1;", "=f,f", [angle], dtype=tl.float32, is_pure=True, pack=1)
    cosine = tl.inline_asm_elementwise(
        "cos.approx.f32 $0, $1;", "=f,f", [angle], dtype=tl.float32, is_pure=True, pack=1
    )
    return sine, cosine


@triton.jit
def rotary_backward_kernel(
    dK_state, Angles, K, K_bias, cu_seqlens, dK, dK_bias, dAngles,
    stride_seq, stride_head, stride_angle_seq, seqlen, dim, angles,
    DIM: tl.constexpr, GQA: tl.constexpr, IS_VARLEN: tl.constexpr,
):  # fmt: skip
    t, head = tl.program_id(0), tl.program_id(1)
    if IS_VARLEN:
        t += tl.load(cu_seqlens + tl.program_id(2))
    d = tl.arange(0, DIM)
    half = tl.arange(0, DIM // 2)
    mask = d < dim
    offs = t * stride_seq + head * stride_head + d
    gradient = tl.load(dK_state + offs, mask=mask, other=0.0)
    k = tl.load(K + t * stride_seq + head // GQA * stride_head + d, mask=mask, other=0.0)
    k += tl.load(K_bias + head * dim + d, mask=mask, other=0.0)
    angle = tl.load(Angles + t * stride_angle_seq + half, mask=half < angles, other=0.0)
    sine, cosine = fast_sin_cos(angle)
    g0, g1 = tl.split(tl.reshape(gradient, [DIM // 2, 2]))
    k0, k1 = tl.split(tl.reshape(k, [DIM // 2, 2]))
    dk = tl.reshape(tl.join(g0 * cosine + g1 * sine, g1 * cosine - g0 * sine), [DIM])
    tl.store(dK + offs, dk, mask=mask)
    tl.atomic_add(dK_bias + head * dim + d, dk, mask=mask)
    dangle = g1 * (k0 * cosine - k1 * sine) - g0 * (k0 * sine + k1 * cosine)
    tl.atomic_add(dAngles + t * stride_angle_seq + half, dangle, mask=half < angles)


@rotary_backward_kernel.example(time=5, heads=2)
def rotary_backward(time, heads):
    rng = np.random.default_rng(0)
    dim, angles = 12, 6
    args = {"dK_state": rng.standard_normal((time, heads, dim), dtype=np.float32)}
    args |= {"Angles": rng.random((time, angles), np.float32)}
    args |= {"K": rng.standard_normal((time, heads, dim), dtype=np.float32)}
    args |= {"K_bias": rng.standard_normal((heads, dim), dtype=np.float32), "cu_seqlens": np.array([0, time], np.int32)}
    args |= {"dK": np.zeros_like(args["K"]), "dK_bias": np.zeros_like(args["K_bias"])}
    args |= {"dAngles": np.zeros_like(args["Angles"]), "stride_seq": heads * dim, "stride_head": dim}
    args |= {"stride_angle_seq": angles, "seqlen": time, "dim": dim, "angles": angles}
    # As the interpreter does not know the instructions, NumPy is the reference; theirs are good to 2**-21 or so.
    sine, cosine = np.sin(args["Angles"])[:, None], np.cos(args["Angles"])[:, None]
    g0, g1 = args["dK_state"][..., ::2], args["dK_state"][..., 1::2]
    k0, k1 = (args["K"] + args["K_bias"])[..., ::2], (args["K"] + args["K_bias"])[..., 1::2]
    dk = np.stack([g0 * cosine + g1 * sine, g1 * cosine - g0 * sine], -1).reshape(args["K"].shape)
    dangles = (g1 * (k0 * cosine - k1 * sine) - g0 * (k0 * sine + k1 * cosine)).sum(1)
    return triton.Example(
        args={**args, "DIM": 16, "GQA": 1, "IS_VARLEN": True},
        grid=(time, heads),
        expected={"dK": dk, "dK_bias": dk.sum(0), "dAngles": dangles},
        rtol=1e-4,
        atol=1e-5,
    )

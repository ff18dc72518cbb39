"""T2 thunlp/TritonBench `fused_recurrent_retention_fwd_kernel`: a recurrence over time that carries a tile and four
moving pointers; outer products, a sum over axis 1, the state read before and written after by constexpr flags."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def recurrent_retention_kernel(
    q, k, v, o, initial_state, final_state,
    s_qk_h, s_qk_t, s_qk_d, s_vo_h, s_vo_t, s_vo_d, B, H, T, scale,
    BK: tl.constexpr, BV: tl.constexpr, DK: tl.constexpr, DV: tl.constexpr,
    USE_INITIAL_STATE: tl.constexpr, STORE_FINAL_STATE: tl.constexpr,
):  # fmt: skip
    i_v, i_k, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    i_h = i_bh % H
    decay = 1 - tl.math.exp2(-5 - i_h * 1.0)
    p_q = q + i_bh * s_qk_h + i_k * BK + tl.arange(0, BK)
    p_k = k + i_bh * s_qk_h + i_k * BK + tl.arange(0, BK)
    p_v = v + i_bh * s_vo_h + i_v * BV + tl.arange(0, BV)
    p_o = o + (i_bh + i_k * B * H) * s_vo_h + i_v * BV + tl.arange(0, BV)
    mask_k = (i_k * BK + tl.arange(0, BK)) < DK
    mask_v = (i_v * BV + tl.arange(0, BV)) < DV
    mask_state = mask_k[None, :] & mask_v[:, None]
    state = tl.zeros([BV, BK], dtype=tl.float32)
    offs_k, offs_v = i_k * BK + tl.arange(0, BK)[None, :], i_v * BV + tl.arange(0, BV)[:, None]
    if USE_INITIAL_STATE:
        p_init = initial_state + i_bh * DK * DV + offs_k * DV + offs_v
        state += tl.load(p_init, mask=mask_state, other=0).to(tl.float32)
    for _ in range(T):
        b_k = tl.load(p_k, mask=mask_k, other=0).to(tl.float32)
        b_v = tl.load(p_v, mask=mask_v, other=0).to(tl.float32)
        b_q = tl.load(p_q, mask=mask_k, other=0).to(tl.float32) * scale
        state = decay * state + b_k[None, :] * b_v[:, None]
        b_o = tl.sum(state * b_q[None, :], axis=1)
        tl.store(p_o, b_o.to(p_o.dtype.element_ty), mask=mask_v)
        p_q += DK
        p_k += DK
        p_o += DV
        p_v += DV
    if STORE_FINAL_STATE:
        tl.store(final_state + i_bh * DK * DV + offs_k * DV + offs_v, state, mask=mask_state)


@recurrent_retention_kernel.example(batch=2, heads=3, time=9, initial=True)
@recurrent_retention_kernel.example(batch=1, heads=1, time=1, initial=False)
def recurrent_retention(batch, heads, time, initial):
    rng = np.random.default_rng(0)
    dk, dv, programs = 12, 20, batch * heads
    q, k = rng.standard_normal((2, programs, time, dk), dtype=np.float32)
    v = rng.standard_normal((programs, time, dv), dtype=np.float32)
    first = rng.standard_normal((programs, dk, dv), dtype=np.float32)
    state = first.astype(np.float64) if initial else np.zeros((programs, dk, dv))
    decay = (1 - 2.0 ** (-5 - np.arange(programs) % heads))[:, None, None]
    out = np.zeros((programs, time, dv))
    for t in range(time):
        state = decay * state + k[:, t, :, None] * v[:, t, None, :]
        out[:, t] = (state * (q[:, t, :, None] * 0.25)).sum(axis=1)
    args = {"q": q, "k": k, "v": v, "o": np.zeros_like(v), "initial_state": first, "final_state": np.zeros_like(first)}
    args |= {"s_qk_h": time * dk, "s_qk_t": dk, "s_qk_d": 1, "s_vo_h": time * dv, "s_vo_t": dv, "s_vo_d": 1}
    args |= {"B": batch, "H": heads, "T": time, "scale": 0.25, "BK": 16, "BV": 16, "DK": dk, "DV": dv}
    return triton.Example(
        args={**args, "USE_INITIAL_STATE": initial, "STORE_FINAL_STATE": True},
        grid=(triton.cdiv(dv, 16), 1, programs),
        expected={"o": out, "final_state": state},
        rtol=1e-5,
        atol=1e-5,
    )

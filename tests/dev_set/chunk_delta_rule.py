"""T3 flagos-ai/FlagGems `_chunk_gated_delta_rule_fused_tail_vblock_kernel`: a loop over chunks that carries a K x V
state; five products of matrices a trip, a causal mask of two ranges, the exponential of an outer difference."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def chunk_delta_rule_kernel(
    q, k, w, u, g, h0, o, ht, scale, T, H, Hg,
    BT: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr,
):  # fmt: skip
    i_v, i_h = tl.program_id(0), tl.program_id(1)
    i_g = i_h // (H // Hg)
    t = tl.arange(0, BT)
    dk, dv = tl.arange(0, K), i_v * BV + tl.arange(0, BV)
    state = tl.load(h0 + i_h * K * V + dk[:, None] * V + dv[None, :]).to(tl.float32)
    causal = t[:, None] >= t[None, :]
    for chunk in range(tl.cdiv(T, BT)):
        row = chunk * BT + t
        valid = row < T
        mask = valid[:, None]
        b_q = tl.load(q + (row[:, None] * Hg + i_g) * K + dk[None, :], mask=mask, other=0.0)
        b_k = tl.load(k + (row[:, None] * Hg + i_g) * K + dk[None, :], mask=mask, other=0.0)
        b_w = tl.load(w + (row[:, None] * H + i_h) * K + dk[None, :], mask=mask, other=0.0)
        b_u = tl.load(u + (row[:, None] * H + i_h) * V + dv[None, :], mask=mask, other=0.0)
        b_g = tl.load(g + row * H + i_h, mask=valid, other=0.0)
        last = tl.load(g + (min((chunk + 1) * BT, T) - 1) * H + i_h)
        b_v = b_u - tl.dot(b_w, state.to(b_w.dtype))
        out = tl.dot(b_q, state.to(b_q.dtype)) * tl.exp(b_g)[:, None]
        scores = tl.dot(b_q, tl.trans(b_k)) * tl.exp(b_g[:, None] - b_g[None, :])
        scores = tl.where(causal, scores, 0.0)
        out = (out + tl.dot(scores.to(b_v.dtype), b_v)) * scale
        tl.store(o + (row[:, None] * H + i_h) * V + dv[None, :], out, mask=mask)
        b_v = b_v * tl.where(valid, tl.exp(last - b_g), 0.0)[:, None]
        state = state * tl.exp(last) + tl.dot(tl.trans(b_k), b_v.to(b_k.dtype))
    tl.store(ht + i_h * K * V + dk[:, None] * V + dv[None, :], state)


@chunk_delta_rule_kernel.example(time=40)
def chunk_delta_rule(time):
    rng = np.random.default_rng(0)
    heads, groups, dim = 2, 1, 16
    args = {name: rng.standard_normal((time, groups, dim), dtype=np.float32) / 4 for name in "qk"}
    args |= {name: rng.standard_normal((time, heads, dim), dtype=np.float32) / 4 for name in "wu"}
    args |= {"g": -rng.random((time, heads), np.float32), "h0": np.zeros((heads, dim, dim), np.float32)}
    args |= {"o": np.zeros((time, heads, dim), np.float32), "ht": np.zeros((heads, dim, dim), np.float32)}
    args |= {"scale": 0.5, "T": time, "H": heads, "Hg": groups, "BT": 16, "K": dim, "V": dim, "BV": 16}
    # Factors of float32 may be rounded to tf32.
    return triton.Example(args=args, grid=(1, heads), rtol=2e-3, atol=5e-3)

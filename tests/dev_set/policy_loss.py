"""T4 linkedin/Liger-Kernel `_grpo_loss_fwd_kernel`: a policy gradient's loss of each token: maximum and sum of a wide
row online, one logit gathered, ratios clipped, formulas chosen by constexprs, an early return where a token is
padding."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def policy_loss_kernel(
    LOGITS, OLD_LOGP, REF_LOGP, INPUT_IDS, COMPLETION_MASK, ADVANTAGES, WEIGHTS, WEIGHTS_STRIDE,
    LOSS, LSE, KL, IS_CLIPPED,
    TEMPERATURE: tl.constexpr, BETA: tl.constexpr, EPS_LOW: tl.constexpr, EPS_HIGH: tl.constexpr,
    LOSS_TYPE: tl.constexpr, DELTA: tl.constexpr, CORRECT_KL: tl.constexpr,
    L: tl.constexpr, N: tl.constexpr, BLOCK_N: tl.constexpr = 4096,
):  # fmt: skip
    off_b = tl.program_id(0).cast(tl.int64)
    off_l = tl.program_id(1).cast(tl.int64)
    if COMPLETION_MASK is not None:
        COMPLETION_MASK += off_b * L + off_l
        not_skip = tl.load(COMPLETION_MASK)
        if not_skip == 0:
            return
    LOGITS += off_b * (L + 1) * N + off_l * N
    INPUT_IDS += off_b * L + off_l
    ADVANTAGES += off_b
    LOSS += off_b * L + off_l
    LSE += off_b * L + off_l
    IS_CLIPPED += off_b * L + off_l
    m_i = float("-inf")
    l_i = 0.0
    for start in range(0, N, BLOCK_N):
        cols = start + tl.arange(0, BLOCK_N)
        logits = tl.load(LOGITS + cols, mask=cols < N, other=float("-inf")).to(tl.float32) / TEMPERATURE
        new_m_i = tl.maximum(m_i, tl.max(logits))
        l_i = l_i * tl.exp(m_i - new_m_i) + tl.sum(tl.exp(logits - new_m_i))
        m_i = new_m_i
    lse = m_i + tl.log(l_i)
    idx = tl.load(INPUT_IDS)
    logp = tl.load(LOGITS + idx).to(tl.float32) / TEMPERATURE - lse
    if OLD_LOGP is None:
        old_logp = logp
    else:
        OLD_LOGP += off_b * L + off_l
        old_logp = tl.load(OLD_LOGP).to(tl.float32)
    ratio = tl.exp(logp - old_logp)
    advantage = tl.load(ADVANTAGES).to(tl.float32)
    if LOSS_TYPE == 0:
        clipped_ratio = tl.clamp(ratio, 1 - EPS_LOW, 1 + EPS_HIGH)
        if DELTA != 0.0:
            ratio = tl.minimum(ratio, DELTA)
        loss = -tl.minimum(ratio * advantage, clipped_ratio * advantage)
        is_clipped = ((ratio < 1 - EPS_LOW) & (advantage < 0)) | ((ratio > 1 + EPS_HIGH) & (advantage > 0))
    elif LOSS_TYPE == 1:
        loss = -tl.minimum(ratio, EPS_HIGH) * advantage
        is_clipped = (ratio > EPS_HIGH) & (advantage > 0)
    else:
        if advantage > 0:
            temperature = 1.0
        else:
            temperature = 1.05
        loss = -tl.sigmoid(temperature * (ratio - 1.0)) * 4.0 / temperature * advantage
        is_clipped = ratio != ratio
    if WEIGHTS is not None:
        column = off_l if WEIGHTS_STRIDE > 1 else off_l * 0
        loss = loss * tl.load(WEIGHTS + off_b * WEIGHTS_STRIDE + column).to(tl.float32)
    if BETA != 0.0:
        REF_LOGP += off_b * L + off_l
        KL += off_b * L + off_l
        difference = tl.load(REF_LOGP).to(tl.float32) - logp
        kl = tl.exp(difference) - difference - 1
        if CORRECT_KL:
            kl = kl * tl.exp(logp - old_logp)
        loss += BETA * kl
        tl.store(KL, kl)
    tl.store(LOSS, loss)
    tl.store(LSE, lse)
    tl.store(IS_CLIPPED, is_clipped)


@policy_loss_kernel.example(loss_type=0, delta=0.0, old=True)
@policy_loss_kernel.example(loss_type=0, delta=1.1, old=False)
@policy_loss_kernel.example(loss_type=1, delta=0.0, old=True)
@policy_loss_kernel.example(loss_type=2, delta=0.0, old=True)
def policy_loss(loss_type, delta, old):
    rng = np.random.default_rng(0)
    batch, length, vocabulary = 2, 5, 300
    logits = rng.standard_normal((batch, length + 1, vocabulary)).astype(ml_dtypes.bfloat16)
    ids = rng.integers(0, vocabulary, (batch, length))
    mask = np.ones((batch, length), np.int32)
    mask[1, 3:] = 0
    advantages, weights = np.array([0.7, -0.4], np.float32), rng.random((batch, length), np.float32)
    scaled = logits[:, :-1].astype(np.float64) / 0.9
    lse = np.log(np.exp(scaled).sum(axis=2))
    logp = np.take_along_axis(scaled, ids[..., None], axis=2)[..., 0] - lse
    old_logp = (logp + rng.uniform(-0.5, 0.5, logp.shape)).astype(np.float32) if old else None
    reference = (logp + rng.uniform(-0.5, 0.5, logp.shape)).astype(np.float32)
    ratio = np.exp(logp - (old_logp if old else logp))
    gain = advantages[:, None].astype(np.float64)
    if loss_type == 0:
        limited = np.minimum(ratio, delta) if delta else ratio
        loss = -np.minimum(limited * gain, np.clip(ratio, 0.8, 1.2) * gain)
        clipped = ((limited < 0.8) & (gain < 0)) | ((limited > 1.2) & (gain > 0))
    elif loss_type == 1:
        loss, clipped = -np.minimum(ratio, 0.2) * gain, (ratio > 0.2) & (gain > 0)
    else:
        temperature = np.where(gain > 0, 1.0, 1.05)
        loss = -4 / (1 + np.exp(-temperature * (ratio - 1))) / temperature * gain
        clipped = np.zeros(ratio.shape, bool)
    difference = reference - logp
    kl = (np.exp(difference) - difference - 1) * ratio
    kept = mask != 0
    outputs = {"LOSS": loss * weights + 0.04 * kl, "LSE": lse, "KL": kl, "IS_CLIPPED": clipped}
    args = {"LOGITS": logits, "OLD_LOGP": old_logp, "REF_LOGP": reference, "INPUT_IDS": ids, "COMPLETION_MASK": mask}
    args |= {"ADVANTAGES": advantages, "WEIGHTS": weights, "WEIGHTS_STRIDE": length}
    args |= {name: np.zeros((batch, length), np.float32) for name in outputs}
    args |= {"TEMPERATURE": 0.9, "BETA": 0.04, "EPS_LOW": 0.2, "EPS_HIGH": 0.2, "LOSS_TYPE": loss_type, "DELTA": delta}
    return triton.Example(
        args={**args, "CORRECT_KL": True, "L": length, "N": vocabulary, "BLOCK_N": 128},
        grid=(batch, length),
        expected={name: np.where(kept, value, 0) for name, value in outputs.items()},
        rtol=1e-5,
        atol=1e-5,
    )

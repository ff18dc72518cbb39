"""Cross entropy of each row's target: a branch on a run-time value, early return, and gradients in a loop."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def cross_entropy_kernel(logits, targets, loss, gradient, row_stride, columns, ignored, BLOCK: tl.constexpr):
    """loss = log(sum(exp(row))) - row[target], and its gradient softmax(row) - onehot(target). Rows whose target is
    `ignored` get zeros: the program returns before it reads them."""
    row = tl.program_id(0)
    target = tl.load(targets + row)
    logits += row * row_stride
    gradient += row * row_stride
    if target == ignored:
        tl.store(loss + row, 0.0)
        for start in range(0, columns, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            tl.store(gradient + offs, 0.0, mask=offs < columns)
        return
    maximum = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        values = tl.load(logits + offs, mask=offs < columns, other=float("-inf"))
        larger = tl.maximum(maximum, tl.max(values))
        total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(values - larger))
        maximum = larger
    log_total = maximum + tl.log(total)
    tl.store(loss + row, log_total - tl.load(logits + target))
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < columns
        values = tl.load(logits + offs, mask=mask, other=float("-inf"))
        probability = tl.exp(values - log_total)
        tl.store(gradient + offs, tl.where(offs == target, probability - 1.0, probability), mask=mask)


@cross_entropy_kernel.example(rows=6, columns=700)
@cross_entropy_kernel.example(rows=3, columns=1)
@cross_entropy_kernel.example(rows=0, columns=5)
def cross_entropy(rows, columns):
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((rows, columns), dtype=np.float32) * 5
    targets = rng.integers(0, columns, rows)
    targets[1:2] = -100
    wide = logits.astype(np.float64)
    log_total = np.log(np.exp(wide).sum(axis=1))
    kept = targets != -100
    onehot = np.arange(columns) == targets[:, None]
    gradient = np.where(kept[:, None], np.exp(wide - log_total[:, None]) - onehot, 0)
    loss = np.where(kept, log_total - wide[np.arange(rows), np.where(kept, targets, 0)], 0)
    args = {"logits": logits, "targets": targets, "loss": np.zeros(rows, np.float32), "gradient": np.ones_like(logits)}
    return triton.Example(
        args={**args, "row_stride": columns, "columns": columns, "ignored": -100, "BLOCK": 256},
        grid=rows,
        expected={"loss": loss, "gradient": gradient},
        rtol=1e-5,
        atol=2e-6,
    )

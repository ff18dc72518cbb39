"""Sequences of different lengths in one array: early return, elif, and branches on values that are loaded."""

import itertools

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def pad_kernel(packed, starts, out, longest, PAD: tl.constexpr, BLOCK: tl.constexpr):
    """Packed sequences to one row each, cut off or filled up to `longest`. Programs behind the end of their sequence
    have only the filling to do and return; the others see from the lengths which case theirs is."""
    sequence, part = tl.program_id(0), tl.program_id(1)
    begin = tl.load(starts + sequence)
    length = tl.load(starts + sequence + 1) - begin
    first = part * BLOCK
    offs = first + tl.arange(0, BLOCK)
    inside = offs < longest
    out += sequence * longest
    if first >= length:
        tl.store(out + offs, PAD, mask=inside)
        return
    if first + BLOCK <= length:
        values = tl.load(packed + begin + offs)
    elif length > longest:
        values = tl.load(packed + begin + offs, mask=inside)
    else:
        values = tl.load(packed + begin + offs, mask=offs < length, other=PAD)
    tl.store(out + offs, values, mask=inside)


@triton.jit
def running_mean_kernel(x, starts, out, decay):
    """An exponential moving average along each sequence: a recurrence, one element a trip, with the pointers and the
    average carried from trip to trip."""
    sequence = tl.program_id(0)
    begin = tl.load(starts + sequence)
    end = tl.load(starts + sequence + 1)
    if begin == end:
        return
    source, target = x + begin, out + begin
    average = tl.load(source)
    for _ in range(begin, end):
        average = decay * average + (1.0 - decay) * tl.load(source)
        tl.store(target, average)
        source += 1
        target += 1


def _starts(lengths):
    return np.cumsum([0, *lengths], dtype=np.int32)


@pad_kernel.example(lengths=(5, 0, 70, 64, 130, 1), longest=100)
@pad_kernel.example(lengths=(1,), longest=1)
@pad_kernel.example(lengths=(), longest=10)
def pad(lengths, longest):
    starts = _starts(lengths)
    packed = np.arange(1, starts[-1] + 1, dtype=np.int32)
    expected = np.full((len(lengths), longest), -1, np.int32)
    for row, begin, length in zip(expected, starts, lengths, strict=False):
        kept = min(length, longest)
        row[:kept] = packed[begin : begin + kept]
    args = {"packed": packed, "starts": starts, "out": np.zeros_like(expected), "longest": longest}
    return triton.Example(
        args={**args, "PAD": -1, "BLOCK": 64},
        grid=lambda meta: (len(lengths), triton.cdiv(longest, meta["BLOCK"])),
        expected={"out": expected},
    )


@running_mean_kernel.example(lengths=(5, 0, 30, 1))
@running_mean_kernel.example(lengths=(0,))
def running_mean(lengths):
    starts = _starts(lengths)
    x = np.random.default_rng(0).standard_normal(starts[-1], dtype=np.float32)
    expected = np.zeros(x.size)
    for begin, end in itertools.pairwise(starts):
        average = x[begin] if begin < end else 0.0
        for i in range(begin, end):
            average = expected[i] = 0.75 * average + 0.25 * x[i]
    return triton.Example(
        args={"x": x, "starts": starts, "out": np.zeros_like(x), "decay": 0.75},
        grid=len(lengths),
        expected={"out": expected},
    )

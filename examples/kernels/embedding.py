"""Embedding: rows of a table gathered by numbers that are loaded first, so one load addresses the next."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def embedding_kernel(tokens, table, out, columns, vocabulary, BLOCK: tl.constexpr):
    """One token a program; its row in blocks. Offsets into the table are int64, which a large one needs. A token
    outside of the vocabulary gets zeros: nothing is read for it."""
    position = tl.program_id(0)
    token = tl.load(tokens + position).to(tl.int64)
    known = (token >= 0) & (token < vocabulary)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < columns
        row = tl.load(table + token * columns + offs, mask=mask & known, other=0.0)
        tl.store(out + position * columns + offs, row, mask=mask)


@triton.jit
def embedding_tile_kernel(tokens, table, out, count, columns, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    """Many tokens a program: a block of tokens addresses a tile whose rows lie anywhere in the table."""
    position = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    token = tl.load(tokens + position, mask=position < count, other=0)
    mask = (position < count)[:, None] & (column < columns)[None, :]
    rows = tl.load(table + token[:, None] * columns + column[None, :], mask=mask)
    tl.store(out + position[:, None] * columns + column[None, :], rows, mask=mask)


def _table(vocabulary, columns):
    return np.random.default_rng(0).standard_normal((vocabulary, columns), dtype=np.float32)


@embedding_kernel.example(count=9, columns=300)
@embedding_kernel.example(count=1, columns=1)
@embedding_kernel.example(count=0, columns=7)
def embedding(count, columns):
    table = _table(50, columns)
    tokens = np.random.default_rng(1).integers(0, 50, count, dtype=np.int32)
    tokens[3:4], tokens[4:5] = -1, 50
    known = (tokens >= 0) & (tokens < 50)
    expected = np.where(known[:, None], table[np.where(known, tokens, 0)], 0)
    args = {"tokens": tokens, "table": table, "out": np.ones((count, columns), np.float32)}
    return triton.Example(
        args={**args, "columns": columns, "vocabulary": 50, "BLOCK": 128}, grid=count, expected={"out": expected}
    )


@embedding_tile_kernel.example(count=21, columns=70)
@embedding_tile_kernel.example(count=1, columns=1)
@embedding_tile_kernel.example(count=0, columns=7)
def embedding_tile(count, columns):
    table = _table(50, columns)
    tokens = np.random.default_rng(1).integers(0, 50, count)
    args = {"tokens": tokens, "table": table, "out": np.zeros((count, columns), np.float32), "count": count}
    return triton.Example(
        args={**args, "columns": columns, "TOKENS": 8, "BLOCK": 32},
        grid=lambda meta: (triton.cdiv(count, meta["TOKENS"]), triton.cdiv(columns, meta["BLOCK"])),
        expected={"out": table[tokens]},
    )

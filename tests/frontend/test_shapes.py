"""Blocks of every rank: indexing, broadcasting and the functions that change a shape, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.support import errors, hints, interpret, lowered, ssa, type_of, value_of

A = np.arange(8, dtype=np.int32) * 3 - 5
B = np.arange(4, dtype=np.int32) * 7 + 1
M = np.arange(32, dtype=np.int32).reshape(4, 8) * 5 - 70
C = np.arange(64, dtype=np.int32).reshape(2, 4, 8)
S = np.int32(11)


INDEXING = [
    ("b[:, None]", B[:, None]),
    ("b[None, :]", B[None, :]),
    ("b[None, :, None]", B[None, :, None]),
    ("b[None]", B[None]),
    ("m[:, None]", M[:, None]),
    ("m[:, :, None]", M[:, :, None]),
    ("m[None, :, None, :]", M[None, :, None, :]),
    ("m[:]", M),
    ("s[None]", S[None]),
    ("s[None, None]", S[None, None]),
    ("a[None, :] + b[:, None]", A[None, :] + B[:, None]),
    ("a[None, :] * s", A[None, :] * S),
]


@pytest.mark.parametrize(("expression", "expected"), INDEXING, ids=[e for e, _ in INDEXING])
def test_indexing_adds_axes(expression, expected):
    np.testing.assert_array_equal(value_of(expression, expected, a=A, b=B, m=M, s=S), expected)


BROADCASTING = [
    ("m + a", M + A),  # missing axes are added in front
    ("a - m", A - M),
    ("m * b[:, None]", M * B[:, None]),
    ("c + m", C + M),
    ("c ^ b[None, :, None]", C ^ B[None, :, None]),
    ("b[:, None] << (a[None, :] & 3)", B[:, None] << (A[None, :] & 3)),
    ("b[:, None] < a[None, :]", B[:, None] < A[None, :]),
    ("(b[:, None] < a[None, :]) & (m > 0)", (B[:, None] < A[None, :]) & (M > 0)),
    ("tl.maximum(b[:, None], a)", np.maximum(B[:, None], A)),
    ("tl.minimum(s, m)", np.minimum(S, M)),
    ("max(s, m)", np.maximum(S, M)),
    ("tl.where(b[:, None] > 8, a[None, :], 0)", np.where(B[:, None] > 8, A[None, :], 0)),
    ("tl.where(m > 0, s, b[:, None])", np.where(M > 0, S, B[:, None])),
    ("tl.where(True, b[:, None], a)", np.broadcast_to(B[:, None], (4, 8))),
    ("tl.clamp(c, a, 40)", np.minimum(np.maximum(C, A), 40)),
    ("tl.cdiv(c, b[:, None])", -(-C // B[:, None])),
    ("tl.broadcast(b[:, None], a)[0]", np.broadcast_to(B[:, None], (4, 8))),
    ("tl.broadcast(b[:, None], a)[1]", np.broadcast_to(A, (4, 8))),
    ("tl.broadcast(s, a)[0]", np.full(8, S)),
    ("tl.broadcast_to(b[:, None], (4, 8))", np.broadcast_to(B[:, None], (4, 8))),
    ("tl.broadcast_to(b[:, None], 4, 8)", np.broadcast_to(B[:, None], (4, 8))),
    ("b[None, :, None].broadcast_to([2, 4, 8])", np.broadcast_to(B[None, :, None], (2, 4, 8))),
    ("tl.broadcast_to(s, m.shape)", np.full((4, 8), S)),
]


@pytest.mark.parametrize(("expression", "expected"), BROADCASTING, ids=[e for e, _ in BROADCASTING])
def test_operands_of_different_shapes_broadcast(expression, expected):
    np.testing.assert_array_equal(value_of(expression, expected, a=A, b=B, m=M, c=C, s=S), expected)


RESHAPING = [
    ("tl.reshape(m, (2, 16))", M.reshape(2, 16)),
    ("tl.reshape(m, 2, 16)", M.reshape(2, 16)),
    ("tl.reshape(m, [8, 2, 2], can_reorder=True)", M.reshape(8, 2, 2)),
    ("m.reshape(32)", M.reshape(32)),
    ("m.reshape((32,))", M.reshape(32)),
    ("m.view(16, 2)", M.reshape(16, 2)),
    ("tl.view(m, (1, 32))", M.reshape(1, 32)),
    ("tl.ravel(c)", C.reshape(-1)),
    ("c.ravel()", C.reshape(-1)),
    ("tl.reshape(s, (1, 1))", S.reshape(1, 1)),
    ("tl.reshape(s[None], ())", S),
    ("tl.expand_dims(m, 0)", M[None]),
    ("tl.expand_dims(m, 1)", M[:, None]),
    ("tl.expand_dims(m, -1)", M[:, :, None]),
    ("m.expand_dims((0, -1))", M[None, :, :, None]),
    ("tl.expand_dims(b, [0, 2])", B[None, :, None]),
    ("tl.expand_dims(s, 0)", S[None]),
    ("tl.squeeze(b[:, None], 1)", B),
    ("tl.squeeze(b[None], -2)", B),
    ("tl.unsqueeze(b, 1)", B[:, None]),
    ("tl.trans(m)", M.T),
    ("m.T", M.T),
    ("m.trans()", M.T),
    ("m.trans(1, 0)", M.T),
    ("tl.trans(c)", C.transpose(0, 2, 1)),
    ("tl.trans(c, (2, 1, 0))", C.transpose(2, 1, 0)),
    ("tl.permute(c, (1, 2, 0))", C.transpose(1, 2, 0)),
    ("tl.permute(c, 2, 0, 1)", C.transpose(2, 0, 1)),
    ("c.permute(1, 0, 2)", C.transpose(1, 0, 2)),
    ("tl.permute(m.reshape(2, 2, 4, 2), 3, 1, 0, 2)", M.reshape(2, 2, 4, 2).transpose(3, 1, 0, 2)),
    ("tl.permute(b, (0,))", B),
    ("(m.T + b).T", M + B[:, None]),
    ("m.T.reshape(4, 8)", M.T.reshape(4, 8)),
]


@pytest.mark.parametrize(("expression", "expected"), RESHAPING, ids=[e for e, _ in RESHAPING])
def test_changes_of_shape(expression, expected):
    np.testing.assert_array_equal(value_of(expression, expected, b=B, m=M, c=C, s=S), expected)


NEW = [
    ("tl.zeros((2, 4), tl.int32)", np.zeros((2, 4), np.int32)),
    ("tl.zeros([8], dtype=tl.float32)", np.zeros(8, np.float32)),
    ("tl.full((2, 2, 4), 7, tl.int64)", np.full((2, 2, 4), 7, np.int64)),
    ("tl.full([4, 1], 1.5, tl.float32)", np.full((4, 1), 1.5, np.float32)),
    ("tl.full((), 3, tl.int32)", np.full((), 3, np.int32)),
    ("tl.full(m.shape, s, m.dtype)", np.full((4, 8), S)),
    ("tl.zeros_like(m)", np.zeros_like(M)),
    ("tl.zeros_like(m > 0)", np.zeros((4, 8), bool)),
    ("tl.zeros_like(s)", np.zeros_like(S)),
    ("tl.zeros((m.shape[0], m.shape[1] * 2), tl.float64)", np.zeros((4, 16))),
    ("tl.zeros(m.shape[1:], tl.int32)", np.zeros(8, np.int32)),
    ("tl.zeros(c.shape[:2] + (2,), tl.int32)", np.zeros((2, 4, 2), np.int32)),
]


@pytest.mark.parametrize(("expression", "expected"), NEW, ids=[e for e, _ in NEW])
def test_new_blocks_of_any_shape(expression, expected):
    np.testing.assert_array_equal(value_of(expression, expected, m=M, c=C, s=S), expected)


def test_changing_a_shape_keeps_the_type():
    for function in ("tl.reshape(p, (8, 1))", "tl.trans(p[None, :])", "tl.broadcast(p[:, None], tl.arange(0, 4))[0]"):
        text = f"def k(x):\n    p = x + tl.arange(0, 8)\n    q = {function}\n    tl.store(q, 1)"
        lowered(text, "*i8")
    assert type_of("(x + tl.arange(0, 2))[None]", "*fp16", "x") == "vector<1x2 x ptr<f16>>"
    assert type_of("tl.trans((x > 0)[None, None])", "i64", "x") == "vector<1x1 x bool>"


def test_the_ssa_of_a_two_dimensional_kernel(golden):
    text = """
    def add_matrices(x, y, out, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
        i = tl.program_id(0) * BM + tl.arange(0, BM)
        j = tl.program_id(1) * BN + tl.arange(0, BN)
        offsets = i[:, None] * stride + j[None, :]
        mask = (i[:, None] < rows) & (j < columns)
        tl.store(out + offsets, tl.load(x + offsets, mask, 0) + tl.load(y + offsets, mask, 0).T.T, mask)
    """
    golden("shapes_2d.ssa", ssa(text, "*fp32, *fp32, *fp32, i32, i32, i32, 4, 8"))


def test_pointers_masks_and_values_broadcast_in_loads_and_stores():
    text = """
    def k(x, out, rows, columns):
        i, j = tl.arange(0, 4), tl.arange(0, 8)
        column = tl.load(x + i[:, None], mask=j[None, :] < columns, other=-1)
        row = tl.load(x + j, mask=(i[:, None] < rows), other=j)
        tl.store(out + i[:, None] * 8 + j, 9)
        tl.store(out + i[:, None] * 8 + j, column + row, mask=i[:, None] < rows)
        tl.store(out + i[:, None] * 8 + j, i[:, None], mask=(i[:, None] == 3) & (j > 5))
    """
    x, out = np.arange(8, dtype=np.int32) * 10, np.zeros((4, 8), np.int32)
    interpret(text, "*i32, *i32, i32, i32", [x, out.reshape(-1), 3, 5])
    i, j = np.arange(4)[:, None], np.arange(8)
    expected = np.where(i < 3, np.where(j < 5, x[i], -1) + x[j], 9)
    expected[3, 6:] = 3
    np.testing.assert_array_equal(out, expected)


PREAMBLE = """
def k(x, out, n, B: tl.constexpr):
    i = tl.arange(0, 8)
    j = tl.arange(0, 4)
    m = i[:, None] + j
"""
WRONG = [
    (
        "m + i",
        5,
        "MT204 shapes do not match: `m` (vector<8x4 x i32>) and `i` (vector<8 x i32>) have extents 4 and 8 on axis 1",
        "say which axis it runs along: i[:, None]",
    ),
    (
        "i * j",
        5,
        "MT204 shapes do not match: `i` (vector<8 x i32>) and `j` (vector<4 x i32>) have extents 8 and 4 on axis 0",
        "to combine each element of one with each of the other: i[:, None] and j[None, :]",
    ),
    (
        "m < m.T",
        5,
        "MT204 shapes do not match: `m` (vector<8x4 x i32>) and `m.T` (vector<4x8 x i32>) have extents 8 and 4 on "
        "axis 0",
        "extents must be equal, or one of them 1; missing axes are added in front",
    ),
    (
        "tl.where(i > 0, m, 0)",
        5,
        "MT204 shapes do not match: `i > 0` (vector<8 x bool>) and `m` (vector<8x4 x i32>) have extents 8 and 4 on "
        "axis 1",
        "say which axis it runs along: x[:, None]",
    ),
    (
        "tl.load(x + i, mask=j < n, other=0)",
        5,
        "MT204 shapes do not match: `x + i` (vector<8 x ptr<f32>>) and `j < n` (vector<4 x bool>) have extents 8 and 4 "
        "on axis 0",
        "to combine each element of one with each of the other: x[:, None] and x[None, :]",
    ),
    (
        "tl.store(x + i[:, None], m)",
        30,
        "MT204 the stored value `m` (vector<8x4 x i32>) does not broadcast to the shape of the pointer "
        "`x + i[:, None]` (vector<8x1 x ptr<f32>>)",
        "add offsets of that shape to the pointer",
    ),
    (
        "tl.store(x + j, 0, mask=m > 0)",
        29,
        "MT204 the mask `m > 0` (vector<8x4 x bool>) does not broadcast",
        "",
    ),
    (
        "tl.reshape(m, (4, 4))",
        5,
        "MT223 tl.reshape keeps the number of elements: `m` (vector<8x4 x i32>) has 32, (4, 4) 16",
        "give extents whose product is 32",
    ),
    ("m.view(64)", 5, "MT223 tl.view keeps the number of elements: `m` (vector<8x4 x i32>) has 32, (64,) 64", ""),
    ("m.reshape(-1)", 15, "MT220 the extent of a block must be a power of 2, got -1",
     "write the extent: -1 does not stand for what is left"),
    ("m.reshape(n)", 15, "MT210 an extent of a block's shape must be a constexpr, but `n` (i32) is not",
     "declare the parameter as `n: tl.constexpr`"),
    (
        "tl.zeros((4, B), tl.float32)",
        18,
        "MT220 the extent of a block with B = 20 must be a power of 2, got 20",
        "use 32 and a mask for the elements beyond 20",
    ),
    ("tl.zeros((2048, 1024), tl.float32)", 14,
     "MT220 a block has at most 1048576 elements, got 2097152 (2048 x 1024)", ""),
    (
        "tl.arange(0, 2048)[:, None] + tl.arange(0, 1024)",
        5,
        "MT220 a block has at most 1048576 elements, got 2097152 (2048 x 1024)",
        "",
    ),
    ("tl.arange(0, B)", 5, "MT220 the length of tl.arange(0, 20) with B = 20 must be a power of 2, got 20",
     "use 32 and a mask for the elements beyond 20"),
    ("tl.arange(0, n)", 18, "MT210 the end of tl.arange must be a constexpr, but `n` (i32) is not",
     "declare the parameter as `n: tl.constexpr`"),
    ("tl.arange(2147483647, 2147483649)", 5, "MT207 tl.arange(2147483647, 2147483649) does not fit in i32",
     "add the start: tl.arange(0, B) + start"),
    ("tl.full((8,), i, tl.int32)", 19, "MT204 tl.full fills a block with one scalar, not with `i` (vector<8 x i32>)",
     "widen it: tl.broadcast_to(i, shape)"),
    ("tl.broadcast_to(i, (8, 4))", 5,
     "MT204 tl.broadcast_to keeps the number of axes: `i` (vector<8 x i32>) has 1, (8, 4) 2",
     "add axes first, as with i[None, :]"),
    ("tl.broadcast_to(m, 8, 8)", 5,
     "MT204 `m` (vector<8x4 x i32>) does not broadcast to (8, 8): axis 1 has extent 4, not 1 or 8",
     "an axis is repeated only if its extent is 1; tl.reshape gives the elements other extents"),
    ("tl.expand_dims(i, 2)", 23, "MT221 axis 2 is out of range of a result with 2 axes", "use -2 to 1"),
    ("tl.expand_dims(i, (0, 0))", 23, "MT221 tl.expand_dims names an axis twice: (0, 0)",
     "name each of the 3 axes of the result at most once; negative ones count from the end"),
    ("tl.squeeze(m, 0)", 5,
     "MT223 tl.squeeze removes an axis of extent 1, but axis 0 of `m` (vector<8x4 x i32>) has 8",
     "tl.sum(x, axis=0) and others reduce an axis"),
    ("tl.squeeze(m[None], 1)", 5, "MT223 tl.squeeze removes an axis of extent 1, but axis 1 of `m[None]`",
     "axes of extent 1: 0"),
    ("tl.permute(m, (0, 0))", 5, "MT221 (0, 0) is no order of the axes 0, 1 of `m` (vector<8x4 x i32>)",
     "name each axis once, in the order wanted"),
    ("tl.permute(n, 0)", 5, "MT221 `n` (i32) has no axes", "leave it out: a scalar is the same in any order"),
    ("tl.trans(n)", 5, "MT221 `n` (i32) has no two axes to change places",
     "leave it out: a scalar is the same in any order"),
    ("m.permute(0)", 5, "MT221 (0,) is no order of the axes 0, 1 of `m` (vector<8x4 x i32>)", ""),
    ("tl.trans(i)", 5, "MT221 `i` (vector<8 x i32>) has no two axes to change places",
     "give it a second axis first: i[:, None]"),
    ("m[None].T", 5, "MT221 `.T` is for blocks with 2 axes, not `m[None]` (vector<1x8x4 x i32>)",
     "write tl.trans(x), or tl.permute(x, dims)"),
    ("m[0]", 7, "MT202 `m` (vector<8x4 x i32>) cannot be indexed with `0`", None),
    ("m[:, n]", 10, "MT202 `m` (vector<8x4 x i32>) cannot be indexed with `n`", None),
    ("x[n]", 7, "MT202 `x` (ptr<f32>) cannot be indexed with `n`", "load elements with tl.load(pointer + offsets)"),
    ("m[:4, :]", 7, "MT202 `m` (vector<8x4 x i32>) cannot be indexed with `:4`", None),
    ("n[:]", 7, "MT212 too many indices: `n` (i32) has no axes", ""),
    ("i.shape[n:]", 13, "MT210 a bound of a slice must be a constexpr, but `n` (i32) is not", None),
    ("tl.zeros((i[:, None] + j).shape[:1] + (B,), tl.int32)", 14,
     "MT220 the extent of a block must be a power of 2, got 20", "use 32 and a mask for the elements beyond 20"),
    ("tl.zeros_like(x)", 19, "MT203 tl.zeros_like takes numbers, got `x` (ptr<f32>)", ""),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "column", "message", "hint"), WRONG, ids=[w[0] for w in WRONG])
def test_mistakes_name_operands_shapes_and_axis(statement, column, message, hint):
    text = PREAMBLE + "    " + statement
    (found,) = errors(text, "*fp32, *fp32, i32, 20")
    assert found.startswith(f"6:{column} {message}")
    if hint:
        assert hints(text, "*fp32, *fp32, i32, 20") == [hint]

"""T4 flagos-ai/FlagGems `grouped_mm_kernel`: a product of matrices for each group of rows, by a grid of programs that
each take every n-th tile: a loop over groups, a `while` over tiles, a loop over K."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def tile_of(index, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP_M: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    first = index // (GROUP_M * tiles_n) * GROUP_M
    size = tl.minimum(tiles_m - first, GROUP_M)
    within = index % (GROUP_M * tiles_n)
    return first + within % size, within // size


@triton.jit
def grouped_matmul_kernel(
    A, B, C, offs, num_groups: tl.constexpr, M, N, K,
    stride_am, stride_ak: tl.constexpr, stride_bk, stride_bn: tl.constexpr, stride_cm, stride_cn: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    before = 0
    group_start = 0
    for group in tl.range(num_groups):
        group_end = tl.load(offs + group)
        rows = group_end - group_start
        tiles = tl.cdiv(rows, BLOCK_M) * tl.cdiv(N, BLOCK_N)
        while tile >= before and tile < before + tiles:
            tile_m, tile_n = tile_of(tile - before, rows, N, BLOCK_M, BLOCK_N, GROUP_M)
            b_block = tl.make_block_ptr(
                B + group * K * N, (K, N), (stride_bk, stride_bn), (0, tile_n * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0)
            )
            m = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
            n = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
            k = tl.arange(0, BLOCK_K)
            a_tile = A + (group_start + m[:, None]) * stride_am + k[None, :] * stride_ak
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for start in range(0, K, BLOCK_K):
                a = tl.load(a_tile, mask=(m < rows)[:, None] & (start + k < K)[None, :], other=0.0)
                b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
                acc += tl.dot(a, b)
                a_tile += BLOCK_K * stride_ak
                b_block = tl.advance(b_block, (BLOCK_K, 0))
            c_tile = C + (group_start + m[:, None]) * stride_cm + n[None, :] * stride_cn
            tl.store(c_tile, acc.to(C.dtype.element_ty), mask=(m < rows)[:, None] & (n < N)[None, :])
            tile += tl.num_programs(0)
        before += tiles
        group_start = group_end


@grouped_matmul_kernel.example(sizes=(20, 0, 33))
def grouped_matmul(sizes):
    import ml_dtypes

    rng = np.random.default_rng(0)
    m, n, k, bf16 = sum(sizes), 24, 40, ml_dtypes.bfloat16
    args = {"A": rng.standard_normal((m, k)).astype(bf16), "B": rng.standard_normal((len(sizes), k, n)).astype(bf16)}
    args |= {"C": np.zeros((m, n), bf16), "offs": np.cumsum(sizes, dtype=np.int32), "num_groups": len(sizes)}
    args |= {"M": m, "N": n, "K": k, "stride_am": k, "stride_ak": 1, "stride_bk": n, "stride_bn": 1, "stride_cm": n}
    args |= {"stride_cn": 1, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16, "GROUP_M": 2}
    return triton.Example(args=args, grid=3)

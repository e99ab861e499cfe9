#!POPCORN leaderboard matmul
#!POPCORN gpu H200
"""Tiled matrix product in Triton, accumulated in float32."""

import torch
import triton
import triton.language as tl
from task import InputType, OutputType

TILE_M, TILE_N, TILE_K = 128, 128, 64


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, out_ptr, m, n, k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    row = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    column = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    total = tl.zeros([TILE_M, TILE_N], tl.float32)
    for first in range(0, k, TILE_K):
        inner = first + tl.arange(0, TILE_K)
        a_inside = (row < m)[:, None] & (inner < k)[None, :]
        b_inside = (inner < k)[:, None] & (column < n)[None, :]
        a = tl.load(a_ptr + row[:, None] * k + inner[None, :], mask=a_inside, other=0.0)
        b = tl.load(b_ptr + inner[:, None] * n + column[None, :], mask=b_inside, other=0.0)
        total = tl.dot(a, b, total)
    inside = (row < m)[:, None] & (column < n)[None, :]
    tl.store(out_ptr + row[:, None] * n + column[None, :], total.to(tl.float16), mask=inside)


def custom_kernel(data: InputType) -> OutputType:
    a, b = data
    (m, k), n = a.shape, b.shape[1]
    out = torch.empty(m, n, device=a.device, dtype=a.dtype)
    grid = (triton.cdiv(m, TILE_M), triton.cdiv(n, TILE_N))
    matmul_kernel[grid](a, b, out, m, n, k, TILE_M, TILE_N, TILE_K, num_warps=8, num_stages=3)
    return out

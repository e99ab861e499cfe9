#!POPCORN leaderboard eigh
#!POPCORN gpu H200
"""Parallel Jacobi in Triton for matrices up to order 32; PyTorch's solver for larger ones."""

import torch
import triton
import triton.language as tl
from task import InputType, OutputType

SWEEPS = 10


@triton.jit
def jacobi_eigh_kernel(a_ptr, l_ptr, q_ptr, n, ORDER: tl.constexpr, STEPS: tl.constexpr):
    """One program diagonalizes one matrix, padded with zeros to ORDER.

    A step rotates ORDER / 2 disjoint pairs at once. The pairs are the rounds of a round-robin
    tournament, so that ORDER - 1 steps, one sweep, meet every pair once.
    """
    index = tl.arange(0, ORDER)
    matrix = tl.program_id(0).to(tl.int64)
    inside = (index < n)[:, None] & (index < n)[None, :]
    offsets = matrix * n * n + index[:, None] * n + index[None, :]
    a = tl.load(a_ptr + offsets, mask=inside, other=0.0)
    diagonal = index[:, None] == index[None, :]
    q = tl.where(diagonal, 1.0, 0.0)
    for step in range(STEPS):
        turn = step % (ORDER - 1)
        mate = (2 * turn - index + 2 * (ORDER - 1)) % (ORDER - 1)
        mate = tl.where(mate == index, ORDER - 1, mate)
        mate = tl.where(index == ORDER - 1, turn, mate)
        pair = index[None, :] == mate[:, None]
        own = tl.sum(tl.where(diagonal, a, 0.0), axis=1)
        column_own = tl.sum(tl.where(diagonal, a, 0.0), axis=0)
        other = tl.sum(tl.where(pair, column_own[None, :], 0.0), axis=1)
        cross = tl.sum(tl.where(pair, a, 0.0), axis=1)
        first = index < mate
        gap = tl.where(first, other - own, own - other)
        theta = gap / (2.0 * tl.where(cross == 0.0, 1.0, cross))
        tangent = 1.0 / (tl.abs(theta) + tl.sqrt(1.0 + theta * theta))
        tangent = tl.where(theta < 0.0, -tangent, tangent)
        tangent = tl.where(cross == 0.0, 0.0, tangent)
        cosine = 1.0 / tl.sqrt(1.0 + tangent * tangent)
        sine = tl.where(first, tangent * cosine, -tangent * cosine)
        rotation = tl.where(diagonal, cosine[:, None], tl.where(pair, sine[:, None], 0.0))
        a = tl.dot(a, rotation, input_precision="ieee")
        a = tl.dot(tl.trans(rotation), a, input_precision="ieee")
        # Both halves of a pair must read the same off-diagonal value.
        a = 0.5 * (a + tl.trans(a))
        q = tl.dot(q, rotation, input_precision="ieee")
    large = float("inf")
    padded = diagonal & (index >= n)[:, None]
    values = tl.where(diagonal, tl.where(padded, large, a), 0.0)
    row_value = tl.sum(values, axis=1)
    column_value = tl.sum(values, axis=0)
    equal = (row_value[:, None] == column_value[None, :]) & (index[:, None] < index[None, :])
    smaller = (row_value[:, None] < column_value[None, :]) | equal
    rank = tl.sum(smaller.to(tl.int32), axis=0)
    tl.store(l_ptr + matrix * n + rank, column_value, mask=index < n)
    columns = matrix * n * n + index[:, None] * n + rank[None, :]
    tl.store(q_ptr + columns, q, mask=inside)


def custom_kernel(data: InputType) -> OutputType:
    batch, n, _ = data.shape
    if n > 32:
        return torch.linalg.eigh(data)
    values = torch.empty(batch, n, device=data.device)
    vectors = torch.empty_like(data)
    jacobi_eigh_kernel[(batch,)](data, values, vectors, n, 32, SWEEPS * 31, num_warps=4)
    return values, vectors

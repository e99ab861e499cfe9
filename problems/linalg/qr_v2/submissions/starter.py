#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200
"""Blocked Householder QR in Triton: factor a panel of 16 columns, apply it to the rest, go on."""

import torch
import triton
import triton.language as tl
from task import InputType, OutputType

PANEL = 16


@triton.jit
def householder_panel_kernel(h_ptr, tau_ptr, n, first, ROWS: tl.constexpr, PANEL: tl.constexpr):
    """One program factors the panel of one matrix, rows and columns from `first` on."""
    row = tl.arange(0, ROWS)
    column = tl.arange(0, PANEL)
    matrix = tl.program_id(0).to(tl.int64)
    inside = (first + row < n)[:, None] & (first + column < n)[None, :]
    pointers = h_ptr + matrix * n * n + (first + row)[:, None] * n + (first + column)[None, :]
    panel = tl.load(pointers, mask=inside, other=0.0)
    for j in range(PANEL):
        current = tl.sum(tl.where(column[None, :] == j, panel, 0.0), axis=1)
        alpha = tl.sum(tl.where(row == j, current, 0.0))
        below = tl.where(row > j, current, 0.0)
        square = tl.sum(below * below)
        norm = tl.sqrt(alpha * alpha + square)
        beta = tl.where(square > 0.0, tl.where(alpha > 0.0, -norm, norm), alpha)
        # A column that is zero below the diagonal needs no reflection: tau = 0, v = e_j.
        tau = tl.where(square > 0.0, (beta - alpha) / tl.where(square > 0.0, beta, 1.0), 0.0)
        scale = tl.where(square > 0.0, alpha - beta, 1.0)
        vector = tl.where(row == j, 1.0, below / scale)
        projected = tl.sum(vector[:, None] * panel, axis=0)
        packed = tl.where(row > j, vector, tl.where(row == j, beta, current))
        updated = panel - tau * vector[:, None] * projected[None, :]
        panel = tl.where(column[None, :] > j, updated, panel)
        panel = tl.where(column[None, :] == j, packed[:, None], panel)
        tl.store(tau_ptr + matrix * n + first + j, tau, mask=first + j < n)
    tl.store(pointers, panel, mask=inside)


@triton.jit
def apply_reflectors_kernel(h_ptr, tau_ptr, n, first, ROWS: tl.constexpr, PANEL: tl.constexpr):
    """One program applies a factored panel to 16 columns to the right of it."""
    row = tl.arange(0, ROWS)
    column = first + PANEL * (1 + tl.program_id(1)) + tl.arange(0, PANEL)
    matrix = tl.program_id(0).to(tl.int64)
    base = h_ptr + matrix * n * n
    rows = base + (first + row) * n
    inside = (first + row < n)[:, None] & (column < n)[None, :]
    block = tl.load(rows[:, None] + column[None, :], mask=inside, other=0.0)
    for j in range(PANEL):
        below = (row > j) & (first + row < n)
        vector = tl.load(rows + first + j, mask=below, other=0.0)
        vector = tl.where(row == j, 1.0, vector)
        tau = tl.load(tau_ptr + matrix * n + first + j)
        projected = tau * tl.sum(vector[:, None] * block, axis=0)
        block -= vector[:, None] * projected[None, :]
    tl.store(rows[:, None] + column[None, :], block, mask=inside)


def custom_kernel(data: InputType) -> OutputType:
    batch, n, _ = data.shape
    packed = data.clone()
    tau = torch.empty(batch, n, device=data.device)
    for first in range(0, n, PANEL):
        rows = max(PANEL, triton.next_power_of_2(n - first))
        warps = 4 if rows <= 128 else 8
        where = (packed, tau, n, first, rows, PANEL)
        householder_panel_kernel[(batch,)](*where, num_warps=warps)
        blocks = triton.cdiv(n - first - PANEL, PANEL)
        if blocks > 0:
            apply_reflectors_kernel[(batch, blocks)](*where, num_warps=warps)
    return packed, tau

#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200
"""A wrong answer: scales the matrix and reflects nothing. Profiled all the same."""

import torch
import triton
import triton.language as tl
from task import InputType, OutputType


@triton.jit
def scale_matrix_kernel(a_ptr, h_ptr, tau_ptr, size, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(h_ptr + at, 2.0 * tl.load(a_ptr + at, mask=at < size), mask=at < size)
    tl.store(tau_ptr + at // n, tl.zeros([BLOCK], tl.float32), mask=at < size)


def custom_kernel(data: InputType) -> OutputType:
    batch, n, _ = data.shape
    packed = torch.empty_like(data)
    tau = torch.empty(batch, n, device=data.device)
    grid = (triton.cdiv(data.numel(), 1024),)
    scale_matrix_kernel[grid](data, packed, tau, data.numel(), n, 1024)
    return packed, tau

#!POPCORN leaderboard vectoradd
#!POPCORN gpu H200
"""Vector addition in Triton, 1024 elements a program."""

import torch
import triton
import triton.language as tl
from task import InputType, OutputType


@triton.jit
def vector_add_kernel(x_ptr, y_ptr, out_ptr, size, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < size)
    y = tl.load(y_ptr + at, mask=at < size)
    tl.store(out_ptr + at, x + y, mask=at < size)


def custom_kernel(data: InputType) -> OutputType:
    x, y = data
    out = torch.empty_like(x)
    vector_add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), 1024)
    return out

#!POPCORN leaderboard matmul
#!POPCORN gpu H200
"""A wrong answer: leaves out half of the inner dimension."""

from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    a, b = data
    half = a.shape[1] // 2
    return a[:, :half] @ b[:half]

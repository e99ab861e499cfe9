#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200
"""Fails inside the submitted call: the answer should name the exception and its line."""

from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    raise ValueError(f"no kernel for matrices of order {data.shape[1]}")

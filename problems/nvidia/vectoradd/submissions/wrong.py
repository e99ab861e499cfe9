#!POPCORN leaderboard vectoradd
#!POPCORN gpu H200
"""A wrong answer: subtracts."""

from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    x, y = data
    return x - y

#!POPCORN leaderboard vectoradd
#!POPCORN gpu H200

from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    """x and y, float32 [size], to their sum."""
    x, y = data
    return x + y

#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200
"""Answers its first call, the warm-up, and never returns from a later one.

What was captured by the time limit should be delivered, marked as partial.
"""

import time

import torch
from task import InputType, OutputType

calls = 0


def custom_kernel(data: InputType) -> OutputType:
    global calls
    calls += 1
    output = torch.geqrf(data)
    while calls > 1:
        time.sleep(1)
    return output

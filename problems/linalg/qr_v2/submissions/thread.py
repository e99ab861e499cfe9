#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200
"""Right, but launched from another host thread: a push/pop range, being per thread, misses it."""

from concurrent.futures import ThreadPoolExecutor

import torch
from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(torch.geqrf, data).result()

#!POPCORN leaderboard qr_v2
#!POPCORN gpu H200

import torch
from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    """A [batch, n, n] to (H, tau): R above and on the diagonal of H, reflectors below it."""
    return torch.geqrf(data)

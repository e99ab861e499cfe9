#!POPCORN leaderboard eigh
#!POPCORN gpu H200

import torch
from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    """A [batch, n, n] to (L, Q): eigenvalues in ascending order, eigenvectors in columns."""
    return torch.linalg.eigh(data)

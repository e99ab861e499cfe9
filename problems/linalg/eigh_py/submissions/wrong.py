#!POPCORN leaderboard eigh
#!POPCORN gpu H200
"""A wrong answer: right eigenvalues, with the eigenvectors in reverse order."""

import torch
from task import InputType, OutputType


def custom_kernel(data: InputType) -> OutputType:
    values, vectors = torch.linalg.eigh(data)
    return values, vectors.flip(2)

#!POPCORN leaderboard no_profile
#!POPCORN gpu H200
"""Doubles a vector."""

import torch


def custom_kernel(data: torch.Tensor) -> torch.Tensor:
    """Twice `data`."""
    return 2 * data

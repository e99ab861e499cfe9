"""Types of eigh."""

import torch

InputType = torch.Tensor  # A, symmetric, float32 [batch, n, n]
OutputType = tuple[torch.Tensor, torch.Tensor]  # L, float32 [batch, n]; Q, float32 [batch, n, n]

"""Types of qr_v2."""

import torch

InputType = torch.Tensor  # A, float32 [batch, n, n]
OutputType = tuple[torch.Tensor, torch.Tensor]  # H, float32 [batch, n, n]; tau, float32 [batch, n]

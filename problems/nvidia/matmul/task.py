"""Types of matmul."""

import torch

InputType = tuple[torch.Tensor, torch.Tensor]  # A, float16 [m, k]; B, float16 [k, n]
OutputType = torch.Tensor  # A B, float16 [m, n]

"""Types of vectoradd."""

import torch

InputType = tuple[torch.Tensor, torch.Tensor]  # x and y, float32 [size]
OutputType = torch.Tensor  # x + y, float32 [size]

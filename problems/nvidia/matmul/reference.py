"""Inputs and check of matmul."""

import torch
from task import InputType, OutputType


def generate_input(m: int, n: int, k: int, seed: int) -> InputType:
    generator = torch.Generator(device="cuda").manual_seed(seed)
    options = {"device": "cuda", "dtype": torch.float16, "generator": generator}
    return torch.randn(m, k, **options), torch.randn(k, n, **options)


def check_implementation(data: InputType, output: OutputType) -> str | None:
    """None, or what is wrong: each element within 4 eps of |A| |B|, summed in float32."""
    a, b = (part.float() for part in data)
    expected = a @ b
    if output.shape != expected.shape or output.dtype != torch.float16:
        return f"expected float16 of shape {tuple(expected.shape)}"
    allowed = 4 * torch.finfo(torch.float16).eps * (a.abs() @ b.abs())
    # A negated comparison, so that a NaN never passes.
    wrong = int((~((output.float() - expected).abs() <= allowed)).sum().item())
    return f"{wrong} of {expected.numel()} elements differ from A B" if wrong else None

"""Inputs and check of eigh."""

import torch
from task import InputType, OutputType


def generate_input(batch: int, n: int, cond: int, seed: int) -> InputType:
    """Symmetric Gaussian matrices, rows and columns shrinking evenly from 1 to 10^-cond."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    matrix = torch.randn(batch, n, n, device="cuda", generator=generator)
    scale = torch.logspace(0, -cond, n, device="cuda")
    return scale[:, None] * (matrix + matrix.mT) * scale / 2


def check_implementation(data: InputType, output: OutputType) -> str | None:
    """None, or what is wrong with (L, Q), measured in float64 and relative to A's norm."""
    batch, n, _ = data.shape
    shapes = [(batch, n), (batch, n, n)]
    if [(tuple(part.shape), part.dtype) for part in output] != [(s, torch.float32) for s in shapes]:
        return f"expected (L, Q), float32 of shapes {shapes[0]} and {shapes[1]}"
    values, vectors = (part.to(data.device, torch.float64) for part in output)
    matrix = data.double()
    identity = torch.eye(n, device=data.device, dtype=torch.float64)
    allowed = 200 * torch.finfo(torch.float32).eps * n**0.5
    residual = (matrix @ vectors - vectors * values[:, None, :]).norm(dim=(1, 2))
    defects = {
        "A Q differs from Q diag(L)": residual / matrix.norm(dim=(1, 2)),
        "Q is not orthogonal": (vectors.mT @ vectors - identity).norm(dim=(1, 2)) / n**0.5,
        "L is not in ascending order": (values.cummax(1).values - values).amax(1),
    }
    for name, defect in defects.items():
        largest = defect.max().item()
        # A negated comparison, so that a NaN never passes.
        if not largest <= allowed:
            return f"{name}: relative error {largest:.3g} > {allowed:.3g}"
    return None

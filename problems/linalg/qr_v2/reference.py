"""Inputs and check of qr_v2."""

import torch
from task import InputType, OutputType


def generate_input(batch: int, n: int, cond: int, seed: int) -> InputType:
    """Gaussian matrices whose columns shrink evenly from 1 to 10^-cond."""
    generator = torch.Generator(device="cuda").manual_seed(seed)
    matrix = torch.randn(batch, n, n, device="cuda", generator=generator)
    return matrix * torch.logspace(0, -cond, n, device="cuda")


def check_implementation(data: InputType, output: OutputType) -> str | None:
    """None, or what is wrong with (H, tau).

    Applies the reflectors to A in float64: Q^T A must be R, column by column relative to that
    column's norm (Householder QR is stable in that sense), and every reflector orthogonal, which
    it is when tau = 0 or tau * |v|^2 = 2. So neither Q nor a reference result is needed.
    """
    batch, n, _ = data.shape
    shapes = [(batch, n, n), (batch, n)]
    if [(tuple(part.shape), part.dtype) for part in output] != [(s, torch.float32) for s in shapes]:
        return f"expected (H, tau), float32 of shapes {shapes[0]} and {shapes[1]}"
    packed, tau = (part.to(data.device, torch.float64) for part in output)
    allowed = 30 * torch.finfo(torch.float32).eps * n**0.5
    vectors = packed.tril(-1)
    vectors.diagonal(dim1=1, dim2=2).fill_(1)
    defect = torch.where(tau == 0, 0, tau * vectors.square().sum(1) - 2).abs().max().item()
    # Negated comparisons, so that a NaN never passes.
    if not defect <= allowed:
        return f"a reflector is not orthogonal: tau |v|^2 misses 2 by {defect:.3g} > {allowed:.3g}"
    rest = data.double()
    norms = rest.norm(dim=1)
    for column in range(n):
        vector = vectors[:, :, column : column + 1]
        projected = tau[:, column, None, None] * (vector.mT @ rest)
        rest.baddbmm_(vector, projected, alpha=-1)
    residual = ((rest - packed.triu()).norm(dim=1) / norms).max().item()
    if not residual <= allowed:
        return f"Q^T A differs from R: relative column residual {residual:.3g} > {allowed:.3g}"
    return None

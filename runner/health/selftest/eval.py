"""The runner's own problem: one small kernel inside the range that every evaluator opens."""

import os
import sys

import torch
from submission import custom_kernel

NUMBERS = 1 << 20
EXIT_WRONG = 112


def main() -> int:
    """Launch the kernel twice, the second time in the range, and check what came out."""
    data = torch.arange(NUMBERS, dtype=torch.float32, device="cuda")
    custom_kernel(data)  # the first call loads the kernel
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("custom_kernel"):
        output = custom_kernel(data)
        torch.cuda.synchronize()
    good = torch.equal(output.cpu(), 2 * torch.arange(NUMBERS, dtype=torch.float32))
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w") as log:
        print("check:", "pass" if good else "fail", file=log)
    return 0 if good else EXIT_WRONG


if __name__ == "__main__":
    sys.exit(main())

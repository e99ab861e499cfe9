"""A broken evaluator: `profile` opens a range, but not one named custom_kernel."""

import os
import sys
from pathlib import Path

import torch
from submission import custom_kernel


def main() -> int:
    """Run the one case; whatever the mode, the exit status says whether the answer is right."""
    mode, path = sys.argv[1:]
    spec = Path(path).read_text(encoding="utf-8").splitlines()[0]
    data = torch.arange(int(spec.removeprefix("size:")), device="cuda", dtype=torch.float32)
    custom_kernel(data.clone())
    torch.cuda.synchronize()
    with torch.cuda.nvtx.range("benchmark"):
        output = custom_kernel(data.clone())
        torch.cuda.synchronize()
    verdict = "pass" if torch.equal(output, data + data) else "fail"
    kind = "test" if mode == "test" else "benchmark"
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", encoding="utf-8") as log:
        log.write(f"{kind}-count: 1\n{kind}.0.spec: {spec}\n{kind}.0.status: {verdict}\n")
        log.write(f"check: {verdict}\n")
    return 0 if verdict == "pass" else 112


if __name__ == "__main__":
    sys.exit(main())

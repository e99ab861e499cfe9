"""A broken evaluator: it knows the modes test and benchmark, and no profile."""

import os
import sys
from pathlib import Path

import torch
from submission import custom_kernel


def main() -> int:
    """Run the one case; the exit status says whether the answer is right, or 2: unknown mode."""
    mode, path = sys.argv[1:]
    if mode not in ("test", "benchmark"):
        print(f"mode {mode} is not implemented", file=sys.stderr)
        return 2
    spec = Path(path).read_text(encoding="utf-8").splitlines()[0]
    data = torch.arange(int(spec.removeprefix("size:")), device="cuda", dtype=torch.float32)
    verdict = "pass" if torch.equal(custom_kernel(data.clone()), data + data) else "fail"
    with os.fdopen(int(os.environ["POPCORN_FD"]), "w", encoding="utf-8") as log:
        log.write(f"{mode}-count: 1\n{mode}.0.spec: {spec}\n{mode}.0.status: {verdict}\n")
        log.write(f"check: {verdict}\n")
    return 0 if verdict == "pass" else 112


if __name__ == "__main__":
    sys.exit(main())

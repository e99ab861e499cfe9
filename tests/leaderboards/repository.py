"""A small problem repository that tests bend out of shape."""

from pathlib import Path

TASK = """\
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: ../eval.py}
  - {name: reference.py, source: reference.py}
lang: py
config: {main: eval.py}
description: |
  Factorise.
tests:
  - {batch: 2, n: 8, seed: 1}
benchmarks:
  - {batch: 20, n: 32}
  - {batch: 640, n: 512, masked: True, dims: [1, 2], kind: dense}
test_timeout: 60
benchmark_timeout: 90.5
ranking_by: geom
templates: {Python: template.py}
gpus: [B200]
seed: 7
libraries: [cutlass]
"""
COMPETITION = """\
name: linalg
deadline: ""
description: Linear algebra
problems:
  - directory: linalg/qr
    name: qr
    deadline: "2026-12-31"
    gpus: [H200, B200]
  - directory: linalg/eigh
    name: eigh
    deadline: 2026-09-01 9:05
    gpus: [H200]
"""


def make(root: Path) -> Path:
    """Write the repository below `root` and return it."""
    for name in ("qr", "eigh"):
        folder = root / "linalg" / name
        folder.mkdir(parents=True)
        (folder / "task.yml").write_text(TASK)
        (folder / "reference.py").write_text(f"# {name}\n")
        (folder / "template.py").write_text("def custom_kernel(data): ...\n")
    (root / "linalg" / "eval.py").write_text("print()\n")
    (root / "linalg.yaml").write_text(COMPETITION)
    return root


def change(file: Path, old: str, new: str) -> None:
    """Replace text that must be there."""
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))

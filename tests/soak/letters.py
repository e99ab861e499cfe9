"""A problem repository for the bot whose evaluator needs no GPU, and submissions for it."""

from dataclasses import dataclass
from pathlib import Path

from tests.standin.problem import GOOD, replaying

BOARD = "capitals"
MAX_LAUNCHES = 100
"""What the runner of a soak allows."""
TASK = """\
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: eval.py, source: eval.py}
lang: py
config: {main: eval.py}
description: Capitals.
tests:
  - {size: 1024, seed: 31232}
benchmarks:
  - {size: 1024, seed: 31232}
  - {size: 2048, seed: 4052}
benchmark_timeout: 20
gpus: [H200]
"""
COMPETITION = """\
name: letters
deadline: ""
description: Letters
problems:
  - {directory: capitals, name: capitals, deadline: "2099-12-31", gpus: [H200]}
"""


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody attaches, and the options that they type with it."""

    source: str
    benchmark: int | None
    launches: int = 10


def make(root: Path) -> Path:
    """Write the repository below `root` and return it."""
    folder = root / BOARD
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(TASK)
    (folder / "eval.py").write_text("print()\n")
    (root / "letters.yaml").write_text(COMPETITION)
    return root


SUBMISSIONS = (
    Submission(replaying("ok-triton-1024"), 0),
    Submission(replaying("ok-geqrf-four-kernels"), 0),
    Submission(replaying("ok-triton-1024"), None),
    # Nothing is in the range: a result without counters.
    Submission(GOOD, 1),
    # The runner refuses it: no result at all, but a reason.
    Submission(GOOD, 0, MAX_LAUNCHES + 1),
)
HANGING = Submission(replaying("partial-hang-terminated"), 0)
"""Ends by being cancelled only."""

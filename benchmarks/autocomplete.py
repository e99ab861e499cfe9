"""How long one autocomplete answer takes at 1,000 leaderboards.

`python -m benchmarks.autocomplete`. Each measurement is the slowest of the words that somebody may
have typed. The baseline looks for the same words in a bare list of names.
"""

import time
from collections.abc import Callable, Sequence

from benchmarks.figures import Figure, markdown
from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.model import Leaderboard, ProblemFile, Task
from cogs.choices import MOST, leaderboard_choices
from runner_client.wire import PythonEvaluator

BOARDS = 1_000
RUNS = 20
TARGET_S = 0.02
TYPED = ("", "p", "P09", "nothing like it", "PROBLEM 999")
TASK = Task(
    files=(ProblemFile("submission.py", None),),
    evaluator=PythonEvaluator(main="eval.py"),
    description="",
)


def measure(count: int = BOARDS, runs: int = RUNS) -> tuple[Figure, ...]:
    """Time the baseline and the answer in turn, after one unmeasured answer of each."""
    catalogue = Catalogue(tuple(map(_board, range(count))))
    names = [board.name for board in catalogue.all()]

    def answer(typed: str) -> None:
        leaderboard_choices(catalogue.all(), typed)

    def bare(typed: str) -> None:
        _ = [name for name in names if typed in name][:MOST]

    _slowest(answer), _slowest(bare)
    pairs = [(_slowest(answer), _slowest(bare)) for _ in range(runs)]
    figure = Figure(
        name=f"autocomplete at {count:,} leaderboards",
        values=tuple(ours for ours, _ in pairs),
        baseline="scan of a bare list",
        baseline_values=tuple(theirs for _, theirs in pairs),
        target=TARGET_S,
    )
    return (figure,)


def _board(number: int) -> Leaderboard:
    return Leaderboard(
        id=number,
        version_id=number,
        name=f"Problem {number:03} of a competition",
        competition="many",
        deadline=None,
        closed=number % 10 == 0,
        gpus=("H200",),
        commit=None,
        task=TASK,
    )


def _slowest(work: Callable[[str], None], typed: Sequence[str] = TYPED) -> float:
    return max(_seconds(work, word) for word in typed)


def _seconds(work: Callable[[str], None], word: str) -> float:
    start = time.perf_counter()
    work(word)
    return time.perf_counter() - start


def main() -> tuple[Figure, ...]:
    """Measure, print a short table and return the values."""
    figures = measure()
    print(markdown(figures))
    return figures


if __name__ == "__main__":
    main()

"""What the evaluators of a problem set share: case file, seeds, result pipe, statistics.

Each set carries its own copy, so that a set can be moved or uploaded alone.
"""

import math
import os
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

EXIT_USAGE = 2
EXIT_NO_PIPE = 111
EXIT_WRONG = 112
EXIT_BAD_CASES = 113

FIELD = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*([+-]?\d+|[A-Za-z_]\w*)\s*", re.ASCII)

Arguments = dict[str, int | str]


@dataclass(frozen=True)
class Case:
    """One line of the case file: its public text, and what `generate_input` is called with."""

    spec: str
    arguments: Arguments


@dataclass(frozen=True)
class Outcome:
    """What one case came to: an error or none, and further result keys with their values."""

    error: str | None = None
    extra: dict[str, object] = field(default_factory=dict)


class Log:
    """The result pipe: lines `key: value`, flushed one by one."""

    def __init__(self, fd: int):
        os.set_inheritable(fd, False)
        self._pipe = os.fdopen(fd, "w", encoding="utf-8", buffering=1)

    @classmethod
    def from_environment(cls) -> "Log | None":
        """The pipe that the runner passed in POPCORN_FD, which is unset on the way."""
        fd = os.environ.pop("POPCORN_FD", "")
        return cls(int(fd)) if fd.isdecimal() else None

    def write(self, key: str, value: object) -> None:
        # A line feed would end the entry, so it travels as backslash-n.
        self._pipe.write(f"{key}: {value}".replace("\n", "\\n") + "\n")


def read_cases(path: str) -> list[Case]:
    """Cases of a file, one a line; raises OSError, or ValueError naming the field."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    cases = [Case(line.strip(), parse_spec(line)) for line in lines if line.strip()]
    if not cases:
        raise ValueError("no case in the file")
    return cases


def parse_spec(spec: str) -> Arguments:
    """`n: 32; kind: dense` as a dict; a value is an integer where it reads as one."""
    arguments: Arguments = {}
    for text in spec.split(";"):
        match = FIELD.fullmatch(text)
        if match is None:
            raise ValueError(f"cannot read {text.strip()!r} in case {spec.strip()!r}")
        key, value = match.groups()
        arguments[key] = value if value[0].isalpha() or value[0] == "_" else int(value)
    return arguments


def take_seed() -> int | None:
    """POPCORN_SEED, unset before any code of the submission can see it."""
    seed = os.environ.pop("POPCORN_SEED", None)
    return None if seed is None else int(seed)


def reseed(case: Case, base: int | None) -> Case:
    """The case with its seed a replaced by the Cantor pairing of a and `base`; same public text."""
    seed = case.arguments.get("seed")
    if base is None or not isinstance(seed, int):
        return case
    total = seed + base
    return replace(case, arguments={**case.arguments, "seed": seed + total * (total + 1) // 2})


def log_cases(log: Log, mode: str, cases: list[Case], run: Callable[[Arguments], Outcome]) -> int:
    """Run and log every case, in leaderboard mode up to the first failure; the exit status."""
    kind = "test" if mode == "test" else "benchmark"
    log.write(f"{kind}-count", len(cases))
    passed = True
    for index, case in enumerate(cases):
        log.write(f"{kind}.{index}.spec", case.spec)
        outcome = run(case.arguments)
        for key, value in outcome.extra.items():
            log.write(f"{kind}.{index}.{key}", value)
        log.write(f"{kind}.{index}.status", "pass" if outcome.error is None else "fail")
        if outcome.error is not None:
            log.write(f"{kind}.{index}.error", outcome.error)
            passed = False
            if mode == "leaderboard":
                break
    log.write("check", "pass" if passed else "fail")
    return 0 if passed else EXIT_WRONG


def enough(times: list[float], wall_s: float) -> bool:
    """Whether to stop timing: 200 launches, 30 s in all, or from the third launch on a mean
    known to 0.1 % or 10 s of launches. `times` in ns."""
    if len(times) < 3:
        return bool(times) and wall_s > 30
    error = statistics.stdev(times) / math.sqrt(len(times))
    mean = statistics.fmean(times)
    return len(times) >= 200 or wall_s > 30 or error < 0.001 * mean or sum(times) > 10e9


def summarize(times: list[float]) -> dict[str, object]:
    """The benchmark keys of the result pipe; times in ns."""
    deviation = statistics.stdev(times) if len(times) > 1 else 0.0
    return {
        "runs": len(times),
        "mean": statistics.fmean(times),
        "std": deviation,
        "err": deviation / math.sqrt(len(times)),
        "best": min(times),
        "worst": max(times),
    }

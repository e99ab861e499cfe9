"""What the check says of a problem: a verdict and the findings behind it."""

from enum import StrEnum

from msgspec import Struct

REVISION = 1
"""Raised with a change of the rules: a sync judges again what an older revision judged."""


class Verdict(StrEnum):
    """Whether a problem's `profile` mode gives counters, as the command line prints it."""

    NCU = "ncu"
    TORCH_PROFILER_ONLY = "torch-profiler-only"
    NOT_IMPLEMENTED = "not-implemented"
    NOT_NVIDIA = "not-nvidia"
    MULTI_GPU = "multi-gpu"
    UNKNOWN = "unknown"


class Finding(Struct, frozen=True):
    """One thing that was seen in a problem's files.

    `file` is the name under which the evaluator sees it (an entry of task.yml's `files`), or
    `task.yml`; `line` counts from 1 and is None where the whole file is meant. `message` says what
    is wrong and how to mend it.
    """

    rule: str
    file: str
    line: int | None
    message: str


class CheckResult(Struct, frozen=True):
    """The verdict on one task; `findings` in the order of file and line.

    `revision` is REVISION of the rules that a stored verdict was made by.
    """

    profile: Verdict
    findings: tuple[Finding, ...] = ()
    revision: int = 0

"""Why a request is refused or a job is lost: typed data here, worded in bot/wording.py.

Not frozen: contextlib sets the traceback of an exception that passes through it.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.leaderboards.check.model import Verdict
from runner_client.wire import Benchmark


class NcubotError(Exception):
    """Base of every error that has a sentence for the user."""


class Refused(NcubotError):  # noqa: N818 - a refusal is an answer, not an error
    """The request was not accepted; no row was made."""


class NotRegistered(Refused):
    """The Discord user has no account."""


@dataclass(eq=False)
class LeaderboardMissing(Refused):
    """None was typed and the file names none."""

    known: tuple[str, ...]


@dataclass(eq=False)
class LeaderboardUnknown(Refused):
    """No such leaderboard; `nearest` is a guess at what was meant."""

    name: str
    nearest: str | None
    known: tuple[str, ...]


@dataclass(eq=False)
class TemplateMissing(Refused):
    """The problem has no starter file, or none in that language."""

    leaderboard: str
    language: str | None
    known: tuple[str, ...]


@dataclass(eq=False)
class LeaderboardClosed(Refused):
    """It was closed by an admin, or left the competition."""

    name: str


@dataclass(eq=False)
class DeadlinePassed(Refused):
    """Profiling after the deadline is switched off by the operator."""

    name: str
    deadline: datetime


@dataclass(eq=False)
class GpuMissing(Refused):
    """Several GPUs are listed and none was chosen."""

    listed: tuple[str, ...]


@dataclass(eq=False)
class GpuNotListed(Refused):
    """The competition YAML does not list this GPU."""

    gpu: str
    leaderboard: str
    listed: tuple[str, ...]


@dataclass(eq=False)
class GpuWithoutRunner(Refused):
    """Listed, but no runner of this bot has it."""

    gpu: str
    available: tuple[str, ...]


@dataclass(eq=False)
class MultiGpu(Refused):
    """ncu serialises launches, so a task over several GPUs would never end under it."""

    leaderboard: str


@dataclass(eq=False)
class ProfileUnsupported(Refused):
    """The evaluator cannot give counters, says the check; `able` are leaderboards that can.

    `verdict` is never ncu or unknown.
    """

    leaderboard: str
    verdict: Verdict
    able: tuple[str, ...]


@dataclass(eq=False)
class BenchmarkOutOfRange(Refused):
    """No entry of that index."""

    index: int
    valid: tuple[Benchmark, ...]


@dataclass(eq=False)
class FileTypeWrong(Refused):
    """The problem's language takes other endings."""

    file_name: str
    allowed: tuple[str, ...]


@dataclass(eq=False)
class FileEmpty(Refused):
    """Nothing but white space."""

    file_name: str


@dataclass(eq=False)
class FileTooLarge(Refused):
    """Over the limit in bytes."""

    file_name: str
    size: int
    limit: int


@dataclass(eq=False)
class FileNotText(Refused):
    """Not UTF-8, or holding NUL bytes."""

    file_name: str


@dataclass(eq=False)
class FileUnreadable(Refused):
    """Discord no longer has the attachment."""

    file_name: str


@dataclass(eq=False)
class OptionInvalid(Refused):
    """A capture option that ncu would not take."""

    option: str
    reason: str


@dataclass(eq=False)
class DiscordRefused(NcubotError):  # noqa: N818 - an answer that Discord gave
    """Discord does not let the bot in, or cannot be reached."""

    reason: str


class RunnerFault(NcubotError):  # noqa: N818 - whose fault it is, is its point
    """The operator's side failed; never the user's fault."""


@dataclass(eq=False)
class RunnerNotStarted(RunnerFault):
    """The bot's own runner did not come up; `reason` is the last thing that it said."""

    reason: str


@dataclass(eq=False)
class RunnerDown(RunnerFault):
    """No answer from the runner."""

    runner: str


@dataclass(eq=False)
class RunnerDenied(RunnerFault):
    """The runner did not take the bot's token."""

    runner: str


@dataclass(eq=False)
class RunnerUntrusted(RunnerFault):
    """The runner's certificate is not the one that the settings trust."""

    runner: str
    reason: str


@dataclass(eq=False)
class OverLimit(RunnerFault):
    """The job asks for more launches than the operator allows; `reason` has the figures."""

    runner: str
    reason: str


@dataclass(eq=False)
class RunnerBusy(RunnerFault):
    """The runner takes no job at the moment: its queue is full, or it cannot profile now."""

    runner: str
    reason: str


@dataclass(eq=False)
class RunnerRefused(RunnerFault):
    """The runner answered that it does not take the job."""

    runner: str
    reason: str


@dataclass(eq=False)
class RunnerBroken(RunnerFault):
    """The runner's answer broke the contract (wrong hash, unknown field, over a size)."""

    runner: str
    reason: str


@dataclass(eq=False)
class JobVanished(RunnerFault):
    """The runner does not know a job that it had accepted."""

    runner: str
    job_id: str


@dataclass(eq=False)
class NotYours(Refused):
    """The job belongs to somebody else, or does not exist; which of them is not told."""

    job_id: str


@dataclass(eq=False)
class ResultGone(Refused):
    """The job's files are no longer on the disk, or it never had counters."""

    job_id: str


@dataclass(eq=False)
class NoBenchmarks(Refused):
    """The task declares nothing to profile."""

    leaderboard: str

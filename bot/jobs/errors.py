"""Why a request is refused or a job is lost: typed data here, worded in bot/wording.py.

Not frozen: contextlib sets the traceback of an exception that passes through it.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.leaderboards.check.model import Verdict
from runner_client.wire import Benchmark


class NcubotError(Exception):
    """Base of every error that has a sentence for the user."""


class Refused(NcubotError):  # noqa: N818 - a refusal is an answer, not an error
    """The request was not accepted; no row was made."""


class AccountRefusal(Refused):
    """It is about who asks, not about what is asked for."""


class NotRegistered(AccountRefusal):
    """The Discord user has no account."""


@dataclass(eq=False)
class Banned(AccountRefusal):
    """An admin has banned the user."""

    reason: str


class JobsStopped(Refused):
    """An admin lets the bot take no jobs at the moment."""


@dataclass(eq=False)
class QuotaUsed(AccountRefusal):
    """A rule allows no further job: `rule` words it, `most` is its number of jobs.

    `until` is when the next one is free, None where the rule allows none at all.
    """

    rule: str
    most: int
    until: datetime | None


@dataclass(eq=False)
class TooManyUnderWay(AccountRefusal):
    """As many of the user's jobs have not ended as may be at once."""

    most: int


class CliIdUnreadable(AccountRefusal):
    """No popcorn-cli id stands in what was pasted."""


@dataclass(eq=False)
class CliIdUnknown(AccountRefusal):
    """This server did not hand the id out within the last `life`."""

    life: timedelta


class CliIdTaken(AccountRefusal):
    """Somebody else has linked the id."""


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


@dataclass(eq=False)
class CannotServe(NcubotError):  # noqa: N818 - what the operator is told
    """Terminals cannot be served at an address."""

    address: str
    reason: str


@dataclass(eq=False)
class BotBroken(NcubotError):  # noqa: N818 - whose fault it is, is its point
    """The bot itself failed on a job; the log has the cause under `number`."""

    number: str


@dataclass(eq=False)
class NeverCalledFor(NcubotError):  # noqa: N818 - nobody's fault
    """No way led to the author, who typed nothing while the result was kept."""


@dataclass(eq=False)
class PermissionsMissing(Refused):
    """Discord does not let the bot send there what a reply consists of; `names` are Discord's."""

    names: tuple[str, ...]


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
class NoCounters(Refused):
    """The job was not to have counters: it is a census or a timeline, as `mode` says."""

    job_id: str
    mode: str


@dataclass(eq=False)
class NoBenchmarks(Refused):
    """The task declares nothing to profile."""

    leaderboard: str


@dataclass(eq=False)
class OptionForAdmins(Refused):
    """Somebody without the admin permission used an option that is not theirs."""

    option: str


@dataclass(eq=False)
class JobUnderWay(Refused):
    """The job has not ended, or its author has not been reached yet."""

    job_id: str
    phase: str


@dataclass(eq=False)
class JobOver(Refused):
    """There is nothing to cancel any more."""

    job_id: str


@dataclass(eq=False)
class FilesGone(Refused):
    """The job's files were removed at that moment: by age, for room, or they got lost."""

    job_id: str
    at: datetime


@dataclass(eq=False)
class NoFiles(Refused):
    """The job brought no files."""

    job_id: str


@dataclass(eq=False)
class RunnerUnknown(Refused):
    """The settings name no such runner."""

    name: str
    known: tuple[str, ...]


@dataclass(eq=False)
class NotSent(NcubotError):  # noqa: N818 - Discord's answer, not an error of ours
    """Discord does not take a reply that was asked for again; `reason` is for the log."""

    reason: str

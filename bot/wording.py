"""Where errors become sentences. Plain text; whoever sends it to Discord escapes it."""

from collections.abc import Callable, Iterable
from functools import singledispatch

from bot.config import ConfigError
from bot.jobs import errors
from bot.leaderboards.errors import GrammarError, SourceError
from bot.storage import errors as storage
from runner_client.wire import Failure, FailureKind

MAX_LISTED = 12
MAX_TEXT = 200
MAX_CHOICES = 800
"""For evidence that lists what the user can choose instead."""
_CHOICES = {FailureKind.FILTER_MATCHED_NONE, FailureKind.NOT_RECORDED}


def sentence(error: errors.NcubotError) -> str:
    """Say in one sentence what is wrong and what to do next."""
    return _sentence(error)


def failure_sentence(failure: Failure) -> str:
    """Say in one sentence why a benchmark gave no counters, and what to do next."""
    limit = MAX_CHOICES if failure.kind in _CHOICES else MAX_TEXT
    return _FAILURES[failure.kind](short(failure.detail, limit))


def short(text: str, limit: int = MAX_TEXT) -> str:
    """Put somebody else's text on one line and cut it."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def listed(names: Iterable[str]) -> str:
    """Join names for a sentence, at most MAX_LISTED of them."""
    every = [short(name, 100) for name in names]
    more = f" and {len(every) - MAX_LISTED} more" if len(every) > MAX_LISTED else ""
    return ", ".join(every[:MAX_LISTED]) + more


@singledispatch
def _sentence(error: errors.NcubotError) -> str:
    raise NotImplementedError(type(error))


@_sentence.register
def _(_: errors.NotRegistered) -> str:
    return "You have no account yet: type /register first."


@_sentence.register
def _(error: errors.LeaderboardMissing) -> str:
    return (
        f"No leaderboard was chosen and the file names none: choose one of {_or_none(error.known)}."
    )


@_sentence.register
def _(error: errors.LeaderboardUnknown) -> str:
    name = short(error.name, 100)
    if error.nearest is not None:
        return f'No leaderboard "{name}"; did you mean {error.nearest}?'
    return f'No leaderboard "{name}"; there are {_or_none(error.known)}.'


@_sentence.register
def _(error: errors.LeaderboardClosed) -> str:
    return f"Leaderboard {error.name} is closed: /leaderboard list shows the open ones."


@_sentence.register
def _(error: errors.DeadlinePassed) -> str:
    when = error.deadline.strftime("%Y-%m-%d %H:%M UTC")
    return (
        f"The deadline of {error.name} passed on {when}, and this server profiles nothing after "
        "it: choose another leaderboard."
    )


@_sentence.register
def _(error: errors.GpuMissing) -> str:
    return f"Several GPUs are possible: choose one of {listed(error.listed)}."


@_sentence.register
def _(error: errors.GpuNotListed) -> str:
    return (
        f'{error.leaderboard} does not run on "{short(error.gpu, 100)}": choose one of '
        f"{_or_none(error.listed)}."
    )


@_sentence.register
def _(error: errors.GpuWithoutRunner) -> str:
    instead = f"choose one of {listed(error.available)}" if error.available else "ask an admin"
    return f"No runner of this server has {short(error.gpu, 100)} at the moment: {instead}."


@_sentence.register
def _(error: errors.MultiGpu) -> str:
    return (
        f"{error.leaderboard} runs on several GPUs at once, and under ncu, which serialises kernel "
        "launches, it would never end: profile a single-GPU problem."
    )


@_sentence.register
def _(error: errors.NoBenchmarks) -> str:
    return f"{error.leaderboard} declares no benchmarks to profile: choose another leaderboard."


@_sentence.register
def _(error: errors.BenchmarkOutOfRange) -> str:
    valid = [f"{entry.index} ({entry.spec})" for entry in error.valid]
    return f"There is no benchmark {error.index}: choose one of {listed(valid)}."


@_sentence.register
def _(error: errors.FileTypeWrong) -> str:
    return (
        f'"{short(error.file_name, 100)}" is of a type that this problem does not take: it takes '
        f"{' or '.join(error.allowed)} files."
    )


@_sentence.register
def _(error: errors.FileEmpty) -> str:
    return f'"{short(error.file_name, 100)}" is empty: it must hold the kernel that you want profiled.'


@_sentence.register
def _(error: errors.FileTooLarge) -> str:
    return (
        f'"{short(error.file_name, 100)}" has {error.size:,} bytes and the limit is '
        f"{error.limit:,}: send a smaller file."
    )


@_sentence.register
def _(error: errors.FileNotText) -> str:
    return (
        f'"{short(error.file_name, 100)}" is not UTF-8 text: save it as UTF-8 and send it again.'
    )


@_sentence.register
def _(error: errors.FileUnreadable) -> str:
    return f'"{short(error.file_name, 100)}" could not be downloaded from Discord: attach it again.'


@_sentence.register
def _(error: errors.OptionInvalid) -> str:
    return f"Option {error.option} cannot be used: {short(error.reason)}."


@_sentence.register
def _(error: errors.NotYours) -> str:
    return f'You have no job "{short(error.job_id, 40)}".'


@_sentence.register
def _(error: errors.DiscordRefused) -> str:
    return f"Discord did not let the bot in ({short(error.reason)}): check DISCORD_TOKEN."


@_sentence.register
def _(error: errors.RunnerNotStarted) -> str:
    return f"The bot's own runner did not start: {short(error.reason)}."


@_sentence.register
def _(error: errors.RunnerDown) -> str:
    return f"Runner {error.runner} does not answer; this is not your fault: try again later."


@_sentence.register
def _(error: errors.RunnerDenied) -> str:
    return (
        f"Runner {error.runner} does not accept this bot's token; this is not your fault: an admin "
        "must set the same token on both sides."
    )


@_sentence.register
def _(error: errors.RunnerRefused) -> str:
    return f"Runner {error.runner} did not take the job ({short(error.reason)}): tell an admin."


@_sentence.register
def _(error: errors.RunnerBroken) -> str:
    return (
        f"Runner {error.runner} gave an answer that cannot be used ({short(error.reason)}); this "
        "is not your fault: tell an admin."
    )


@_sentence.register
def _(error: errors.JobVanished) -> str:
    return (
        f"Runner {error.runner} no longer knows job {error.job_id}; this is not your fault: type "
        "/profile again."
    )


@_sentence.register
def _(error: ConfigError) -> str:
    field = f", {error.field}" if error.field else ""
    return f"{error.source}{field}: {short(error.reason)}."


@_sentence.register
def _(error: GrammarError) -> str:
    return f"{short(error.file)}: {short(error.reason, 400)}."


@_sentence.register
def _(error: SourceError) -> str:
    return f"{short(error.source)}: {short(error.reason)}."


@_sentence.register
def _(error: storage.DatabaseUrlError) -> str:
    return f"The database URL cannot be used: {short(error.reason)}."


@_sentence.register
def _(error: storage.DatabaseUnreachableError) -> str:
    return f"The database at {short(error.place)} cannot be reached: {short(error.reason)}."


@_sentence.register
def _(error: storage.DatabaseBehindError) -> str:
    found = f"at revision {error.found}" if error.found else "empty"
    return (
        f"The database is {found} and revision {error.needed} is needed: run `ncubot db upgrade`."
    )


@_sentence.register
def _(error: storage.DatabaseAheadError) -> str:
    return (
        f"The database is at revision {error.found}, which this program does not know: install "
        "the newer ncubot that made it."
    )


def _or_none(names: tuple[str, ...]) -> str:
    return listed(names) if names else "none so far, ask an admin"


def _with(text: str, mend: str) -> Callable[[str], str]:
    """Make a sentence of a cause and a next step, the evidence in brackets between them."""
    return lambda detail: f"{text}{f' ({detail})' if detail else ''}: {mend}."


_FAILURES: dict[FailureKind, Callable[[str], str]] = {
    FailureKind.PROFILE_MODE_MISSING: _with(
        "This problem's evaluator has no profile mode",
        "it cannot give counters until its author adds one",
    ),
    FailureKind.NOTHING_IN_RANGE: _with(
        "No kernel was launched inside the range custom_kernel",
        "check that your code launches its kernels from the calling thread, and that the "
        "problem's evaluator opens that range",
    ),
    FailureKind.FILTER_MATCHED_NONE: _with(
        "The kernel filter matched nothing", "choose one of the kernels that were launched"
    ),
    FailureKind.SUBMISSION_ERROR: _with(
        "Your submission failed", "mend the error and profile again"
    ),
    FailureKind.COMPILE_ERROR: _with(
        "Your submission did not compile", "mend the error and profile again"
    ),
    FailureKind.WRONG_ANSWER: _with(
        "The evaluator said that the output is wrong", "run the problem's tests first"
    ),
    FailureKind.TIME_LIMIT: _with(
        "The time limit was reached",
        "ask for one benchmark, fewer launches or one kernel, since profiling is far slower than a "
        "plain run",
    ),
    FailureKind.COUNTERS_DENIED: _with(
        "The GPU's counters are closed to the runner",
        "this is not your fault, an admin must permit them in the driver",
    ),
    FailureKind.PROFILER_ERROR: _with(
        "Nsight Compute failed", "this is not your fault, try again and tell an admin if it stays"
    ),
    FailureKind.EXPORT_FAILED: _with(
        "The report was captured but could not be read into a table",
        "open the .ncu-rep file in Nsight Compute",
    ),
    FailureKind.EVALUATOR_ERROR: _with(
        "The problem's evaluator failed", "this is not your fault, tell the problem's author"
    ),
    FailureKind.CANCELLED: _with("The job was cancelled", "type /profile to start another"),
    FailureKind.NOT_RECORDED: _with(
        "This runner has no GPU and replays recordings only", "choose one that it has"
    ),
    FailureKind.RUNNER_ERROR: _with(
        "The runner failed", "this is not your fault, try again and tell an admin if it stays"
    ),
}

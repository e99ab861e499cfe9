"""Where errors become sentences. Plain text; whoever sends it to Discord escapes it."""

from functools import singledispatch

from bot.accounts.words import account_sentence
from bot.config import ConfigError
from bot.failures import FAILURES
from bot.jobs import errors
from bot.leaderboards.check.model import Verdict
from bot.leaderboards.errors import GrammarError, SourceError, SyncBusy
from bot.phrases import MAX_TEXT, listed, short
from bot.storage import errors as storage
from runner_client.wire import Failure, FailureKind

MAX_CHOICES = 800
"""For evidence that lists what the user can choose instead."""
_CHOICES = {FailureKind.FILTER_MATCHED_NONE, FailureKind.NOT_RECORDED}


def sentence(error: errors.NcubotError) -> str:
    """Say in one sentence what is wrong and what to do next."""
    return _sentence(error)


def failure_sentence(failure: Failure) -> str:
    """Say in one sentence why a benchmark gave no counters, and what to do next."""
    row = FAILURES[failure.kind]
    detail = short(failure.detail, MAX_CHOICES if failure.kind in _CHOICES else MAX_TEXT)
    return f"{row.cause}{f' ({detail})' if detail else ''}: {row.mend}."


@singledispatch
def _sentence(error: errors.NcubotError) -> str:
    raise NotImplementedError(type(error))


@_sentence.register
def _(error: errors.AccountRefusal) -> str:
    return account_sentence(error)


@_sentence.register
def _(_: errors.JobsStopped) -> str:
    return "An admin lets the bot take no jobs at the moment: try again later."


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
def _(error: errors.TemplateMissing) -> str:
    if not error.known:
        return f"{error.leaderboard} has no starter file: ask its author for one."
    language = short(error.language or "", 40)
    return (
        f"{error.leaderboard} has no starter file in {language}: choose one of "
        f"{listed(error.known)}."
    )


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


_CANNOT = {
    Verdict.TORCH_PROFILER_ONLY: "its evaluator profiles with torch.profiler only",
    Verdict.NOT_IMPLEMENTED: "its evaluator has no `profile` mode that ncu can select",
    Verdict.NOT_NVIDIA: "it runs on other GPUs than NVIDIA's",
    Verdict.MULTI_GPU: "it runs on several GPUs at once",
}


@_sentence.register
def _(error: errors.ProfileUnsupported) -> str:
    instead = f"profile one of {listed(error.able)}" if error.able else "ask an admin"
    return (
        f"{error.leaderboard} cannot give hardware counters, since {_CANNOT[error.verdict]}: "
        f"{instead}."
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
    name = short(error.file_name, 100)
    return f'"{name}" is empty: it must hold the kernel that you want profiled.'


@_sentence.register
def _(error: errors.FileTooLarge) -> str:
    return (
        f'"{short(error.file_name, 100)}" has {error.size:,} bytes and the limit is '
        f"{error.limit:,}: send a smaller file."
    )


@_sentence.register
def _(error: errors.FileNotText) -> str:
    return f'"{short(error.file_name, 100)}" is not UTF-8 text: save it as UTF-8 and send it again.'


@_sentence.register
def _(error: errors.FileUnreadable) -> str:
    return f'"{short(error.file_name, 100)}" could not be downloaded from Discord: attach it again.'


@_sentence.register
def _(error: errors.OptionInvalid) -> str:
    return f"Option {error.option} cannot be used: {short(error.reason)}."


@_sentence.register
def _(error: errors.ResultGone) -> str:
    return f"The counters of job {error.job_id[:8]} are no longer kept here: profile again."


@_sentence.register
def _(error: errors.NoCounters) -> str:
    return (
        f"Job {error.job_id[:8]} is a {error.mode} and has no counters: look at it with "
        "/profiles show, or profile with another capture mode."
    )


@_sentence.register
def _(error: errors.NotYours) -> str:
    return f'You have no job "{short(error.job_id, 40)}".'


@_sentence.register
def _(error: errors.OptionForAdmins) -> str:
    return (
        f"Option {error.option} is for admins, who have the Manage Server permission or the admin "
        "role: leave it out for your own."
    )


@_sentence.register
def _(error: errors.JobUnderWay) -> str:
    return (
        f"Job {error.job_id[:8]} is still {error.phase}: wait for its reply, or end it with "
        "/profiles cancel."
    )


@_sentence.register
def _(error: errors.JobOver) -> str:
    return f"Job {error.job_id[:8]} has ended already: /profiles show has what came of it."


@_sentence.register
def _(error: errors.FilesGone) -> str:
    return (
        f"The files of job {error.job_id[:8]} are no longer kept here, since "
        f"{error.at:%Y-%m-%d %H:%M} UTC: profile again."
    )


@_sentence.register
def _(error: errors.NoFiles) -> str:
    return f"Job {error.job_id[:8]} brought no files: /profiles show says why."


@_sentence.register
def _(_: errors.NotSent) -> str:
    return "Discord did not take the rest of the reply: try the same command again."


@_sentence.register
def _(error: errors.RunnerUnknown) -> str:
    return f'No runner "{short(error.name, 63)}"; there are {_or_none(error.known)}.'


@_sentence.register
def _(error: errors.CannotServe) -> str:
    return (
        f"Terminals cannot be served on {error.address} ({short(error.reason)}): "
        "set another web_port or web_host."
    )


@_sentence.register
def _(error: errors.DiscordRefused) -> str:
    return f"Discord did not let the bot in ({short(error.reason)}): check DISCORD_TOKEN."


@_sentence.register
def _(error: errors.BotBroken) -> str:
    return f"Something broke on our side, not yours: tell an admin the number {error.number}."


@_sentence.register
def _(_: errors.NeverCalledFor) -> str:
    return (
        "You could not be reached, and the result was kept for as long as the operator keeps any: "
        "allow direct messages from this server and profile again."
    )


@_sentence.register
def _(error: errors.PermissionsMissing) -> str:
    return (
        f"In this channel the bot lacks {listed(error.names)}, and could not send your results: an "
        "admin must allow it, or type the command in another channel."
    )


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
def _(error: errors.RunnerUntrusted) -> str:
    return (
        f"Runner {error.runner} has a certificate that this bot does not trust "
        f"({short(error.reason)}); this is not your fault: an admin must set its ca or fingerprint."
    )


@_sentence.register
def _(error: errors.OverLimit) -> str:
    return failure_sentence(Failure(kind=FailureKind.LAUNCH_LIMIT, detail=error.reason))


@_sentence.register
def _(error: errors.RunnerBusy) -> str:
    return (
        f"Runner {error.runner} takes no job at the moment ({short(error.reason)}); this is not "
        "your fault: try again later."
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
    return f"{short(error.source)}: {short(error.reason, 400)}."


@_sentence.register
def _(_: SyncBusy) -> str:
    return "Another sync is under way: try again when it has ended."


@_sentence.register
def _(error: storage.DatabaseUrlError) -> str:
    return f"The database URL cannot be used: {short(error.reason)}."


@_sentence.register
def _(error: storage.DatabaseUnreachableError) -> str:
    return f"The database at {short(error.place)} cannot be reached: {short(error.reason)}."


@_sentence.register
def _(error: storage.DatabaseTakenError) -> str:
    return (
        f"Another bot works on the database at {short(error.place)}: stop that one first, or give "
        "this one its own (database_url)."
    )


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

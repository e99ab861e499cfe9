"""Every error and every failure has one sentence with a next step."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import bot.services
import cli.main
from bot.config import ConfigError
from bot.jobs import errors
from bot.leaderboards.check.model import Verdict
from bot.leaderboards.errors import GrammarError, SourceError, SyncBusy
from bot.storage import errors as storage
from bot.wording import failure_sentence, sentence
from runner_client.wire import Benchmark, Failure, FailureKind

LOADED = (bot.services, cli.main)
"""What must be imported for all subclasses to exist."""
SHAPES = tuple(Benchmark(index=index, spec=f"n: {index}") for index in range(40))
EXAMPLES: dict[type[errors.NcubotError], tuple[errors.NcubotError, str]] = {
    type(error): (error, said)
    for error, said in (
        (errors.NotRegistered(), "You have no account yet: type /register first."),
        (errors.JobsStopped(), "take no jobs at the moment: try again later."),
        (errors.Banned("spam"), "You may not use this bot (spam): ask an admin."),
        (
            errors.QuotaUsed("20 jobs in 1 day", 20, datetime(2026, 9, 1, 12, 0, 1, tzinfo=UTC)),
            "You have used your 20 jobs in 1 day: come back at 2026-09-01 12:01 UTC.",
        ),
        (errors.TooManyUnderWay(1), "You have 1 job under way, which is as many as you may have"),
        (errors.CliIdUnreadable(), "paste the id from .popcorn.yaml"),
        (errors.CliIdUnknown(timedelta(minutes=10)), "in the last 10 minutes: run `popcorn-cli"),
        (errors.CliIdTaken(), "belongs to another account: run `popcorn-cli reregister discord`"),
        (errors.LeaderboardMissing(("a", "b")), "choose one of a, b."),
        (errors.LeaderboardUnknown("qr_v3", "qr_v2", ()), "did you mean qr_v2?"),
        (errors.TemplateMissing("qr", "HIP", ("Python",)), "in HIP: choose one of Python."),
        (errors.LeaderboardClosed("qr"), "Leaderboard qr is closed: /leaderboard list"),
        (errors.DeadlinePassed("qr", datetime(2026, 9, 1, tzinfo=UTC)), "2026-09-01 00:00 UTC"),
        (errors.GpuMissing(("H200", "B200")), "choose one of H200, B200."),
        (
            errors.GpuNotListed("T4", "qr", ("H200",)),
            'qr does not run on "T4": choose one of H200.',
        ),
        (errors.GpuWithoutRunner("B200", ("H200",)), "has B200 at the moment: choose one of H200."),
        (errors.MultiGpu("qr"), "qr runs on several GPUs at once"),
        (
            errors.ProfileUnsupported("sort", Verdict.NOT_IMPLEMENTED, ("qr", "eigh")),
            "that ncu can select: profile one of qr, eigh.",
        ),
        (errors.NoBenchmarks("qr"), "qr declares no benchmarks"),
        (errors.BenchmarkOutOfRange(41, SHAPES), "no benchmark 41: choose one of 0 (n: 0), 1 (n"),
        (errors.FileTypeWrong("a.txt", (".cu", ".cpp")), "it takes .cu or .cpp files."),
        (errors.FileEmpty("a.py"), '"a.py" is empty'),
        (errors.FileTooLarge("a.py", 2_000_000, 1_000_000), "2,000,000 bytes and the limit is 1,"),
        (errors.FileNotText("a.py"), "is not UTF-8 text: save it as UTF-8"),
        (errors.FileUnreadable("a.py"), "attach it again."),
        (errors.OptionInvalid("kernel_name", "expected one line"), "Option kernel_name cannot be"),
        (errors.NotYours("f" * 32), "You have no job"),
        (errors.ResultGone("f" * 32), "no longer kept here: profile again."),
        (
            errors.NoCounters("f" * 32, "census"),
            "is a census and has no counters: look at it with /profiles show, or profile",
        ),
        (errors.OptionForAdmins("user"), "Option user is for admins, who have the Manage Server"),
        (errors.JobUnderWay("f" * 32, "queued"), "Job ffffffff is still queued: wait for its"),
        (errors.JobOver("f" * 32), "Job ffffffff has ended already: /profiles show has"),
        (errors.FilesGone("f" * 32, datetime(2026, 9, 1, tzinfo=UTC)), "since 2026-09-01 00:00"),
        (errors.NoFiles("f" * 32), "Job ffffffff brought no files: /profiles show says why."),
        (errors.NotSent("413"), "Discord did not take the rest of the reply: try the same"),
        (errors.RunnerUnknown("r9", ("r1",)), 'No runner "r9"; there are r1.'),
        (errors.NeverCalledFor(), "allow direct messages from this server and profile again."),
        (errors.BotBroken("1a2b"), "not yours: tell an admin the number 1a2b."),
        (errors.PermissionsMissing(("Attach Files",)), "the bot lacks Attach Files, and could not"),
        (errors.RunnerDown("r1"), "Runner r1 does not answer; this is not your fault"),
        (errors.RunnerDenied("r1"), "does not accept this bot's token"),
        (errors.OverLimit("r1", "20 are asked"), "allows (20 are asked): ask for fewer launches"),
        (errors.RunnerBusy("r1", "the queue is full"), "(the queue is full); this is not your"),
        (errors.RunnerRefused("r1", "HTTP status 409"), "(HTTP status 409): tell an admin."),
        (errors.RunnerUntrusted("r1", "self-signed certificate"), "must set its ca or fingerprint"),
        (errors.RunnerBroken("r1", "wrong hash"), "(wrong hash)"),
        (errors.JobVanished("r1", "f" * 32), "no longer knows job"),
        (errors.RunnerNotStarted("no ncu"), "did not start: no ncu."),
        (errors.CannotServe("::1:80", "in use"), "on ::1:80 (in use): set another web_port"),
        (errors.DiscordRefused("401"), "check DISCORD_TOKEN."),
        (ConfigError("ncubot.toml [bot]", "data", "expected text"), "[bot], data: expected text."),
        (GrammarError("qr/task.yml", "no lang"), "qr/task.yml: no lang."),
        (SourceError("x", "no such folder"), "x: no such folder."),
        (SyncBusy(), "Another sync is under way"),
        (storage.DatabaseUrlError("no URL"), "The database URL cannot be used: no URL."),
        (storage.DatabaseUnreachableError("pg://h/x", "refused"), "pg://h/x cannot be reached"),
        (storage.DatabaseTakenError("pg://h/x"), "Another bot works on the database at pg://h/x"),
        (storage.DatabaseBehindError("0001", "0002"), "run `ncubot db upgrade`"),
        (storage.DatabaseAheadError("0003"), "install the newer ncubot"),
    )
}


def leaves(kind: type[errors.NcubotError]) -> Iterator[type[errors.NcubotError]]:
    below = [sub for sub in kind.__subclasses__() if not sub.__module__.startswith("tests.")]
    if not below:
        yield kind
    for sub in below:
        yield from leaves(sub)


@pytest.mark.parametrize("kind", list(leaves(errors.NcubotError)), ids=lambda kind: kind.__name__)
def test_every_error_has_its_sentence(kind: type[errors.NcubotError]) -> None:
    error, said = EXAMPLES[kind]
    words = sentence(error)
    assert said in words
    is_one_sentence(words)


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_has_its_sentence(kind: FailureKind) -> None:
    bare = failure_sentence(Failure(kind=kind))
    is_one_sentence(bare)
    assert ": " in bare
    told = failure_sentence(Failure(kind=kind, detail="NameError: x\nis not\tdefined"))
    is_one_sentence(told)
    assert "(NameError: x is not defined)" in told


def is_one_sentence(words: str) -> None:
    assert "\n" not in words
    assert words[-1] in ".?"
    assert ". " not in words
    assert len(words) < 500


def test_hostile_text_stays_on_one_line_and_short() -> None:
    error = errors.LeaderboardUnknown("a\nb" * 5_000, None, tuple(f"board{i}" for i in range(99)))
    words = sentence(error)
    assert "\n" not in words
    assert len(words) < 500
    assert words.endswith("and 87 more.")
    told = failure_sentence(Failure(kind=FailureKind.SUBMISSION_ERROR, detail="x" * 1_000))
    assert len(told) < 400


def test_nothing_to_list() -> None:
    assert "none so far, ask an admin" in sentence(errors.LeaderboardMissing(()))
    assert sentence(errors.GpuWithoutRunner("B200", ())).endswith("at the moment: ask an admin.")
    assert "The database is empty" in sentence(storage.DatabaseBehindError(None, "1"))

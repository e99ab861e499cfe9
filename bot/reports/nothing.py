"""The message of a job that brought nothing at all: one sentence that says why."""

from bot.jobs.model import Job, JobPhase
from bot.reports.message import TITLE_LIMIT, ReplyMessage, Tone
from bot.reports.neutral import clip, inline, plain
from bot.wording import failure_sentence
from runner_client.wire import Failure, FailureKind

SENTENCE_LIMIT = 1_500


def nothing_came(job: Job, words: str | None) -> ReplyMessage:
    """Return the message; `words` are plain, None for a job that was cancelled before it began."""
    cancelled = words is None and job.phase is JobPhase.CANCELLED
    kind = FailureKind.CANCELLED if cancelled else FailureKind.RUNNER_ERROR
    words = words or failure_sentence(Failure(kind=kind))
    title = f"{job.leaderboard} on {job.gpu}: {'cancelled' if cancelled else 'no counters'}"
    return ReplyMessage(
        title=clip(plain(title), TITLE_LIMIT),
        tone=Tone.WARNING if cancelled else Tone.BAD,
        description=inline(words, SENTENCE_LIMIT),
    )

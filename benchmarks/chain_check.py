"""Whether each accepted job came to its author exactly once, and with what."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select

from bot.storage.database import open_database
from bot.storage.tables import JobRow
from runner_client.wire import BenchmarkStatus
from tests.discord.client import SmallDiscord
from tests.discord.orders import Seen
from tests.discord.records import Message
from tests.discord.runner import MANIFEST
from tests.discord.stage import job_of, results
from tests.soak.settled import Accepted, until_settled

SETTLED_S = 120.0
RUNNER_DIED = ("runner-down", "runner-lost", "job-vanished")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Jobs by what became of them; `reasons` counts the kinds of failures of whole jobs.

    `counters` is how many brought the counters of every benchmark.
    """

    accepted: int
    counters: int
    once: int
    lost: int
    doubled: int
    reasons: Counter[str]

    def words(self) -> str:
        """Say it in lines."""
        died = sum(self.reasons[kind] for kind in RUNNER_DIED)
        others = self.reasons.total() - died
        return (
            f"accepted: {self.accepted}, each once with its author: {self.once}, "
            f"lost: {self.lost}, doubled: {self.doubled}; with counters: {self.counters}\n"
            f"failed with a reason: {died} that a runner died, "
            f"{others} others {dict(self.reasons) if others else ''}".rstrip()
        )

    def demand(self) -> None:
        """End the program with an error where a job was lost or came twice."""
        if self.lost or self.doubled or self.once != self.accepted:
            sys.exit("a job was lost or came twice")


async def checked(discord: SmallDiscord, database_url: str, users: Iterable[int]) -> Check:
    """Wait until every job is over, then compare the database with what each user sees."""
    jobs = await until_settled(database_url, SETTLED_S)
    off = Counter[str]()
    for user in users:
        own = [job for job in jobs if job.user == user]
        off += await _off(discord, own, await discord.seen(user))
    return Check(
        accepted=len(jobs),
        counters=sum(map(_has_counters, jobs)),
        once=len(jobs) - off.total(),
        lost=off["lost"],
        doubled=off["doubled"],
        reasons=await _reasons(database_url),
    )


async def _off(discord: SmallDiscord, jobs: list[Accepted], seen: list[Seen]) -> Counter[str]:
    """Count the jobs of one user that did not come, or came more than once."""
    wanted = Counter(job.id if _has_result(job) else "a reason" for job in jobs)
    came = Counter([await job_of(discord, one) for one in results(seen)])
    came["a reason"] = sum(_is_reason(one.message) for one in seen)
    return Counter(lost=(wanted - came).total(), doubled=(came - wanted).total())


def _has_result(job: Accepted) -> bool:
    return bool(job.result and job.result.manifest)


def _has_counters(job: Accepted) -> bool:
    benchmarks = job.result.benchmarks if job.result else ()
    return bool(benchmarks) and all(one.status is BenchmarkStatus.SUCCEEDED for one in benchmarks)


def is_outcome(message: Message) -> bool:
    """Whether a message is what came of a job."""
    return MANIFEST in [file.name for file in message.files] or _is_reason(message)


def _is_reason(message: Message) -> bool:
    """Whether a message says why a whole job came to nothing."""
    titles = "".join(str(embed.get("title", "")) for embed in message.embeds)
    return not message.files and titles.endswith((": no counters", ": cancelled"))


async def _reasons(database_url: str) -> Counter[str]:
    database = await open_database(database_url)
    try:
        async with database.begin() as session:
            query = (
                select(JobRow.failure_kind, func.count())
                .where(JobRow.failure_kind.is_not(None))
                .group_by(JobRow.failure_kind)
            )
            return Counter({str(kind): count for kind, count in await session.execute(query)})
    finally:
        await database.close()

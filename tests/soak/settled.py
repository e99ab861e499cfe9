"""What must hold when all kills are over: every accepted job once with its author."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import select

from bot.delivery.address import WayName
from bot.jobs.follow import artifacts
from bot.jobs.model import JobPhase
from bot.storage.database import Database, open_database
from bot.storage.jobs import FINAL
from bot.storage.tables import DeliveryRow, JobRow
from runner_client.wire import JobResult
from tests.discord.client import SmallDiscord
from tests.discord.orders import Seen
from tests.discord.stage import job_of, results
from tests.soak.authors import cancel_button
from tests.soak.letters import BOARD

LOOK_S = 0.5


@dataclass(frozen=True, slots=True)
class Accepted:
    """A job as the database has it in the end."""

    id: str
    user: int
    phase: JobPhase
    result: JobResult | None
    is_over: bool
    is_kept: bool


async def accepted(database: Database) -> tuple[Accepted, ...]:
    """Return every job."""
    query = select(JobRow, DeliveryRow).join(DeliveryRow, DeliveryRow.job_id == JobRow.id)
    async with database.begin() as session:
        return tuple(
            Accepted(
                id=job.id,
                user=job.user_id,
                phase=JobPhase(job.phase),
                result=msgspec.json.decode(job.result or "null", type=JobResult | None),
                is_over=delivery.over_at is not None,
                is_kept=delivery.way == WayName.KEPT.value,
            )
            for job, delivery in await session.execute(query)
        )


async def until_settled(database_url: str, within_s: float) -> tuple[Accepted, ...]:
    """Wait until every job is over and with its author, and return all."""
    database = await open_database(database_url)
    jobs: tuple[Accepted, ...] = ()
    try:
        async with asyncio.timeout(within_s):
            while True:
                jobs = await accepted(database)
                if all(job.phase in FINAL and (job.is_over or job.is_kept) for job in jobs):
                    return jobs
                await asyncio.sleep(LOOK_S)
    except TimeoutError:
        left = [job for job in jobs if not (job.is_over or job.is_kept)]
        raise AssertionError(f"{len(left)} of {len(jobs)} not settled: {left[:3]}") from None
    finally:
        await database.close()


async def check(discord: SmallDiscord, jobs: Sequence[Accepted], users: Iterable[int]) -> None:
    """Check what each user sees against the jobs that were accepted from them."""
    assert [job for job in jobs if job.is_kept] == []
    for user in users:
        seen = await discord.seen(user)
        await _check_results(discord, [job for job in jobs if job.user == user], seen)


async def _check_results(discord: SmallDiscord, jobs: Sequence[Accepted], seen: list[Seen]) -> None:
    """Each manifest came once, each report once, each reason once; nothing says "under way"."""
    manifests = Counter([await job_of(discord, one) for one in results(seen)])
    with_result = [job for job in jobs if job.result and job.result.manifest]
    assert manifests == Counter(job.id for job in with_result)
    made = (file.name for job in jobs if job.result for file in artifacts(job.result))
    sent = (file.name for one in seen for file in one.message.files)
    assert Counter(filter(_is_report, sent)) == Counter(filter(_is_report, made))
    without = [job for job in jobs if job not in with_result]
    assert sum(map(_is_reason, seen)) == len(without), (without, [_title(one) for one in seen])
    assert [one for one in seen if cancel_button(one)] == []


def _is_report(name: str) -> bool:
    return name.endswith(".ncu-rep")


def _is_reason(seen: Seen) -> bool:
    """Whether a message is about a whole job of which there is no result."""
    ends = (": no counters", ": cancelled")
    return f"{BOARD} on " in _title(seen) and _title(seen).endswith(ends)


def _title(seen: Seen) -> str:
    return "".join(str(embed.get("title", "")) for embed in seen.message.embeds)

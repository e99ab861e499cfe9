"""Who may start a job, on both databases."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from bot.accounts.quota import UNDER_WAY, Quota
from bot.failures import charged, result_charged
from bot.jobs.errors import Banned, NotRegistered, QuotaUsed, Refused, TooManyUnderWay
from bot.storage import jobs, quotas
from bot.storage.bans import Bans
from bot.wording import sentence
from runner_client.wire import (
    BenchmarkResult,
    BenchmarkStatus,
    Failure,
    FailureKind,
    JobResult,
    System,
)
from tests.accounts.conftest import ALICE, BOB, Shop

DAY = 86_400


async def attempt(shop: Shop, user_id: int = ALICE) -> str:
    """Ask for a job; return its id, or the name of the refusal."""
    try:
        return await shop.submit(user_id)
    except Refused as refused:
        return type(refused).__name__


async def test_an_account_is_needed_and_a_ban_comes_first(shop: Shop) -> None:
    with pytest.raises(NotRegistered):
        await shop.submit(BOB)
    await Bans(shop.database).add(BOB, 1, "spam")
    with pytest.raises(Banned, match="spam"):
        await shop.submit(BOB)


async def test_a_spent_quota_says_when_to_come_back(shop: Shop) -> None:
    shop.allow(Quota(jobs=2, window=DAY))
    first = await shop.submit()
    asked = datetime.now(UTC) - timedelta(hours=20)
    await shop.backdate(first, asked)
    await shop.end(await shop.submit())
    with pytest.raises(QuotaUsed) as used:
        await shop.submit()
    assert used.value.until == asked + timedelta(days=1)
    assert sentence(used.value).startswith("You have used your 2 jobs in 1 day: come back at 20")
    await shop.backdate(first, asked - timedelta(hours=5))
    await shop.submit()


async def test_of_several_rules_the_one_that_lasts_longest_is_named(shop: Shop) -> None:
    shop.allow(Quota(jobs=1, window=60), Quota(jobs=1, window=DAY, gpu="H200"))
    await shop.submit()
    with pytest.raises(QuotaUsed) as used:
        await shop.submit()
    assert used.value.rule == "1 job in 1 day on H200"


async def test_a_rule_of_another_gpu_or_leaderboard_refuses_nothing(shop: Shop) -> None:
    shop.allow(Quota(jobs=1, window=DAY, gpu="H200"), Quota(jobs=1, window=DAY, leaderboard="eigh"))
    await shop.submit(gpu="H200")
    await shop.submit(gpu="B200")
    await shop.submit(gpu="B200", board="eigh")
    with pytest.raises(QuotaUsed, match="on H200"):
        await shop.submit(gpu="H200")
    with pytest.raises(QuotaUsed, match="for eigh"):
        await shop.submit(gpu="B200", board="eigh")


async def test_quotas_are_each_users_own(shop: Shop) -> None:
    shop.allow(Quota(jobs=1, window=DAY))
    await shop.accounts.register(BOB, "bob")
    await shop.submit(ALICE)
    await shop.submit(BOB)


async def test_what_is_no_fault_of_the_author_costs_nothing(shop: Shop) -> None:
    shop.allow(Quota(jobs=1, window=DAY))
    await shop.end(await shop.submit(), FailureKind.COUNTERS_BUSY)
    job_id = await shop.submit()
    async with shop.database.begin() as session:
        await jobs.save_result(session, job_id, result(FailureKind.DISK_FULL), ())
    await shop.end(await shop.submit(), FailureKind.COMPILE_ERROR)
    assert await attempt(shop) == "QuotaUsed"


@pytest.mark.parametrize(
    ("kind", "costs"),
    [
        (FailureKind.COMPILE_ERROR, True),
        (FailureKind.COUNTERS_BUSY, False),
        (FailureKind.EVALUATOR_ERROR, False),
        ("runner-down", False),
        ("job-vanished", False),
    ],
)
def test_which_failures_cost(kind: str, costs: bool) -> None:
    assert charged(kind) is costs


def result(*kinds: FailureKind | None) -> JobResult:
    """Return a result with a benchmark for each kind of failure; None is one that went well."""
    return JobResult(
        failure=None,
        benchmarks=tuple(
            BenchmarkResult(
                index=index,
                spec=f"n: {index}",
                status=BenchmarkStatus.SUCCEEDED if kind is None else BenchmarkStatus.FAILED,
                failure=None if kind is None else Failure(kind=kind),
            )
            for index, kind in enumerate(kinds)
        ),
        system=System(gpu="NVIDIA H200"),
        manifest=None,
    )


@pytest.mark.parametrize(
    ("ended", "costs"),
    [
        (result(None), True),
        (result(FailureKind.COUNTERS_DENIED, None), True),
        (result(FailureKind.COUNTERS_DENIED, FailureKind.WRONG_ANSWER), True),
        (result(FailureKind.COUNTERS_DENIED, FailureKind.DISK_FULL), False),
        (result(), False),
        (replace(result(), failure=Failure(kind=FailureKind.COMPILE_ERROR)), True),
        (replace(result(None), failure=Failure(kind=FailureKind.RUNNER_LOST)), False),
    ],
)
def test_a_job_costs_where_one_benchmark_went_well_or_failed_by_its_author(
    ended: JobResult, costs: bool
) -> None:
    assert result_charged(ended) is costs


async def test_jobs_that_have_ended_make_room(shop: Shop) -> None:
    shop.allow(under_way=2)
    first, _ = await shop.submit(), await shop.submit()
    with pytest.raises(TooManyUnderWay):
        await shop.submit()
    await shop.end(first)
    await shop.submit()


async def test_an_admin_can_allow_one_user_more_or_less(shop: Shop) -> None:
    rule = Quota(jobs=1, window=DAY)
    shop.allow(rule, under_way=1)
    async with shop.database.begin() as session:
        await quotas.override(session, ALICE, shop.limits.key(rule), 2)
        await quotas.override(session, ALICE, UNDER_WAY, 3)
    await shop.submit()
    await shop.submit()
    with pytest.raises(QuotaUsed, match="2 jobs"):
        await shop.submit()
    async with shop.database.begin() as session:
        await quotas.override(session, ALICE, shop.limits.key(rule), 0)
    with pytest.raises(QuotaUsed) as none:
        await shop.submit()
    assert sentence(none.value) == "You may start no job here (0 jobs in 1 day): ask an admin."
    async with shop.database.begin() as session:
        await quotas.override(session, ALICE, shop.limits.key(rule), None)
        assert await quotas.overrides(session, ALICE) == {UNDER_WAY: 3}


async def test_of_fifty_at_once_as_many_come_in_as_the_quota_allows(shop: Shop) -> None:
    shop.allow(Quota(jobs=7, window=DAY), under_way=50)
    came = Counter(
        name if name == "QuotaUsed" else "in"
        for name in await asyncio.gather(*(attempt(shop) for _ in range(50)))
    )
    assert came == {"in": 7, "QuotaUsed": 43}


async def test_of_fifty_at_once_as_many_come_in_as_may_be_under_way(shop: Shop) -> None:
    await shop.accounts.register(BOB, "bob")
    shop.allow(under_way=5)
    users = [ALICE, BOB] * 25
    names = await asyncio.gather(*(attempt(shop, user_id) for user_id in users))
    assert names.count("TooManyUnderWay") == 40
    async with shop.database.begin() as session:
        for user_id in (ALICE, BOB):
            assert len(await quotas.under_way(session, user_id)) == 5

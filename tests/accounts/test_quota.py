"""Quotas: what counts against a rule, and when the next job is free, as both databases count it."""

import random
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from bot.accounts.quota import Limits, Quota, Use, rule_words, span
from bot.leaderboards.gpus import GpuNames
from bot.storage import quotas
from tests.accounts.conftest import ALICE, Shop

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = 3_600
Charge = tuple[float, str, str]
on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


def charge(minutes_ago: float, gpu: str = "H200", board: str = "qr") -> Charge:
    return minutes_ago, gpu, board


async def uses(
    shop: Shop,
    charges: Iterable[Charge],
    *rules: Quota,
    overrides: Mapping[str, int] | None = None,
    now: datetime = NOW,
) -> tuple[Use, ...]:
    """Store jobs of so many minutes ago, and hold them against rules."""
    await shop.past([(NOW - timedelta(minutes=age), gpu, board) for age, gpu, board in charges])
    async with shop.database.begin() as session:
        return await quotas.uses(session, ALICE, limits(), rules, overrides or {}, now)


def limits() -> Limits:
    return Limits(quotas=(), under_way=5, names=GpuNames())


@on_sqlite
async def test_the_next_job_is_free_when_the_oldest_leaves_the_window(shop: Shop) -> None:
    (use,) = await uses(shop, [charge(50), charge(20)], Quota(jobs=2, window=HOUR))
    assert (use.used, use.most, use.spent) == (2, 2, True)
    assert use.until == NOW + timedelta(minutes=10)


@on_sqlite
async def test_with_more_used_than_allowed_several_must_leave_first(shop: Shop) -> None:
    rule = Quota(jobs=3, window=HOUR)
    charges = [charge(50), charge(20), charge(5)]
    (use,) = await uses(shop, charges, rule, overrides={limits().key(rule): 1})
    assert (use.used, use.until) == (3, NOW + timedelta(minutes=55))


@on_sqlite
async def test_what_left_the_window_counts_no_more(shop: Shop) -> None:
    (use,) = await uses(shop, [charge(60)], Quota(jobs=1, window=HOUR))
    assert (use.used, use.spent, use.until) == (0, False, None)


@on_sqlite
async def test_a_rule_of_no_jobs_is_never_free(shop: Shop) -> None:
    (use,) = await uses(shop, [charge(5)], Quota(jobs=0, window=HOUR))
    assert (use.spent, use.until) == (True, None)


async def test_a_rule_counts_jobs_of_its_gpu_and_leaderboard(shop: Shop) -> None:
    rules = {
        Quota(jobs=9, window=HOUR): 4,
        Quota(jobs=9, window=HOUR, gpu="NVIDIA H200 SXM"): 2,
        Quota(jobs=9, window=HOUR, leaderboard="QR"): 2,
        Quota(jobs=9, window=HOUR, gpu="b200", leaderboard="qr"): 1,
    }
    jobs = [
        charge(1),
        charge(2, "h200-sxm", "eigh"),
        charge(3, "B200"),
        charge(4, "B200", "eigh"),
    ]
    found = await uses(shop, jobs, *rules)
    assert [use.used for use in found] == list(rules.values())


async def test_a_job_of_another_gpu_does_not_say_when_to_come_back(shop: Shop) -> None:
    jobs = [charge(59, "B200"), charge(50, "h200 sxm"), charge(20), charge(1, "B200")]
    (use,) = await uses(shop, jobs, Quota(jobs=2, window=HOUR, gpu="H200"))
    assert use.until == NOW + timedelta(minutes=10)


def test_an_override_is_for_one_rule_and_outlives_a_changed_number() -> None:
    old, new = Quota(jobs=5, window=HOUR, gpu="H200"), Quota(jobs=8, window=HOUR, gpu="H200 SXM")
    overrides = {limits().key(old): 50}
    mosts = [limits().most(rule, overrides) for rule in (new, Quota(jobs=3, window=HOUR))]
    assert mosts == [50, 3]


def test_a_rule_in_words() -> None:
    everywhere = Quota(jobs=1, window=86_400)
    assert rule_words(everywhere, 1) == "1 job in 1 day"
    here = Quota(jobs=20, window=5_400, gpu="H200", leaderboard="qr")
    assert rule_words(here, 20) == "20 jobs in 90 minutes on H200 for qr"
    assert span(7) == "7 seconds"


async def test_until_is_the_first_moment_at_which_a_job_is_free(
    shop: Shop, dice: random.Random
) -> None:
    ages = [charge(dice.randrange(0, 3 * HOUR) / 60) for _ in range(60)]
    mosts = [dice.randint(1, 60) for _ in range(10)]
    rules = [Quota(jobs=most, window=dice.randint(1, 2 * HOUR)) for most in mosts]
    for use in await uses(shop, ages, *rules):
        assert (use.until is None) is not use.spent
        if use.until is not None:
            (then,) = await uses(shop, [], use.quota, now=use.until)
            assert not then.spent
            before = use.until - timedelta(microseconds=1)
            (still,) = await uses(shop, [], use.quota, now=before)
            assert still.spent


@on_sqlite
async def test_however_many_jobs_count_the_database_counts_them(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes of the database is a row a GPU and leaderboard, and the moment that is asked."""
    rows = []
    places = quotas._places

    async def watched(*given: object) -> dict[tuple[str, str], int]:
        rows.append(await places(*given))  # type: ignore[arg-type]
        return rows[-1]

    monkeypatch.setattr(quotas, "_places", watched)
    charges = [charge(age, gpu) for age in range(1, 51) for gpu in ("H200", "B200")]
    (use,) = await uses(shop, charges, Quota(jobs=100, window=HOUR))
    assert rows == [{("H200", "qr"): 50, ("B200", "qr"): 50}]
    assert (use.used, use.until) == (100, NOW + timedelta(minutes=10))

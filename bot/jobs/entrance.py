"""Who may start a job now. Asked in the transaction that stores it, so that no two slip through."""

from collections.abc import Iterable
from datetime import UTC, datetime

from bot.accounts.quota import Limits, Use, rule_words
from bot.jobs.errors import NotRegistered, QuotaUsed, TooManyUnderWay
from bot.jobs.validate import Draft
from bot.leaderboards.gpus import GpuNames
from bot.settings import BotSettings
from bot.storage import accounts, quotas
from bot.storage.bans import refuse_banned
from bot.storage.database import Session
from bot.storage.gate import refuse_stopped

_NEVER = datetime.max.replace(tzinfo=UTC)


def limits_of(settings: BotSettings) -> Limits:
    """Return what the settings allow every user."""
    names = GpuNames(settings.gpu_aliases)
    return Limits(quotas=settings.quotas, under_way=settings.max_under_way, names=names)


async def admit(
    session: Session, user_id: int, draft: Draft, now: datetime, limits: Limits
) -> None:
    """Let a user start the job of `draft`, which must be stored before the session ends.

    Until then no other job of the user is let in. Raises Banned, JobsStopped, NotRegistered,
    TooManyUnderWay, QuotaUsed.
    """
    await refuse_banned(session, user_id)
    await refuse_stopped(session)
    if not await accounts.lock(session, user_id):
        raise NotRegistered
    overrides = await quotas.overrides(session, user_id)
    most = limits.most_under_way(overrides)
    if await quotas.count_under_way(session, user_id) >= most:
        raise TooManyUnderWay(most)
    board = draft.leaderboard.name
    rules = [rule for rule in limits.quotas if limits.covers(rule, draft.gpu, board)]
    _refuse_spent(await quotas.uses(session, user_id, limits, rules, overrides, now))


def _refuse_spent(uses: Iterable[Use]) -> None:
    """Of several rules the one is named that lasts longest."""
    spent = [use for use in uses if use.spent]
    if spent:
        last = max(spent, key=lambda use: use.until or _NEVER)
        raise QuotaUsed(rule_words(last.quota, last.most), last.most, last.until)

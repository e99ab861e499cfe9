"""The bot ends at every named point, for the first or second time there: one result, never two."""

import pytest

from bot.delivery.address import WayName
from bot.delivery.steps import Step
from bot.jobs.model import JobPhase
from tests.delivery.conftest import Bot
from tests.delivery.killing import killed_at
from tests.delivery.test_ways import DIRECT, REPLY, THREAD, TITLES

OF_A_COURIER = tuple(step for step in Step if step not in {Step.AFTER_ROW, Step.AFTER_FAILED})
OF_A_MESSAGE = (Step.BEFORE_OPEN, Step.AFTER_OPEN, Step.BEFORE_FILL, Step.AFTER_FILL)


async def ends_once(bot: Bot, way: WayName, step: Step, nth: int) -> None:
    """Profile with a life that ends at a step, go on with another, and see what stands."""
    bot.discord.messages.clear()
    with killed_at(step, nth) as killer:
        job = await bot.profile()
    await bot.next_life()
    reached = killer.left == 0
    assert reached == (nth == 1 or step in OF_A_MESSAGE), step
    assert bot.discord.filled() == [(way, title) for title in TITLES], (step, nth)
    # A private follow-up cannot be listed: its placeholder is all that may be left of it.
    lost = way is REPLY and (step, nth) == (Step.AFTER_OPEN, 2)
    assert bot.discord.only_opened() == [way] * lost, (step, nth)
    assert (await bot.phases(job))[-1] is JobPhase.DELIVERED


async def test_a_result_comes_once_wherever_the_bot_ends(bot: Bot) -> None:
    for step in OF_A_COURIER:
        for nth in (1, 2):
            await ends_once(bot, REPLY, step, nth)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("way", [DIRECT, THREAD])
async def test_so_it_does_without_the_interaction(bot: Bot, way: WayName) -> None:
    bot.discord.offered = (way,)
    for step in OF_A_MESSAGE:
        for nth in (1, 2):
            await ends_once(bot, way, step, nth)

"""Results that Discord holds up hold nobody else's up."""

import asyncio

import pytest

from bot.delivery.steps import Step
from bot.delivery.ways import Unclear
from bot.reports.message import ReplyMessage
from tests.delivery.conftest import AT_ONCE, Bot, address
from tests.delivery.discord import OneWay
from tests.delivery.killing import step_reached
from tests.delivery.test_ways import REPLY, TITLES

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Stuck:
    """Discord answers some messages never, or with an error again and again."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, errors: bool) -> None:
        self.messages = AT_ONCE + 2
        self.met = 0
        self.all_met = asyncio.Event()
        fill = OneWay.fill

        async def held(way: OneWay, message_id: int, message: ReplyMessage) -> None:
            if self.met == self.messages:
                await fill(way, message_id, message)
                return
            self.met += 1
            if self.met == self.messages:
                self.all_met.set()
            if errors:
                raise Unclear("500 Internal Server Error")
            await asyncio.Event().wait()

        monkeypatch.setattr(OneWay, "fill", held)


@pytest.mark.parametrize("errors", [False, True])
async def test_more_stuck_results_than_are_sent_at_once_hold_no_other_up(
    bot: Bot, monkeypatch: pytest.MonkeyPatch, *, errors: bool
) -> None:
    monkeypatch.setattr("tests.delivery.conftest.WAITS_S", (3_600.0,))
    bot.start()
    stuck = Stuck(monkeypatch, errors=errors)
    for _ in range(stuck.messages):
        await bot.office.accept(await bot.submit(), address())
    await asyncio.wait_for(stuck.all_met.wait(), 20)
    with step_reached(Step.AFTER_DELIVERED) as delivered:
        await bot.office.accept(await bot.submit(), address())
        await asyncio.wait_for(delivered.wait(), 20)
    assert bot.discord.filled() == [(REPLY, title) for title in TITLES]

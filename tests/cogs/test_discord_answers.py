"""What Discord's answers mean for the way on which a result goes."""

from types import SimpleNamespace
from typing import Any

import aiohttp
import discord
import pytest

from bot.delivery.ways import TooLarge, Unclear, WayClosed
from cogs.ways import discord_answers
from tests.cogs.test_ways import CLOSED, EXPIRED, UNKNOWN


def refusal(status: int, code: int) -> discord.HTTPException:
    answer: Any = SimpleNamespace(status=status, reason="")
    return discord.HTTPException(answer, {"code": code})


@pytest.mark.parametrize(
    ("raised", "meant"),
    [
        *((refusal(*answer), WayClosed) for answer in (EXPIRED, UNKNOWN, CLOSED, (403, 50013))),
        *((refusal(*answer), WayClosed) for answer in ((403, 50001), (404, 10008), (400, 50035))),
        *((refusal(*answer), Unclear) for answer in ((429, 0), (500, 0), (503, 0))),
        *((refusal(*answer), TooLarge) for answer in ((413, 0), (400, 40005))),
        (discord.RateLimited(3), Unclear),
        (aiohttp.ServerDisconnectedError(), Unclear),
        (ConnectionResetError(), Unclear),
        (TimeoutError(), Unclear),
        (TypeError("string indices must be integers"), Unclear),
    ],
)
def test_what_each_answer_of_discord_means(raised: Exception, meant: type[Exception]) -> None:
    with pytest.raises(meant), discord_answers(uploads=True):
        raise raised


def test_what_has_no_files_to_leave_out_cannot_be_too_large() -> None:
    with pytest.raises(WayClosed), discord_answers():
        raise refusal(413, 40005)

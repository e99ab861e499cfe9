"""Where terminals are served."""

import socket
from dataclasses import replace

import pytest
from limits import RateLimitItemPerMinute
from msgspec import structs

from bot.jobs.errors import CannotServe
from bot.services import Services
from bot.settings import BotSettings
from bot.web import visitors
from bot.web.service import serving
from tests.web.client import Terminal


async def test_nothing_is_served_without_a_port(services: Services) -> None:
    off = structs.replace(services.settings, web_port=None)
    async with serving(_with(services, off)) as address:
        assert address is None


async def test_a_port_that_is_taken(services: Services) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = structs.replace(services.settings, web_port=taken.getsockname()[1])
        with pytest.raises(CannotServe, match=str(taken.getsockname()[1])):
            async with serving(_with(services, settings)):
                pass


async def test_behind_a_proxy_the_last_address_counts(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "AN_ADDRESS", RateLimitItemPerMinute(1))
    settings = structs.replace(services.settings, web_behind_proxy=True)
    async with serving(_with(services, settings)) as address:
        assert address is not None
        for said, status in (
            ("1.1.1.1, 2.2.2.2", 200),
            ("3.3.3.3, 2.2.2.2", 429),
            ("2.2.2.2, 1.1.1.1", 200),
        ):
            forged = Terminal(address, headers={"x-forwarded-for": said})
            assert (await forged.get("/leaderboards")).status == status


def _with(services: Services, settings: BotSettings) -> Services:
    return replace(services, settings=settings)

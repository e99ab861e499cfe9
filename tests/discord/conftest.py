"""What every test with the small Discord leaves is checked against Discord's description."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tests.discord.client import SmallDiscord, small_discord
from tests.discord.described import faults
from tests.discord.stage import Stage, stage

pytest.register_assert_rewrite("tests.discord.happening")
DESCRIPTION = SHARED / "discord" / "openapi.json"


@pytest.fixture
async def discord(tmp_path: Path) -> AsyncIterator[SmallDiscord]:
    """Run a small Discord with no bot in it."""
    async with small_discord(tmp_path / "discord") as made:
        yield made
    _check(tmp_path)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Stage]:
    """Set everything up; the bot is not started yet."""
    async with stage(tmp_path) as made:
        yield made
    _check(tmp_path)


def _check(folder: Path) -> None:
    if DESCRIPTION.is_file():
        assert faults(folder / "discord" / "asked", DESCRIPTION) == []

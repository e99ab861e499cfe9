"""How long a soak is, and the seed of its random numbers."""

import os
from pathlib import Path

import pytest

from tests.standin.tools import Tools, install

pytest.register_assert_rewrite("tests.soak.people", "tests.soak.settled", "tests.discord.happening")

SAMPLE, WHOLE = 5, 100
WHOLE_TIMEOUT_S = 900


@pytest.fixture
def rounds() -> int:
    """Return how many kills there are: a sample, or with NCUBOT_SOAK=1 all."""
    return WHOLE if is_whole() else SAMPLE


@pytest.fixture
def tools(tmp_path: Path, recordings: Path) -> Tools:
    """Install the stand-ins."""
    return install(tmp_path / "bin", recordings)


def is_whole() -> bool:
    """Return whether the whole soak was asked for."""
    return os.environ.get("NCUBOT_SOAK") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give the whole soak the time it needs."""
    if not is_whole():
        return
    for item in items:
        if "soak" in item.path.parts:
            item.add_marker(pytest.mark.timeout(WHOLE_TIMEOUT_S))

"""The demo's world, with the recordings that come with the runner, replayed at once."""

import pytest


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the demo replay recordings, whatever this machine has, without a pause."""
    monkeypatch.setenv("NCUBOT_RUNNER_REPLAY_S", "0")
    monkeypatch.setattr("cli.demo_show.engine_here", lambda: "recorded")

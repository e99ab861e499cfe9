"""A sync judges again what older rules judged."""

from pathlib import Path

import pytest

from tests.leaderboards.syncing import Syncing


async def test_what_older_rules_judged_is_judged_again(
    syncing: Syncing, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await syncing(root)
    monkeypatch.setattr("bot.leaderboards.sync.REVISION", 1_000)
    report = await syncing(root)
    assert report.unchanged == ("qr", "eigh")
    check = syncing.board("qr").check
    assert check is not None
    assert check.revision == 1_000

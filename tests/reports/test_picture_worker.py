"""The drawing process: warm, replaced when it breaks, given up when it hangs, gone when closed."""

import os
import signal
import sys
from pathlib import Path

import pytest

from bot.reports.pictures import worker as module
from bot.reports.pictures.values import Kind
from bot.reports.pictures.worker import CannotDrawError, PictureWorker
from tests.reports.captures import recorded


def pid(worker: PictureWorker) -> int:
    process = worker._process
    assert process is not None
    return process.pid


async def test_it_draws_stays_warm_and_comes_back_after_a_crash(tmp_path: Path) -> None:
    worker = PictureWorker(tmp_path)
    asked = recorded(tmp_path)
    first = await worker.draw(asked)
    assert [picture.kind for picture in first.drawn] == list(Kind)
    warm = pid(worker)
    assert await worker.draw(asked) == first
    assert pid(worker) == warm
    os.kill(warm, signal.SIGKILL)
    with pytest.raises(CannotDrawError):
        await worker.draw(asked)
    assert await worker.draw(asked) == first
    last = pid(worker)
    await worker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(last, 0)


async def test_a_drawing_that_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = "import time, sys; print('{}', flush=True); sys.stdin.readline(); time.sleep(60)"
    monkeypatch.setattr(module, "PROGRAM", (sys.executable, "-c", hanging))
    monkeypatch.setattr(module, "END_S", 0.1)
    worker = PictureWorker(tmp_path, draw_s=0.2)
    with pytest.raises(CannotDrawError, match="TimeoutError"):
        await worker.draw(recorded(tmp_path))
    assert worker._process is None


async def test_a_process_that_cannot_start_or_babbles_is_told_apart_from_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = PictureWorker(tmp_path)
    monkeypatch.setattr(module, "PROGRAM", (str(tmp_path / "absent"),))
    with pytest.raises(CannotDrawError, match="FileNotFoundError"):
        await worker.draw(recorded(tmp_path))
    babbling = "import sys; print('ready', flush=True); sys.stdin.readline(); print('nonsense')"
    monkeypatch.setattr(module, "PROGRAM", (sys.executable, "-c", babbling))
    with pytest.raises(CannotDrawError, match="DecodeError"):
        await worker.draw(recorded(tmp_path))
    await worker.close()


async def test_it_gets_none_of_the_bots_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "secret")
    assert "secret" not in PictureWorker(tmp_path)._environment().values()

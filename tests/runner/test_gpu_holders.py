"""The wait for a job's processes to leave the GPU, told by a stand-in nvidia-smi."""

from pathlib import Path

import pytest

from runner.isolation import gpu_holders
from runner.isolation.gpu_holders import GpuHolders


def write(path: Path, *lines: str) -> None:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def is_empty(path: Path) -> bool:
    return not path.stat().st_size


SCRIPT = """#!/bin/sh
head -n 1 {listing}
sed -i 1d {listing}
"""


@pytest.fixture
def listing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put an nvidia-smi on PATH that prints one line of a file at each call."""
    path = tmp_path / "listing"
    program = tmp_path / "bin/nvidia-smi"
    program.parent.mkdir()
    program.write_text(SCRIPT.format(listing=path), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setattr(gpu_holders, "LOOK_S", 0.01)
    return path


async def test_others_are_left_alone_and_the_jobs_are_waited_for(
    listing: Path, tmp_path: Path
) -> None:
    write(listing, "7", "7", "9", "9", "")
    holders = GpuHolders(tmp_path)
    assert await holders.gone("GPU-a")  # 7 was there before the first job
    assert await holders.gone("GPU-a")
    assert await holders.gone("GPU-a")  # 9 came and went
    assert is_empty(listing)


async def test_one_that_stays_is_told_once(
    listing: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(listing, "", *["9"] * 50)
    holders = GpuHolders(tmp_path, wait_s=0.05)
    assert await holders.gone("")
    assert not await holders.gone("")
    assert "is still used by process 9" in caplog.text
    assert await holders.gone("")


async def test_a_machine_without_nvidia_smi_has_nothing_to_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await GpuHolders(tmp_path).gone("GPU-a")

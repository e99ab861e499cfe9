"""The wheel holds all that a demo needs, and nothing else."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"bot", "cli", "cogs", "counters", "runner_client", "runner", "migrations", "problems"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def demo(ncubot: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
    """Run the demo as somebody does who has no checkout, and look at what it leaves."""
    command = (*ncubot, "demo", "--no-browser")
    ended = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    reply = (folder / "demo-output" / "reply.md").read_text(encoding="utf-8")
    assert "householder_panel" in reply
    assert list((folder / "demo-output" / "message-1").glob("*.ncu-rep"))


def test_packages_and_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert top == PACKAGES
    assert "migrations/versions/0001_first.py" in names
    assert "problems/linalg/qr_v2/task.yml" in names
    assert "runner/census/census.c" in names
    assert any(name.startswith("runner/recordings/") for name in names)


def test_the_demo_runs_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(site)}
    where = "import bot, problems, runner; print(bot.__file__, problems.__file__, runner.__file__)"
    command = (sys.executable, "-c", where)
    found = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert [path.startswith(str(site)) for path in found.stdout.split()] == [True] * 3
    demo((sys.executable, "-c", "from cli.main import main; main()"), tmp_path, env)

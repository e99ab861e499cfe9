"""Control groups: found, made, read, removed; on folders that look like the kernel's."""

import os
from pathlib import Path

import pytest

from runner.isolation import cgroup
from runner.isolation.cgroup import Group, Parent, create, find, mark_of, sweep


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make what a version 2 hierarchy looks like, with this process in a unit of its own."""
    monkeypatch.setattr(cgroup, "REMOVE_S", 0.0)
    unit = tmp_path / "fs/system.slice/ncubot.service"
    unit.mkdir(parents=True)
    for folder in (tmp_path / "fs", unit):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n", encoding="ascii")
        (folder / "cgroup.subtree_control").write_text("", encoding="ascii")
        (folder / "cgroup.procs").write_text(f"{os.getpid()}\n", encoding="ascii")
    return tmp_path / "fs"


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own"
    path.write_text(text, encoding="utf-8")
    return path


def test_version_2_moves_the_runner_down_and_hands_out_controllers(
    second: Path, tmp_path: Path
) -> None:
    lines = own(tmp_path, "0::/system.slice/ncubot.service\n")
    unit = second / "system.slice/ncubot.service"
    # The files of a real group come with its folder; here the trial's cannot be removed again.
    assert find(second, lines) is None
    assert (unit / "runner/cgroup.procs").read_text() == str(os.getpid())
    assert (unit / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_version_2_sets_its_limits(tmp_path: Path) -> None:
    parent = Parent(2, tmp_path, tmp_path)
    folder = tmp_path / "ncubot-x"
    folder.mkdir()
    for name in ("memory.max", "memory.swap.max", "memory.oom.group"):
        (folder / name).touch()
    group = create(parent, "x", 1 << 20, 64)
    found = {path.name: path.read_text() for path in folder.iterdir()}
    assert found == {
        "memory.max": "1048576",
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": "64",
    }
    (folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n", encoding="ascii")
    (folder / "pids.events").write_text("max 7\n", encoding="ascii")
    assert (group.oom_kills(), group.forks_denied()) == (2, 7)


def test_version_2_kills_by_its_own_file(tmp_path: Path) -> None:
    group = Group(Parent(2, tmp_path, tmp_path), "ncubot-x")
    (tmp_path / "ncubot-x").mkdir()
    (tmp_path / "ncubot-x/cgroup.kill").touch()
    group.kill()
    assert (tmp_path / "ncubot-x/cgroup.kill").read_text() == "1"


def test_version_1_has_a_folder_for_each_controller(tmp_path: Path) -> None:
    parent = Parent(1, tmp_path / "memory", tmp_path / "pids")
    group = Group(parent, "ncubot-x")
    for folder in group.folders:
        folder.mkdir(parents=True)
    (group.memory / "memory.oom_control").write_text("under_oom 0\noom_kill 1\n", encoding="ascii")
    group.add(os.getpid())
    assert [(folder / "cgroup.procs").read_text() for folder in group.folders] == [
        str(os.getpid())
    ] * 2
    assert (group.oom_kills(), group.forks_denied()) == (1, 0)


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert find(tmp_path, tmp_path / "none") is None
    assert find(tmp_path, own(tmp_path, "0::/\n")) is None
    assert find(tmp_path, own(tmp_path, "rubbish\n")) is None


def test_only_a_runners_own_groups_are_swept(tmp_path: Path) -> None:
    parent = Parent(2, tmp_path, tmp_path)
    mine, others = mark_of(Path("/srv/a")), mark_of(Path("/srv/b"))
    for mark in (mine, others):
        (tmp_path / f"ncubot-{mark}-7-0").mkdir()
    sweep(parent, mine)
    assert [path.name for path in tmp_path.iterdir()] == [f"ncubot-{others}-7-0"]


def test_one_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "REMOVE_S", 0.05)
    (tmp_path / "ncubot-x/stuck").mkdir(parents=True)
    assert not Group(Parent(2, tmp_path, tmp_path), "ncubot-x").remove()

"""Folders that strangers filled go away whole; and processes are counted."""

import os
import subprocess
from pathlib import Path

from runner.isolation.proctree import descendants, first_child, proportional_memory, usage
from runner.isolation.trees import remove_tree


def test_depth_modes_links_and_names(tmp_path: Path) -> None:
    root, kept = tmp_path / "root", tmp_path / "kept"
    (root / "a/b").mkdir(parents=True)
    kept.mkdir()
    (kept / "file").touch()
    (root / "link").symlink_to(kept)
    (root / "a/\n\udcff").touch()
    os.mkfifo(root / "a/pipe")
    (root / "a/b").chmod(0)
    here = os.open(root, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove_tree(root)
    assert not root.exists()
    assert (kept / "file").exists()


def test_a_file_a_link_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    for name in ("link", "none", "file"):
        remove_tree(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_programs_family_is_seen_and_measured() -> None:
    command = ("sh", "-c", "sleep 50 & sleep 50 & echo x; wait")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        children = descendants(shell.pid)
        taken = usage([shell.pid, *children])
        assert len(children) == 2
        assert first_child(shell.pid) == min(children)
        assert taken.threads == 3
        assert 0 < proportional_memory(children) <= taken.memory < 100_000_000
        for pid in (*children, shell.pid):
            os.kill(pid, 9)
    assert first_child(shell.pid) is None

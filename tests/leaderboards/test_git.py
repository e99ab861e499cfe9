"""Sync out of real git repositories."""

import asyncio
import os
import time
from pathlib import Path

import pytest
from msgspec import structs

from bot.leaderboards import checkout
from bot.leaderboards.errors import SourceError
from bot.leaderboards.git import Git, head_commit
from tests.leaderboards.repository import change, make
from tests.leaderboards.syncing import Syncing, commit, git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = make(tmp_path / "remote")
    commit(folder, "first")
    return folder


def nothing_is_left(syncing: Syncing) -> bool:
    return not list((syncing.settings.data / "sync").iterdir())


async def test_the_default_branch_a_branch_with_slashes_a_tag_and_a_commit(
    syncing: Syncing, repository: Path
) -> None:
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "tag", "-a", "v1", "-m", "annotated")
    git(repository, "checkout", "--quiet", "-b", "feature/a/b")
    change(repository / "linalg.yaml", '"2026-12-31"', '"2027-12-31"')
    second = commit(repository)
    git(repository, "checkout", "--quiet", "main")
    url = repository.as_uri()
    for ref, expected in (
        (None, first),
        ("main", first),
        ("feature/a/b", second),
        ("refs/heads/feature/a/b", second),
        ("v1", first),
        (second, second),
    ):
        report = await syncing(url, ref)
        assert (report.commit, report.errors) == (expected, ())
        assert syncing.board("qr").commit == expected
    assert nothing_is_left(syncing)


async def test_a_branch_counts_before_a_tag_of_its_name(syncing: Syncing, repository: Path) -> None:
    git(repository, "tag", "same")
    commit(repository, "second")
    git(repository, "branch", "same")
    report = await syncing(repository.as_uri(), "same")
    assert report.commit == git(repository, "rev-parse", "refs/heads/same")


async def test_a_folder_at_a_ref_is_read_as_it_was_committed(
    syncing: Syncing, repository: Path
) -> None:
    first = git(repository, "rev-parse", "HEAD")
    change(repository / "linalg.yaml", "name: eigh", "name: edited")
    report = await syncing(repository, "main")
    assert (report.commit, report.created) == (first, ("qr", "eigh"))
    assert (await syncing(repository)).source == report.source


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("nope", "no branch, tag or commit nope"),
        ("abcdef1", "no branch or tag abcdef1, a commit needs its 40 digits"),
        ("f" * 40, "it has no such commit, or gives out branches and tags only"),
    ],
)
async def test_a_ref_that_is_not_there(
    syncing: Syncing, repository: Path, ref: str, said: str
) -> None:
    with pytest.raises(SourceError) as missing:
        await syncing(repository.as_uri(), ref)
    assert missing.value.reason == said
    assert nothing_is_left(syncing)


async def test_no_repository_and_an_empty_one(syncing: Syncing, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such repository, or the bot may not read it"):
        await syncing((tmp_path / "nowhere").as_uri())
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet")
    with pytest.raises(SourceError, match="it has no commit"):
        await syncing((tmp_path / "empty").as_uri())


async def test_only_the_one_commit_is_fetched(
    syncing: Syncing, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        commit(repository, f"number {number}")
    counted: list[str] = []
    write = checkout._write

    async def counting(commit: str, files: Path, git_: Git) -> None:
        place = f"--git-dir={git_.folder / 'git'}"
        counted.append((await git_.run(place, "rev-list", "--count", commit)).decode().strip())
        await write(commit, files, git_)

    monkeypatch.setattr(checkout, "_write", counting)
    await syncing(repository.as_uri())
    assert counted == ["1"]


async def test_over_ssh_nobody_is_asked_for_anything(
    syncing: Syncing, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    script = f'#!/bin/sh\necho "$@" >> {tmp_path}/argv\nfor last; do :; done\nexec sh -c "$last"\n'
    (programs / "ssh").write_text(script)
    (programs / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    report = await syncing(f"git@host.example:{repository}")
    assert (report.created, report.source) == (("qr", "eigh"), f"ssh://host.example/{repository}")
    calls = (tmp_path / "argv").read_text().splitlines()
    assert all(call.startswith("-oBatchMode=yes") for call in calls)
    assert all("git@host.example git-upload-pack" in call for call in calls)


async def test_a_machine_without_git_says_so(
    syncing: Syncing, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(SourceError, match="git is not installed on the bot's machine"):
        await syncing(repository.as_uri())
    assert (await syncing(repository)).commit is None


async def test_a_server_that_does_not_answer_is_given_up(
    syncing: Syncing, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "git").write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/pid\nwait\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    structs.force_setattr(syncing.settings, "sync_time_limit", 0.5)
    start = time.monotonic()
    with pytest.raises(SourceError, match=r"it did not come within 0\.5 s"):
        await syncing(repository.as_uri())
    assert time.monotonic() - start < 20
    child = Path("/proc") / (tmp_path / "pid").read_text().strip()
    assert not child.exists() or "State:\tZ" in (child / "status").read_text()
    assert nothing_is_left(syncing)


async def test_the_event_loop_goes_on_while_git_works(syncing: Syncing, repository: Path) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    ticking = asyncio.create_task(tick())
    await syncing(repository.as_uri())
    ticking.cancel()
    assert ticks > 5


async def test_what_a_killed_sync_left_is_cleared_away(syncing: Syncing, repository: Path) -> None:
    left = syncing.settings.data / "sync" / "tmpleft" / "files"
    left.mkdir(parents=True)
    await syncing(repository.as_uri())
    assert not left.exists()


async def test_local_edits_belong_to_no_commit(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    assert await head_commit(repository, tmp_path / "scratch") == git(
        repository, "rev-parse", "HEAD"
    )
    change(repository / "linalg.yaml", "gpus: [H200]", "gpus: [A100]")
    assert await head_commit(repository, tmp_path / "scratch") is None
    assert await head_commit(tmp_path, tmp_path / "scratch") is None

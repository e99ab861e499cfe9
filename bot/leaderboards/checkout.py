"""A commit of a git repository as plain files in a scratch folder, for as long as it is read."""

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.leaderboards.errors import SourceError
from bot.leaderboards.files import MAX_FILE_BYTES
from bot.leaderboards.git import Git, GitFailed, server_of
from bot.leaderboards.source import Repository

MAX_FILES = 50_000
COMMIT = re.compile(r"[0-9a-f]{40}")
SHORT_COMMIT = re.compile(r"[0-9a-f]{7,39}")
_NEEDS_LOGIN = ("could not read Username", "could not read Password", "Authentication failed")
_NO_LOGIN = ("Permission denied", "Host key verification failed")
_NOT_THERE = ("not found", "does not exist", "does not appear to be a git repository")


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """The files of one commit below `folder`."""

    folder: Path
    commit: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A blob of a tree: its mode, size in bytes and path as git has it."""

    mode: str
    size: int
    path: bytes


@asynccontextmanager
async def scratch(parent: Path) -> AsyncIterator[Path]:
    """Make a folder that is gone afterwards; what a killed process left there goes first.

    The caller holds the lock of a sync, so nobody else has one.
    """
    folder = await asyncio.to_thread(_fresh, parent)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _fresh(parent: Path) -> Path:
    shutil.rmtree(parent, ignore_errors=True)
    parent.mkdir(parents=True, mode=0o700)
    return Path(tempfile.mkdtemp(dir=parent))


async def check_out(repository: Repository, ref: str | None, git: Git) -> CheckedOut:
    """Resolve `ref` to a commit and write its files. Raises SourceError.

    No history, tags or submodules are fetched. A file over the limit of a problem's file is not
    written but stands there as a hole of its size, so that a problem that names it is told why.
    """
    try:
        commit = await _resolved(repository, ref, git)
        await _fetch(repository, commit, git)
        files = git.folder / "files"
        await _write(commit, files, git)
    except GitFailed as failed:
        raise SourceError(repository.label, _reason(failed.words, repository)) from None
    return CheckedOut(files, commit)


async def _resolved(repository: Repository, ref: str | None, git: Git) -> str:
    if ref is not None and COMMIT.fullmatch(ref):
        return ref
    patterns = ("HEAD",) if ref is None else _patterns(ref)
    output = await git.run("ls-remote", "--", repository.url, *patterns)
    refs = dict(_remote_refs(output))
    for name in patterns:
        if name in refs:
            return refs[name]
    if ref is None:
        raise SourceError(repository.label, "it has no commit")
    if SHORT_COMMIT.fullmatch(ref):
        raise SourceError(repository.label, f"no branch or tag {ref}, a commit needs its 40 digits")
    raise SourceError(repository.label, f"no branch, tag or commit {ref}")


def _patterns(ref: str) -> tuple[str, ...]:
    """Where a name is looked for, in this order: branch, tag, then a full name; tags peeled."""
    return (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"{ref}^{{}}", ref)


def _remote_refs(output: bytes) -> Iterator[tuple[str, str]]:
    for line in output.decode("utf-8", "replace").splitlines():
        commit, _, name = line.partition("\t")
        if COMMIT.fullmatch(commit):
            yield name, commit


async def _fetch(repository: Repository, commit: str, git: Git) -> None:
    await git.run("init", "--quiet", "--bare", "--template=", "git")
    options = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
    await _in_repository(git, "fetch", "--quiet", *options, "--", repository.url, commit)


async def _write(commit: str, files: Path, git: Git) -> None:
    tree = await _in_repository(git, "ls-tree", "-r", "-l", "-z", f"{commit}^{{tree}}")
    entries = await asyncio.to_thread(lambda: tuple(_entries(tree)))
    _check_size(entries, git.max_bytes)
    await asyncio.to_thread(_dig_holes, files, entries)
    wanted = b"".join(entry.path + b"\0" for entry in entries if entry.size <= MAX_FILE_BYTES)
    place = (f"--git-dir={git.folder / 'git'}", f"--work-tree={files}")
    await git.run(*place, "read-tree", commit, cwd=files)
    await git.run(*place, "checkout-index", "-z", "--stdin", given=wanted, cwd=files)


async def _in_repository(git: Git, *arguments: str) -> bytes:
    return await git.run(f"--git-dir={git.folder / 'git'}", *arguments)


def _entries(tree: bytes) -> Iterator[Entry]:
    """Read `ls-tree -l -z`; a submodule has no size and is left out."""
    for line in tree.split(b"\0"):
        head, _, path = line.partition(b"\t")
        words = head.split()
        if len(words) == 4 and words[1] == b"blob":
            yield Entry(words[0].decode(), int(words[3]), path)


def _check_size(entries: tuple[Entry, ...], limit: int) -> None:
    if len(entries) > MAX_FILES:
        raise GitFailed(f"more than {MAX_FILES:,} files")
    if sum(entry.size for entry in entries if entry.size <= MAX_FILE_BYTES) > limit:
        raise GitFailed(f"larger than {limit:,} bytes")


def _dig_holes(files: Path, entries: tuple[Entry, ...]) -> None:
    # Nothing is there yet, so no link can lead these paths astray.
    files.mkdir()
    for entry in entries:
        path = files / entry.path.decode("utf-8", "surrogateescape")
        if entry.size <= MAX_FILE_BYTES or ".." in path.parts or not path.is_relative_to(files):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as hole:
            hole.truncate(entry.size)


def _reason(words: str, repository: Repository) -> str:
    if any(mark in words for mark in _NEEDS_LOGIN) and repository.server is not None:
        host = server_of(repository.server)
        return f"private or not there, an admin can set a token for {host} in git_tokens"
    if any(mark in words for mark in _NO_LOGIN):
        return "the server does not let the bot's ssh key in"
    if any(mark in words for mark in _NOT_THERE):
        return "no such repository, or the bot may not read it"
    if "not our ref" in words or "unadvertised object" in words:
        return "it has no such commit, or gives out branches and tags only"
    return words

"""git as a child process: it asks nobody, runs no program of a repository, and is bounded."""

import asyncio
import os
import re
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from runner_client.secret import Secret

OUTPUT_LIMIT = 50_000_000
ERROR_LIMIT = 100_000
PASSED_ON = (
    *("PATH", "HOME", "USER", "TMPDIR", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "GIT_SSL_CAINFO"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)
"""Of our own environment; everything else is the bot's alone."""
FIXED = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=20",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:file",
}
SAFE = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.symlinks": "true",
    "credential.helper": "",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "submodule.recurse": "false",
}
TOKEN = "NCUBOT_GIT_TOKEN"  # noqa: S105 - the variable's name
# git asks it for the password; the token stays in the environment and out of every argv.
HELPER = (
    f'!f() {{ test "$1" = get && printf "username=x-access-token\\npassword=%s\\n" "${TOKEN}"; }}; '
    "f"
)
_COMMIT = re.compile(r"[0-9a-f]{40}")
STATUS_LIMIT_S = 10.0


class GitFailed(Exception):  # noqa: N818 - git's own word
    """git ended with an error; `words` is what it said of it, on one line."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git with a folder of its own for what it says; `max_bytes` bounds each file it writes.

    `token` is given to `server` (scheme and host) alone.
    """

    folder: Path
    max_bytes: int
    server: str | None = None
    token: Secret | None = None

    async def run(self, *arguments: str, given: bytes = b"", cwd: Path | None = None) -> bytes:
        """Run git and return what it printed. Raises GitFailed; ends it when cancelled."""
        await asyncio.to_thread((self.folder / "in").write_bytes, given)
        status = await self._status(arguments, cwd or self.folder)
        if status != 0:
            said = await asyncio.to_thread(_head, self.folder / "err", ERROR_LIMIT)
            raise GitFailed(self._words(said, status))
        output = await asyncio.to_thread(_head, self.folder / "out", OUTPUT_LIMIT + 1)
        if len(output) > OUTPUT_LIMIT:
            raise GitFailed(f"it lists more than {OUTPUT_LIMIT:,} bytes of names")
        return output

    async def _status(self, arguments: tuple[str, ...], cwd: Path) -> int:
        names = {0: ("in", os.O_RDONLY), 1: ("out", _WRITE), 2: ("err", _WRITE)}
        files = {
            number: os.open(self.folder / name, flags) for number, (name, flags) in names.items()
        }
        try:
            process = await asyncio.create_subprocess_exec(
                *("sh", "-c", 'ulimit -f "$0" && exec git "$@"', str(self.max_bytes // 512 + 1)),
                *arguments,
                cwd=cwd,
                env=self._environment(os.environ),
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                start_new_session=True,
            )
        finally:
            for file in files.values():
                os.close(file)
        try:
            return await process.wait()
        finally:
            await _end(process)

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        settings = dict(SAFE)
        kept = {name: environ[name] for name in PASSED_ON if name in environ}
        if self.token is not None and self.server is not None:
            settings[f"credential.{self.server}.helper"] = HELPER
            kept[TOKEN] = self.token.reveal()
        return kept | FIXED | configured(settings)

    def _words(self, said: bytes, status: int) -> str:
        text = said.decode("utf-8", "replace")
        if self.token is not None:
            text = text.replace(self.token.reveal(), "(hidden)")
        if status in _TOO_LARGE or any(mark in text for mark in _CUT):
            return f"larger than {self.max_bytes:,} bytes"
        if status == _NO_PROGRAM:
            return "git is not installed on the bot's machine"
        lines = [line.strip() for line in text.splitlines() if "fatal:" in line or "ERROR:" in line]
        first = lines[0] if lines else f"git ended with status {status}"
        words = first.removeprefix("fatal: ").rstrip(".")
        return "".join(c if c.isprintable() else " " for c in words)[:300]


_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# What git says when a child of its own was ended for writing too much.
_CUT = ("signal 25", "File too large", "invalid index-pack output")
_NO_PROGRAM = 127
_TOO_LARGE = {-signal.SIGXFSZ, 128 + signal.SIGXFSZ}


def configured(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which git takes settings from its environment."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def server_of(url: str) -> str:
    """Return the host of a server as the setting `git_tokens` names it."""
    return urlsplit(url).netloc


async def _end(process: asyncio.subprocess.Process) -> None:
    """End git and what it started, where it still runs."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _head(file: Path, limit: int) -> bytes:
    with file.open("rb") as opened:
        return opened.read(limit)


async def head_commit(folder: Path, scratch: Path) -> str | None:
    """Return the commit that a folder's files are those of.

    None where it is no git checkout, has no commit, or holds changes that no commit has.
    """
    git = Git(scratch, OUTPUT_LIMIT)
    try:
        async with asyncio.timeout(STATUS_LIMIT_S):
            head = await git.run("rev-parse", "--verify", "HEAD", cwd=folder)
            status = ("status", "--porcelain", "--untracked-files=all", "--", ".")
            changed = await git.run(*status, cwd=folder)
    except (GitFailed, TimeoutError, OSError):
        return None
    commit = head.decode("ascii", "replace").strip()
    return commit if _COMMIT.fullmatch(commit) and not changed.strip() else None

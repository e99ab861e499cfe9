"""Which commit a folder is at."""

import asyncio
import os
import re
from pathlib import Path

LIMIT_S = 10.0
# The repository's own configuration must start no program, and git must ask nobody for anything.
SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_COMMIT = re.compile(r"[0-9a-f]{40}")


async def head_commit(folder: Path) -> str | None:
    """Return the commit that a folder's files are those of.

    None where it is no git checkout, has no commit, or holds changes that no commit has.
    """
    head = (await _git(folder, "rev-parse", "--verify", "HEAD")).strip()
    if _COMMIT.fullmatch(head) is None:
        return None
    changed = await _git(folder, "status", "--porcelain", "--untracked-files=all", "--", ".")
    return None if changed.strip() else head


async def _git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` and return what it said; whatever goes wrong gives no commit."""
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *SAFE,
            *arguments,
            cwd=folder,
            env=os.environ | {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ""
    return await _output(process)


async def _output(process: asyncio.subprocess.Process) -> str:
    try:
        async with asyncio.timeout(LIMIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return output.decode("utf-8", "replace") if process.returncode == 0 else ""

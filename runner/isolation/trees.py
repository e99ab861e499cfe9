"""Removing folders that strangers filled: of any depth, with any names and modes."""

import itertools
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def remove_tree(root: Path) -> None:
    """Remove `root` and all below it; what cannot be removed is left. Blocking. Follows no link.

    Folders are first moved up to the top, since a path has an end and so has the stack.
    """
    with suppress(OSError):
        if not stat.S_ISDIR(root.lstat().st_mode):
            root.unlink()
            return
    # A name that the folder's maker could not know.
    names = (f".{secrets.token_hex(16)}" for _ in itertools.count())
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        waiting += _emptied(folder, (root / name for name in names))
        if folder != root:
            with suppress(OSError):
                folder.rmdir()
    with suppress(OSError):
        root.rmdir()


def _emptied(folder: Path, free: Iterator[Path]) -> list[Path]:
    """Remove the files in `folder` and move its folders to `free` paths; return those."""
    moved = []
    with suppress(OSError):
        folder.chmod(0o700)
        for path in tuple(folder.iterdir()):
            with suppress(OSError):
                if not stat.S_ISDIR(path.lstat().st_mode):
                    path.unlink()
                    continue
                path.chmod(0o700)
                target = next(free)
                path.rename(target)
                moved.append(target)
    return moved

"""Small file operations that a kill at any instant leaves whole."""

import os
from pathlib import Path


def write_atomic(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step. Blocking."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def append_line(path: Path, line: bytes) -> None:
    """Append one line. Blocking."""
    with path.open("ab") as file:
        file.write(line + b"\n")


def read_lines(path: Path) -> list[bytes]:
    """Return the whole lines of a file and cut off a torn last one. Blocking."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole].splitlines()

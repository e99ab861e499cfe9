"""Small file operations that a kill at any instant leaves whole, and a power cut too."""

import os
from pathlib import Path


def write_atomic(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step that lasts. Blocking."""
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    settle(path.parent)


def settle(path: Path) -> None:
    """Wait until a file's bytes, or a folder's names, are on the disk. Blocking."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def append_line(path: Path, line: bytes) -> None:
    """Append one line, whole or not at all as far as this process can see to it. Blocking."""
    with path.open("ab", buffering=0) as file:
        before = file.tell()
        try:
            written = file.write(line + b"\n")
        except OSError:
            os.truncate(path, before)
            raise
        if written != len(line) + 1:
            os.truncate(path, before)
            raise OSError(f"{path.name}: only {written} bytes were written")


def read_lines(path: Path) -> list[bytes]:
    """Return the whole lines of a file and cut off a torn last one. Blocking."""
    data = read_if_there(path) or b""
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)
    return data[:whole].splitlines()


def read_if_there(path: Path) -> bytes | None:
    """Return a file's bytes, or None where there is no such file. Blocking."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None

"""A file on its way in: counted, hashed and written off the event loop."""

import asyncio
import hashlib
from pathlib import Path
from typing import Self

from .errors import Broken


class Download:
    """Writes beside `path` and renames at the end, if `size` and `sha256` are right.

    Raises Broken where they are not; then, and on any other exception, nothing is left behind.
    """

    def __init__(self, path: Path, size: int, sha256: str) -> None:
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        self._size = size
        self._sha256 = sha256
        self._count = 0
        self._hash = hashlib.sha256()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._start)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        try:
            if kind is None:
                await asyncio.to_thread(self._finish)
        finally:
            self._part.unlink(missing_ok=True)

    async def write(self, chunk: bytes) -> None:
        """Add bytes. Raises Broken as soon as they are more than announced."""
        self._count += len(chunk)
        if self._count > self._size:
            raise Broken(f"{self._path.name} is larger than announced")
        await asyncio.to_thread(self._add, chunk)

    def _start(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = self._part.open("wb")

    def _add(self, chunk: bytes) -> None:
        self._hash.update(chunk)
        self._file.write(chunk)

    def _finish(self) -> None:
        if self._count != self._size:
            raise Broken(f"{self._path.name} is smaller than announced")
        if self._hash.hexdigest() != self._sha256:
            raise Broken(f"{self._path.name} has another SHA-256 than announced")
        self._part.replace(self._path)

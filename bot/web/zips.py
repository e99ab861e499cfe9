"""Zips of reports and details, made on the disk and sent piece by piece."""

import asyncio
import base64
import tempfile
import zipfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO

PIECE = 96 * 1_024
"""Bytes read at once; a multiple of three, so that base64 needs no padding in between."""
_PLAIN = {".ncu-rep": "profile.ncu-rep", ".csv": "ncu-details.csv", ".txt": "ncu-details.txt"}


def wanted(names: Iterable[str]) -> tuple[str, ...]:
    """Return those artifacts of one benchmark that the client takes out of a zip."""
    return tuple(
        name for name in names if name.endswith(".ncu-rep") or name.startswith("ncu-details.")
    )


@asynccontextmanager
async def zipped(files: dict[str, Path], folder: Path) -> AsyncIterator[BinaryIO]:
    """Give a zip of one benchmark's files under the names that the client knows.

    It lies in `folder` without a name, so that nothing stays, however this ends.
    """
    await asyncio.to_thread(folder.mkdir, mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder) as packed:
        await asyncio.to_thread(_write, packed, files)
        yield packed


async def pieces(packed: BinaryIO, *, encoded: bool) -> AsyncIterator[bytes]:
    """Read a file in bounded pieces, in base64 where `encoded`."""
    while data := await asyncio.to_thread(packed.read, PIECE):
        yield base64.b64encode(data) if encoded else data


def _write(packed: BinaryIO, files: dict[str, Path]) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, path in files.items():
            archive.write(path, _PLAIN.get(Path(name).suffix, name))
    packed.seek(0)

"""Which files of a result go to Discord: as they are, zipped, or only named."""

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ZIP_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to attach: the name users see, where it lies, its bytes.

    `alt` says what is on a picture; every other file has none.
    """

    name: str
    path: Path
    size: int
    alt: str = ""


@dataclass(frozen=True, slots=True)
class Packed:
    """What fits under the upload limit, and what stays on the bot's disk."""

    uploads: tuple[Upload, ...]
    kept: tuple[Upload, ...]


def upload(path: str, alt: str) -> Upload:
    """Return a file under its own name. Blocks on the disk. Raises OSError."""
    file = Path(path)
    return Upload(file.name, file, file.stat().st_size, alt)


def pack(files: Iterable[tuple[str, Path]], limit: int) -> Packed:
    """Zip each file over `limit` bytes; one that stays over it is kept back.

    Blocks on the disk. Zips are written beside the file and used again.
    """
    uploads: list[Upload] = []
    kept: list[Upload] = []
    for name, path in files:
        whole = Upload(name, path, path.stat().st_size)
        fitting = whole if whole.size <= limit else _zipped(whole)
        if fitting.size <= limit:
            uploads.append(fitting)
        else:
            kept.append(whole)
    return Packed(tuple(uploads), tuple(kept))


def _zipped(file: Upload) -> Upload:
    target = file.path.with_name(file.path.name + ".zip")
    if not target.exists():
        unfinished = target.with_suffix(".part")
        with zipfile.ZipFile(
            unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=ZIP_LEVEL
        ) as archive:
            archive.write(file.path, file.name)
        unfinished.replace(target)
    return Upload(f"{file.name}.zip", target, target.stat().st_size)


def largest(uploads: tuple[Upload, ...]) -> Upload | None:
    """Return the file that weighs most, or None when there is none."""
    return max(uploads, key=lambda upload: upload.size, default=None)


def size_words(size: int) -> str:
    """Return a size as people read it: `14.8 MB`."""
    value = float(size)
    for unit in ("B", "kB", "MB"):
        if value < 1_000:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1_000
    return f"{value:.1f} GB"

"""Where the files of jobs lie: a folder a job below the data folder."""

import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_JOB_ID = re.compile(r"[0-9a-f]{32}")
MARK = "DATABASE"
"""Names the database whose jobs' files lie here."""
ZIPPED = ".zip"
"""A file that was zipped to be sent lies beside its zip."""


class ArtifactFiles:
    """The files that were fetched from runners. All but `folder` blocks on the disk."""

    def __init__(self, data: Path) -> None:
        self._root = data.absolute() / "jobs"

    def folder(self, job_id: str) -> Path:
        """Return the folder of a job; it need not exist. Raises ValueError for no job's id."""
        if _JOB_ID.fullmatch(job_id) is None:
            raise ValueError("not a job id")
        return self._root / job_id

    def claim(self, database: str) -> bool:
        """Whether the files are those of the database so named; the first that asks has them.

        Raises OSError.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark = self._root / MARK
        with suppress(FileExistsError), mark.open("x", encoding="utf-8") as file:
            file.write(database)
        return mark.read_text(encoding="utf-8") == database

    def sizes(self) -> dict[str, int]:
        """Return the bytes that each job has on the disk; what is no job's folder is left out."""
        if not self._root.is_dir():
            return {}
        found = (entry for entry in self._root.iterdir() if _JOB_ID.fullmatch(entry.name))
        return {folder.name: _size(folder) for folder in found}

    def remove(self, job_id: str) -> None:
        """Remove all files of a job, where it has any. Raises OSError."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder(job_id))

    def missing(self, job_id: str, sizes: Mapping[str, int]) -> frozenset[str]:
        """Return which of a job's files are not there in their sizes."""
        folder = self.folder(job_id)
        return frozenset(name for name, size in sizes.items() if _bytes(folder / name) != size)

    def remove_others(self, job_id: str, names: frozenset[str]) -> None:
        """Remove the files of a job that have none of these names. Raises OSError."""
        folder = self.folder(job_id)
        for path in list(folder.iterdir()) if folder.is_dir() else ():
            if path.name.removesuffix(ZIPPED) not in names and not path.is_dir():
                path.unlink(missing_ok=True)


def _size(folder: Path) -> int:
    if not folder.is_dir():
        return 0
    return sum(_bytes(path) or 0 for path in folder.rglob("*"))


def _bytes(path: Path) -> int | None:
    """Return a file's size, None where there is no such file, also when it has just gone."""
    try:
        return path.stat(follow_symlinks=False).st_size if path.is_file() else None
    except FileNotFoundError:
        return None

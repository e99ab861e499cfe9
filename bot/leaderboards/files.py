"""Files of a problem repository: confined to it, read once, bounded."""

from pathlib import Path

from bot.leaderboards.yaml import Document, read_yaml

MAX_FILE_BYTES = 4_000_000
MAX_TASK_BYTES = 16_000_000
"""The text of all files of one task."""


class ProblemFiles:
    """A folder out of which no path leads, neither by `..` nor by a link.

    A text that several problems share is read once. Not for two threads at once.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._given = root
        self._texts: dict[Path, str] = {}

    def inside(self, path: Path) -> Path:
        """Return the real place of `path`. Raises ValueError where it lies outside, OSError."""
        try:
            real = path.resolve()
        except RuntimeError:
            raise ValueError("its links lead in a circle") from None
        if not real.is_relative_to(self.root):
            raise ValueError("leads out of the problem repository")
        if ".git" in real.relative_to(self.root).parts:
            raise ValueError("is git's own, not the repository's")
        return real

    def name(self, path: Path) -> str:
        """Name `path` the way its author knows it, from the folder that was given."""
        for root in (self._given, self.root):
            if path.is_relative_to(root):
                return str(path.relative_to(root))
        return path.name

    def text(self, path: Path) -> str:
        """Return a UTF-8 file's text. Raises ValueError for what is none, OSError."""
        real = self.inside(path)
        if real not in self._texts:
            self._texts[real] = _read(real)
        return self._texts[real]

    def document(self, path: Path) -> Document:
        """Return a YAML file's document. Raises ValueError, OSError."""
        return read_yaml(self.inside(path))


def _read(path: Path) -> str:
    if not path.is_file():
        raise ValueError("is no file")
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"is larger than {MAX_FILE_BYTES:,} bytes")
    return path.read_bytes().decode("utf-8")


def reason_of(error: Exception) -> str:
    """Say in a few words what the system or a decoder had against a file."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    if isinstance(error, UnicodeDecodeError):
        return "is not UTF-8"
    return " ".join(str(error).split())

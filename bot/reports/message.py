"""The messages of a reply as plain values, ready for Discord: neutralised, within its limits."""

from dataclasses import dataclass, replace
from enum import StrEnum

from bot.reports.neutral import closed, code
from bot.reports.picker import CONTENT_LIMIT, Picker
from bot.reports.uploads import Upload, size_words

TITLE_LIMIT = 256
DESCRIPTION_LIMIT = 4_096
TABLE_LIMIT = CONTENT_LIMIT
SMALLER = (
    "For a smaller report profile again with preset: quick (a tenth of the size), or with fewer "
    "kernels: a lower launch_count, or one kernel by kernel_name."
)


class Tone(StrEnum):
    """How a message looks from afar."""

    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Fact:
    """A named value under the table; a `wide` one has a line of its own."""

    name: str
    value: str
    wide: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyMessage:
    """One message: the table, an embed's parts, a kernel picker, and the files that go with it.

    `table` is a code block and stands above the embed, which is too narrow for it. `kept` are files
    that were too large, named in the text and left on the bot's disk.
    """

    title: str
    tone: Tone
    description: str
    table: str = ""
    facts: tuple[Fact, ...] = ()
    footer: str = ""
    files: tuple[Upload, ...] = ()
    kept: tuple[Upload, ...] = ()
    picker: Picker | None = None

    def without(self, file: Upload, why: str) -> "ReplyMessage":
        """Return the message without one of its files, and with a line that names it."""
        line = left_on_disk((file,), why)
        return replace(
            self,
            description=f"{closed(self.description, DESCRIPTION_LIMIT - len(line) - 1)}\n{line}",
            files=tuple(other for other in self.files if other != file),
            kept=(*self.kept, file),
        )


def left_on_disk(files: tuple[Upload, ...], why: str) -> str:
    """Return the line that names files which were not sent, and offers a smaller capture."""
    names = ", ".join(f"{code(file.name)} ({size_words(file.size)})" for file in files)
    report = any(".ncu-rep" in file.name for file in files)
    kept = f"Not attached, {why}: {names}. Kept on the bot's disk."
    return f"{kept} {SMALLER}" if report else kept

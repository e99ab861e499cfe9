"""Why a file gives no report. Typed data only; whoever talks to a person words it."""

from dataclasses import dataclass
from enum import StrEnum


class Lack(StrEnum):
    """What stands in the file instead of a table of the details page."""

    EMPTY = "empty"
    BINARY = "binary"
    RAW_PAGE = "raw-page"
    NO_HEADER = "no-header"


class CountersError(Exception):
    """Base of the errors of this package."""


@dataclass(eq=False)
class NoTable(CountersError):  # noqa: N818 - named for what the file lacks
    """The file has no row that names the details page's fields."""

    lack: Lack


class Scattered(CountersError):  # noqa: N818 - named for how the rows stand
    """The rows of a kernel do not stand together, so they cannot be read launch by launch."""

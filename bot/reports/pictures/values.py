"""What goes to the drawing process and what comes back, one line of JSON each."""

from enum import StrEnum

from msgspec import Struct

ALT_LIMIT = 1_024
"""Characters that Discord takes for a file's description."""


class Kind(StrEnum):
    """The pictures, in the order in which they are shown."""

    TIME = "time"
    ROOFLINE = "roofline"
    STALLS = "stalls"


class Bar(Struct, frozen=True, kw_only=True):
    """All launches of one kernel.

    `total_ns` is the time of all `count` launches together, None where it was not counted, and
    `share` its part (0..1) of the captured time. `ids` are the launches' numbers in the export.
    """

    label: str
    total_ns: float | None
    share: float | None
    count: int
    bound: str
    ids: tuple[int, ...]


class PictureRequest(Struct, frozen=True, kw_only=True):
    """One benchmark to be drawn.

    `bars` are its kernels, hottest first. `raw` is the path of the export's raw page, None where
    there is none. The pictures are written into `folder` under names that hold `index`.
    """

    index: int
    gpu: str
    bars: tuple[Bar, ...]
    raw: str | None
    folder: str


class Picture(Struct, frozen=True, kw_only=True):
    """A PNG that was written, with a text for those who cannot see it."""

    kind: Kind
    path: str
    alt: str


class Skipped(Struct, frozen=True, kw_only=True):
    """A picture that was not drawn, and why in a few words."""

    kind: Kind
    why: str


class Pictures(Struct, frozen=True, kw_only=True):
    """What became of a request."""

    drawn: tuple[Picture, ...] = ()
    skipped: tuple[Skipped, ...] = ()

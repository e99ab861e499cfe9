"""What a test tells the small Discord to do, and what it is told; both sides share these."""

from msgspec import Struct

from tests.discord.calls import Call
from tests.discord.records import Kind, Message


class Upload(Struct, frozen=True, kw_only=True):
    """A file that a user attaches."""

    name: str
    content: bytes


class Slash(Struct, frozen=True, kw_only=True):
    """A user types a command, `("profiles", "list")` for one of a group.

    `channel` is a text channel of the server, or None for the direct messages with the bot.
    The interaction is `age_s` seconds old when it reaches the bot. `permissions`: what the bot may
    there, where it is not what the rules say.
    """

    user: int
    command: tuple[str, ...]
    options: dict[str, str | int | bool] = {}
    files: dict[str, Upload] = {}
    channel: int | None
    age_s: float = 0.0
    permissions: int | None = None


class Click(Struct, frozen=True, kw_only=True):
    """A user presses a button, or chooses `values` in a menu, of a message."""

    user: int
    message: int
    custom_id: str
    values: tuple[str, ...] = ()


class Typed(Struct, frozen=True, kw_only=True):
    """Something that was typed; `reached` tells whether a bot was there to hear it."""

    token: str
    reached: bool


class Seen(Struct, frozen=True, kw_only=True):
    """A message in the eyes of a user, and where it stands."""

    message: Message
    kind: Kind
    ephemeral: bool


class Look(Struct, frozen=True, kw_only=True):
    """Ask what a user sees, or what of it answers the interaction of a token."""

    user: int
    token: str | None = None


class Await(Struct, frozen=True, kw_only=True):
    """Ask for a version beyond `version`, for at most `seconds`."""

    version: int
    seconds: float


class Counts(Struct, frozen=True, kw_only=True):
    """How often each call was made, and how often beyond its limit; bots there now and ever."""

    version: int
    calls: dict[Call, int]
    broken: dict[Call, int]
    online: int
    identified: int

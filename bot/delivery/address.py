"""Where the author of a job is to be reached."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from runner_client.secret import Secret

TOKEN_LIFE = timedelta(minutes=14, seconds=30)
"""How long after it came an interaction is edited; Discord's own limit is 15 minutes."""


class WayName(StrEnum):
    """The ways in the order in which they are tried."""

    REPLY = "reply"
    DIRECT = "direct"
    THREAD = "thread"
    KEPT = "kept"
    """None of the others is open: the result waits, and a note comes with what they type next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """The author, and the interaction that they typed.

    `token` edits the interaction's messages until `expires_at`; None where it was wiped. The
    command was typed in `channel_id` of `guild_id`. `upload_limit` is in bytes a file.
    """

    user_id: int
    application_id: int
    token: Secret | None
    expires_at: datetime
    channel_id: int | None
    guild_id: int | None
    upload_limit: int

    def live_token(self, now: datetime) -> Secret | None:
        """Return the token while it can be used."""
        return self.token if now < self.expires_at else None

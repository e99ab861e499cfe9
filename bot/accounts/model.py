"""Values about users. Ids are Discord's."""

from dataclasses import dataclass
from datetime import datetime

from bot.accounts.quota import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A registered user; `linked` says whether a terminal may speak for them."""

    user_id: int
    name: str
    created_at: datetime
    linked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ban:
    """A user who may not use the bot; `by` is the admin."""

    user_id: int
    at: datetime
    by: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a user has used, and may still use.

    `account` is None for somebody who has none. `jobs` are all that are stored, `under_way` those
    that have not ended, of which there may be `most_under_way`.
    """

    account: Account | None
    jobs: int
    under_way: int
    most_under_way: int
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """What became of the jobs of somebody who left; `until` is when the last trace goes."""

    jobs: int
    until: datetime | None

"""All leaderboards in memory, so that commands and autocomplete never wait for the database."""

import difflib

from bot.leaderboards.check.model import Verdict
from bot.leaderboards.model import Leaderboard


class Catalogue:
    """What the bot serves at this moment; replaced as a whole after each sync."""

    def __init__(self, leaderboards: tuple[Leaderboard, ...] = ()) -> None:
        self._by_key: dict[str, Leaderboard] = {}
        self.replace(leaderboards)

    def replace(self, leaderboards: tuple[Leaderboard, ...]) -> None:
        """Serve these from now on."""
        ordered = sorted(leaderboards, key=lambda board: board.name.casefold())
        self._by_key = {board.name.casefold(): board for board in ordered}

    def all(self) -> tuple[Leaderboard, ...]:
        """Every leaderboard by name, closed ones included."""
        return tuple(self._by_key.values())

    def open_names(self) -> tuple[str, ...]:
        """Names of the leaderboards that take work."""
        return tuple(board.name for board in self._by_key.values() if not board.closed)

    def able_names(self) -> tuple[str, ...]:
        """Names of those whose evaluators give counters, as far as the check can tell."""
        return tuple(
            board.name
            for board in self._by_key.values()
            if not board.closed and board.check and board.check.profile is Verdict.NCU
        )

    def get(self, name: str) -> Leaderboard | None:
        """Return the leaderboard of that name in any case."""
        return self._by_key.get(name.strip().casefold())

    def nearest(self, name: str, *, closed: bool = False) -> str | None:
        """Guess which open leaderboard a wrong name meant; with `closed` also a closed one."""
        keys = [key for key, board in self._by_key.items() if closed or not board.closed]
        found = difflib.get_close_matches(name.strip().casefold()[:100], keys, n=1, cutoff=0.5)
        return self._by_key[found[0]].name if found else None

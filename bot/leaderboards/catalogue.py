"""All leaderboards in memory, so that commands and autocomplete never wait for the database."""

import difflib

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

    def get(self, name: str) -> Leaderboard | None:
        """Return the leaderboard of that name in any case."""
        return self._by_key.get(name.strip().casefold())

    def nearest(self, name: str) -> str | None:
        """Guess which open leaderboard a wrong name meant."""
        keys = [name.casefold() for name in self.open_names()]
        found = difflib.get_close_matches(name.strip().casefold()[:100], keys, n=1, cutoff=0.5)
        return self._by_key[found[0]].name if found else None

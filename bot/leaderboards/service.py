"""Leaderboards for those who command them: sync one at a time, then serve the new state."""

import asyncio
from pathlib import Path

from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.sync import SyncReport, sync_folder
from bot.storage import boards
from bot.storage.database import Database


class LeaderboardService:
    """Writes the leaderboard tables and keeps the catalogue true to them."""

    def __init__(self, database: Database, catalogue: Catalogue) -> None:
        self._database = database
        self._catalogue = catalogue
        self._one_at_a_time = asyncio.Lock()

    async def sync_folder(
        self, folder: Path, actor: int | None = None, *, dry_run: bool = False
    ) -> SyncReport:
        """Sync a local folder; `actor` is the admin who asked. Raises SourceError."""
        async with self._one_at_a_time:
            report = await sync_folder(self._database, folder, dry_run=dry_run)
            await self.refresh()
        return report

    async def refresh(self) -> None:
        """Serve what the tables hold."""
        async with self._database.begin() as session:
            leaderboards = await boards.load_all(session)
        self._catalogue.replace(leaderboards)

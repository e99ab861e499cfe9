"""What tests of syncs type, and the git repositories that they sync."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from bot.leaderboards.catalogue import Catalogue
from bot.leaderboards.model import Leaderboard
from bot.leaderboards.service import LeaderboardService, Request
from bot.leaderboards.sync import SyncReport
from bot.settings import BotSettings
from bot.storage.audit import Who

ADMIN = Who(origin="discord", id=7, name="ada", guild_id=70)


@dataclass
class Syncing:
    """A service as admins use it."""

    service: LeaderboardService
    catalogue: Catalogue
    settings: BotSettings

    async def __call__(
        self,
        source: Path | str,
        ref: str | None = None,
        problem_set: str | None = None,
        *,
        force: bool = False,
        dry_run: bool = False,
    ) -> SyncReport:
        request = Request(source=str(source), ref=ref, problem_set=problem_set, anywhere=True)
        reading = await self.service.read(request)
        if dry_run:
            return await self.service.plan(reading, force=force)
        return await self.service.apply(reading, ADMIN, force=force)

    def board(self, name: str) -> Leaderboard:
        found = self.catalogue.get(name)
        assert found is not None
        return found


def plain(report: SyncReport) -> SyncReport:
    """Return what everybody may compare: names by what happened to them."""
    skipped = tuple(structs.replace(skip, changes=()) for skip in report.skipped)
    return structs.replace(report, source="", changed=(), warnings=(), skipped=skipped)


def git(folder: Path, *arguments: str) -> str:
    """Run git as somebody who maintains problems."""
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    allowed = ("-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ("git", *who, *allowed, *arguments), cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, message: str = "a change") -> str:
    """Commit everything, in a new repository where there is none, and return the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force", ".")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return git(folder, "rev-parse", "HEAD")

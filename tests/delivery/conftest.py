"""The real services on a scripted runner, and an office whose Discord is in memory."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from bot.delivery.address import Address
from bot.delivery.courier import Tools
from bot.delivery.office import Office
from bot.delivery.turns import Turns
from bot.jobs.model import Job, JobPhase, ProfileRequest
from bot.reports.pictures.values import PictureRequest, Pictures
from bot.reports.pictures.worker import PictureWorker
from bot.services import Services
from bot.storage import jobs as rows
from runner_client.secret import Secret
from tests.delivery.discord import LIMIT, SmallDiscord
from tests.jobs.conftest import USER, runner, services

__all__ = ["runner", "services"]
CHANNEL = 2**62
AT_ONCE = 2
SLOW_S = 0.05
WAITS_S: tuple[float, ...] = (0, 0)


class Unillustrated(PictureWorker):
    async def draw(self, request: PictureRequest) -> Pictures:
        return Pictures()


@dataclass
class Bot:
    """A life of the bot after another, on one database and one Discord."""

    services: Services
    discord: SmallDiscord = field(default_factory=SmallDiscord)
    office: Office = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin a life that knows nothing of those before."""
        self.office = Office(
            Tools(
                jobs=self.services.jobs,
                deliveries=self.services.deliveries,
                ways=self.discord,
                pictures=Unillustrated(self.services.settings.data),
                at_once=Turns(AT_ONCE, SLOW_S),
                waits_s=WAITS_S,
                pause_s=0,
            )
        )

    async def submit(self, **change: object) -> Job:
        """Store a job of two shapes."""
        return await self.services.jobs.submit(request(), address(**change))

    async def profile(self) -> Job:
        """Take a job from the command to its end."""
        job = await self.submit()
        await self.office.accept(job, address())
        await self.ended()
        return job

    async def ended(self) -> None:
        """Wait until every courier of this life has ended, however."""
        await asyncio.gather(*self.office._tasks.values(), return_exceptions=True)

    async def next_life(self) -> None:
        """Start anew and wait for what that takes up."""
        self.start()
        await self.office.resume()
        await self.ended()

    async def phases(self, job: Job) -> list[JobPhase]:
        async with self.services.jobs._database.begin() as session:
            return [phase for phase, _ in await rows.phases(session, job.id)]


def request() -> ProfileRequest:
    return ProfileRequest(
        user_id=USER,
        file_name="kernel.py",
        source=b"#!POPCORN leaderboard qr\nprint()\n",
        gpu="H200",
        channel_id=CHANNEL,
        guild_id=CHANNEL + 1,
    )


def address(**change: object) -> Address:
    given: dict[str, object] = {
        "user_id": USER,
        "application_id": CHANNEL + 2,
        "token": Secret("an-interaction-token"),
        "expires_at": datetime.now(UTC) + timedelta(minutes=10),
        "channel_id": CHANNEL,
        "guild_id": CHANNEL + 1,
        "upload_limit": LIMIT,
    }
    return Address(**given | change)  # type: ignore[arg-type]


@pytest.fixture
async def bot(services: Services) -> AsyncIterator[Bot]:
    bot = Bot(services)
    yield bot
    await bot.office.close(0)

"""People who profile in a Discord whose bot is killed all the time."""

import asyncio
import random
from dataclasses import dataclass, field

from tests.discord.client import SmallDiscord
from tests.discord.orders import Click, Seen, Slash, Typed, Upload
from tests.discord.stage import channel_of
from tests.soak.letters import BOARD, HANGING, SUBMISSIONS, Submission

CANCEL = "Cancel"
PATIENCE_S = 4.0
"""After so long without an answer somebody types again."""
PAUSE_S = 0.3
HANGING_SHARE, CANCEL_SHARE = 0.05, 0.1


@dataclass(slots=True)
class Author:
    """One who profiles again and again until `done`; `unending` jobs wait for a Cancel."""

    user: int
    discord: SmallDiscord
    dice: random.Random
    typed: int = 0
    unending: set[str] = field(default_factory=set)

    async def work(self, done: asyncio.Event) -> None:
        """Profile, look, and now and then cancel."""
        while not done.is_set():
            hangs = self.dice.random() < HANGING_SHARE
            submission = HANGING if hangs else self.dice.choice(SUBMISSIONS)
            typed = await self._type(submission)
            if hangs:
                self.unending.add(typed.token)
            if typed.reached:
                await self._wait(typed.token, cancels=hangs or self.dice.random() < CANCEL_SHARE)
            await asyncio.sleep(PAUSE_S)

    async def end_all(self) -> None:
        """Press Cancel, again and again, for what does not end by itself."""
        while True:
            for token in tuple(self.unending):
                await self._cancel(token)
            await asyncio.sleep(PATIENCE_S / 2)

    async def _type(self, submission: Submission) -> Typed:
        self.typed += 1
        options: dict[str, str | int | bool] = {"leaderboard": BOARD, "gpu": "H200"}
        options["launch_count"] = submission.launches
        if submission.benchmark is not None:
            options["benchmark"] = submission.benchmark
        source = f"{submission.source}\n# {self.user}-{self.typed}\n"
        upload = Upload(name="submission.py", content=source.encode())
        return await self.discord.slash(
            Slash(
                user=self.user,
                command=("profile",),
                options=options,
                files={"submission": upload},
                channel=channel_of(self.user),
            )
        )

    async def _wait(self, token: str, *, cancels: bool) -> None:
        """Wait until a job has ended, or nothing was said for as long as somebody waits."""
        loop = asyncio.get_running_loop()
        until = loop.time() + PATIENCE_S
        while loop.time() < until:
            if cancels:
                await self._cancel(token)
            answer = await self._answer(token)
            if answer is not None and cancel_button(answer):
                until = loop.time() + PATIENCE_S
            elif answer is not None and not answer.message.loading:
                return
            await asyncio.sleep(PAUSE_S)

    async def _cancel(self, token: str) -> None:
        answer = await self._answer(token)
        custom_id = cancel_button(answer) if answer else None
        if answer is not None and custom_id is not None:
            message = answer.message.id
            await self.discord.click(Click(user=self.user, message=message, custom_id=custom_id))

    async def _answer(self, token: str) -> Seen | None:
        """Return the first message that answers what was typed."""
        return next(iter(await self.discord.seen(self.user, token)), None)


def cancel_button(seen: Seen) -> str | None:
    """Return the custom id of a message's Cancel button, where it has one."""
    rows = (row.get("components", ()) for row in seen.message.components)
    buttons = (one for row in rows for one in row if one.get("label") == CANCEL)
    return next((str(one["custom_id"]) for one in buttons), None)

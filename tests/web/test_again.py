"""Which of a terminal's jobs serves when the same is asked for again."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from bot.jobs.model import JobPhase, ProfileRequest
from bot.services import Services
from bot.storage.tables import JobRow
from bot.web.following import Followed
from runner_client.captures import CaptureOptions
from runner_client.wire import Preparing, Queued
from tests.web.client import Terminal
from tests.web.conftest import USER, submission

NOW = datetime.now(UTC)
AGO = NOW - timedelta(hours=1)
REQUEST = ProfileRequest(
    user_id=USER,
    file_name="k.py",
    source=submission("linalg/qr_v2", "starter.py"),
    leaderboard="qr_v2",
    gpu="H200",
    benchmark=0,
    capture=CaptureOptions(),
)
PATH = "/profile/qr_v2/H200"
DONE = JobPhase.DELIVERED.value


@pytest.mark.usefixtures("terminal")
async def test_which_job_is_found_again(services: Services) -> None:
    job = await services.jobs.submit(REQUEST)
    for found, values in (
        (True, {"created_at": AGO}),
        (False, {"created_at": AGO, "phase": DONE}),
        (True, {"created_at": NOW, "phase": DONE}),
        (False, {"phase": JobPhase.CANCELLED.value}),
        (False, {"phase": DONE, "charged": False}),
        (False, {"charged": True, "files_gone_at": NOW}),
    ):
        async with services.jobs._database.begin() as session:
            await session.execute(update(JobRow).where(JobRow.id == job.id).values(**values))
        wanted = services.jobs.wanted(REQUEST)
        known = await services.terminal_jobs.find_same(wanted, NOW - timedelta(minutes=10))
        assert (known is not None) is found, values


@pytest.mark.usefixtures("terminal")
async def test_how_many_are_ahead_of_a_job(services: Services) -> None:
    followed = Followed(await services.jobs.submit(REQUEST))
    await followed.note(Queued(number=1, at=NOW, ahead=2))
    assert (followed.message, followed.ahead) == ("queued, 2 ahead", 2)
    await followed.note(Preparing(number=2, at=NOW))
    assert followed.ahead is None


async def test_a_cut_result_is_there_again_and_listed_once(
    terminal: Terminal, services: Services
) -> None:
    sent = terminal.upload(PATH, "k.py", REQUEST.source, benchmark_index="0")
    reader, writer = await terminal.open(sent)
    await reader.readuntil(b'"trace":"')
    await reader.readexactly(1_000)
    writer.transport.abort()
    reply = await terminal.post_file(PATH, "again.py", REQUEST.source, benchmark_index="0")
    assert reply.events[-1][0] == "result"
    assert len(await services.terminal_jobs.latest(USER, 10, None)) == 1
    name = f"{'核' * 10}.py"
    await terminal.post_file(PATH, name, b"def custom_kernel(data): ...", benchmark_index="0")
    failed, good = (await terminal.get("/user/submissions")).json
    assert good["runs"][0]["passed"] is True
    assert failed["runs"][0]["passed"] is False
    assert len(failed["file_name"].encode()) <= 19
    assert failed["file_name"].endswith("….py")
    shown = (await terminal.get(f"/user/submissions/{failed['id']}")).json
    assert shown["file_name"] == name

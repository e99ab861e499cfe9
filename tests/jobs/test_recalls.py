"""What a runner is to drop, since another has it or nobody waits for it."""

import asyncio
from datetime import timedelta

import pytest
from msgspec import structs

from bot.jobs import health
from bot.jobs.errors import RunnerDown
from tests.jobs.conftest import REQUEST, USER
from tests.jobs.place import DEAD, Place, until, waits
from tests.jobs.runner import WELL


async def test_an_unfit_runner_drops_its_job_at_once(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    ill = place.machines[job.runner]
    waits(ill)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "queued")
    ill.health = structs.replace(WELL, problems=("no counters",))
    await place.look()
    assert ill.cancelled == [job.id]
    assert (await running).result.failure is None


async def test_a_job_that_waits_for_a_dead_runner_can_be_cancelled(place: Place) -> None:
    await place.watch.drain("b", None)
    job = await place.jobs.submit(REQUEST)
    dead = place.machines["a"]
    waits(dead)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "queued")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    dead.status_of = DEAD
    assert await place.jobs.cancel(job.id, USER)
    row = await place.row(job)
    assert (row.phase, row.failure_kind, row.charged) == ("cancelled", "runner-down", False)
    dead.status_of = {}
    await place.look(1)
    assert dead.cancelled == [job.id]


async def test_a_hand_over_that_arrives_after_the_cancel_is_dropped(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    machine = place.machines[job.runner]
    machine.status_of = {"DELETE job": 404}
    assert await place.jobs.cancel(job.id, USER)
    await place.look()
    assert machine.cancelled == []
    machine.status_of = {}
    await place.look()
    assert machine.cancelled == [job.id]


async def test_a_hand_over_that_never_arrives_is_not_asked_for_for_ever(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await place.jobs.submit(REQUEST)
    machine = place.machines[job.runner]
    machine.status_of = {"DELETE job": 404}
    assert await place.jobs.cancel(job.id, USER)
    monkeypatch.setattr(health, "ON_ITS_WAY", timedelta())
    await place.look()
    machine.status_of = {}
    await place.look()
    assert machine.cancelled == []


async def test_what_a_dead_runner_has_begun_cannot(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    waits(place.machines[job.runner], 3)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "running")
    place.machines[job.runner].status_of = DEAD
    with pytest.raises(RunnerDown):
        await place.jobs.cancel(job.id, USER)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)

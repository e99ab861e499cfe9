"""Several runners: which gets a job, what becomes of one's jobs when it dies, who is told."""

import asyncio

import pytest
from msgspec import structs

from bot.jobs.errors import (
    GpuWithoutRunner,
    JobVanished,
    RunnerBusy,
    RunnerDown,
    RunnerUnknown,
)
from bot.jobs.health import RunnerWatch
from bot.jobs.runners import Runners, Standing
from bot.storage import jobs
from runner_client.address import RunnerAddress
from tests.jobs.conftest import REQUEST, USER
from tests.jobs.place import DEAD, Place, until, waits
from tests.jobs.runner import EVENTS, WELL


def addresses(*gpus: str) -> list[RunnerAddress]:
    url = "http://127.0.0.1:1"
    return [RunnerAddress(name=f"r{number}", url=url, gpu=gpu) for number, gpu in enumerate(gpus)]


async def test_the_least_loaded_runner_gets_the_job_and_equals_take_turns() -> None:
    runners = Runners(addresses("H200", "H200", "B200"), 1)
    assert [runners.next_for("H200") for _ in range(4)] == ["r0", "r1", "r0", "r1"]
    runners.answered("r0", structs.replace(WELL, queued=6, running=4, slots=4))
    runners.answered("r1", structs.replace(WELL, queued=1, running=1))
    # 10 jobs on four GPUs are 2.5 a GPU, 2 on one are 2.
    assert [runners.next_for("h200") for _ in range(3)] == ["r1", "r0", "r0"]
    assert runners.next_for("B200") == "r2"
    with pytest.raises(GpuWithoutRunner):
        runners.next_for("A100")


async def test_drained_and_unwell_runners_get_none() -> None:
    runners = Runners(addresses("H200", "H200"), 1)
    runners.set_drained(frozenset({"r0"}))
    assert {runners.next_for("H200") for _ in range(3)} == {"r1"}
    ill = structs.replace(WELL, problems=("no counters",))
    runners.answered("r1", ill)
    assert runners.next_for("H200") == "r1"
    runners.answered("r1", ill)
    assert runners.state("r1").standing is Standing.UNFIT
    with pytest.raises(GpuWithoutRunner):
        runners.next_for("H200")
    assert runners.gpus() == ()
    runners.answered("r1", structs.replace(ill, checking=True))
    assert runners.gpus() == ("H200",)
    with pytest.raises(RunnerUnknown):
        runners.state("r9")


async def test_one_bad_look_is_no_reason(place: Place) -> None:
    place.machines["a"].status_of, place.machines["a"].fails = DEAD, 1
    await place.look(1)
    assert place.runners.state("a").standing is Standing.UNKNOWN
    await place.look(1)
    assert place.runners.state("a").standing is Standing.WELL
    failure = place.runners.state("a").last_failure
    assert failure is not None
    assert isinstance(failure.why, RunnerDown)
    assert place.told == []


async def test_what_waits_for_a_dead_runner_is_done_by_another_once(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    dead, other = place.machines[job.runner], place.other(job)
    waits(dead)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "queued")
    dead.status_of = DEAD
    await place.look()
    outcome = await running
    assert (outcome.job.id, outcome.job.runner) != (job.id, job.runner)
    assert [spec.id for spec in other.specs] == [job.id] == [spec.id for spec in dead.specs]
    assert (await place.row(job)).phase == "fetched"
    assert (await place.phases())[:4] == ["accepted", "queued", "accepted", "queued"]
    assert dead.cancelled == []
    dead.status_of = {}
    await place.look()
    assert dead.cancelled == [job.id]
    assert other.cancelled == []


async def test_what_has_begun_stays_and_fails_after_the_patience(place: Place) -> None:
    place.jobs._settings = structs.replace(place.jobs._settings, runner_patience=0.3)
    job = await place.jobs.submit(REQUEST)
    waits(place.machines[job.runner], 3)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "running")
    place.machines[job.runner].status_of = DEAD
    await place.look()
    with pytest.raises(RunnerDown):
        await running
    row = await place.row(job)
    assert (row.phase, row.failure_kind, row.runner) == ("failed", "runner-down", job.runner)
    assert place.other(job).specs == []
    # Nobody waits for it any more: once it is back, its GPU is for others.
    place.machines[job.runner].status_of = {}
    await place.look(1)
    assert place.machines[job.runner].cancelled == [job.id]


async def test_what_was_only_prepared_goes_to_another_after_the_patience(place: Place) -> None:
    place.jobs._settings = structs.replace(place.jobs._settings, runner_patience=0.3)
    job = await place.jobs.submit(REQUEST)
    waits(place.machines[job.runner], 2)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "running")
    place.machines[job.runner].status_of = DEAD
    await running
    assert [spec.id for spec in place.other(job).specs] == [job.id]


async def test_a_runner_that_takes_no_job_now_is_passed_over(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    busy = place.machines[job.runner]
    busy.status_of, busy.words = {"POST jobs": 503}, "the queue is full"
    await place.run(job)
    assert [spec.id for spec in place.other(job).specs] == [job.id]
    second = await place.jobs.submit(REQUEST)
    for machine in place.machines.values():
        machine.status_of, machine.words = {"POST jobs": 503}, "the queue is full"
    with pytest.raises(RunnerBusy):
        await place.run(second)


async def test_a_job_never_goes_back(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    handover = place.jobs._handover
    moved = await handover.move(job)
    assert moved is not None
    assert await handover.move(job) is None
    assert await handover.move(moved) is None
    assert (await place.row(job)).runner == moved.runner


async def test_a_bot_that_ends_right_after_taking_a_job_away_hands_it_over_later(
    place: Place,
) -> None:
    job = await place.jobs.submit(REQUEST)
    waits(place.machines[job.runner])
    following = asyncio.create_task(place.run(job))
    await until(place, job, "queued")
    assert await place.jobs._handover.move(job) is not None
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    async with place.services.deliveries._database.begin() as session:
        stored = await jobs.find(session, job.id)
    assert stored is not None
    assert (await place.run(stored)).job.runner != job.runner
    await place.look(1)
    assert place.machines[job.runner].cancelled == [job.id]


async def test_a_database_that_is_away_ends_no_watch(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def away() -> frozenset[str]:
        raise OSError(111, "refused")

    monkeypatch.setattr(place.watch.records, "drained", away)
    await place.look(1)
    assert "runners could not be looked after" in caplog.text
    assert place.runners.state("a").standing is Standing.WELL


async def test_a_job_that_has_begun_is_not_taken_from_a_dead_runner(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    waits(place.machines[job.runner], 3)
    running = asyncio.create_task(place.run(job))
    await until(place, job, "running")
    assert await place.jobs._handover.move(job) is None
    place.machines[job.runner].running = 0
    await running


async def test_a_runner_that_forgot_a_job_gets_it_once_more(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    machine = place.machines[job.runner]
    machine.status_of, machine.fails = {"GET events": 404}, 1
    await place.run(job)
    assert [spec.id for spec in machine.specs] == [job.id, job.id]


async def test_a_job_that_every_runner_forgets_fails(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    for machine in place.machines.values():
        machine.status_of = {"GET events": 404}
    with pytest.raises(JobVanished):
        await place.run(job)
    assert (await place.row(job)).failure_kind == "job-vanished"


async def test_with_no_other_runner_a_job_waits_for_its_own(place: Place) -> None:
    await place.watch.drain("b", None)
    job = await place.jobs.submit(REQUEST)
    assert job.runner == "a"
    waits(place.machines["a"])
    running = asyncio.create_task(place.run(job))
    await until(place, job, "queued")
    place.machines["a"].status_of = DEAD
    await place.look()
    with pytest.raises(GpuWithoutRunner):
        await place.jobs.submit(REQUEST)
    machine = place.machines["a"]
    machine.status_of, machine.events, machine.running = {}, EVENTS, 0
    assert (await running).job.runner == "a"


async def test_admins_are_told_once_that_a_gpu_has_no_runner_and_when_it_has(place: Place) -> None:
    for machine in place.machines.values():
        machine.status_of = DEAD
    place.hears = False
    await place.look(3)
    place.hears = True
    await place.look(3)
    (outage,) = place.told
    assert outage.startswith("H200 has no runner left, so no job for it is taken;")
    assert "Runner a does not answer" in outage
    again = RunnerWatch((), place.services.deliveries._database, place.runners)
    again.announce = place.announce
    await again.look()
    assert len(place.told) == 1
    for machine in place.machines.values():
        machine.status_of = {}
    await place.look(3)
    assert place.told[1:] == ["H200 has a runner again."]
    for machine in place.machines.values():
        machine.status_of = DEAD
    await place.look(3)
    assert len(place.told) == 3


async def test_a_drain_outlives_the_bot_and_leaves_what_runs(place: Place) -> None:
    job = await place.jobs.submit(REQUEST)
    assert await place.watch.drain(job.runner, USER)
    assert not await place.watch.drain(job.runner, USER)
    await place.look()
    assert (await place.run(job)).job.runner == job.runner
    assert {(await place.jobs.submit(REQUEST)).runner for _ in range(3)} == (
        place.machines.keys() - {job.runner}
    )
    newer = Runners([], 1)
    watch = RunnerWatch((), place.services.deliveries._database, newer)
    assert await watch.records.drained() == {job.runner}
    assert await place.watch.resume(job.runner)
    assert not await place.watch.resume(job.runner)
    with pytest.raises(RunnerUnknown):
        await place.watch.drain("z", USER)

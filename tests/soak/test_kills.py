"""`kill -9` of the runner at any instant, under load: nothing lost, nothing twice, nothing left."""

import asyncio
import random
from pathlib import Path

from runner_client.client import RunnerClient
from runner_client.wire import Preparing
from tests.soak.machine import Machine
from tests.soak.people import Delivery, User, check
from tests.standin.tools import Tools

USERS = 6
BARE_SHARE = 0.3
LONGEST_LIFE_S = 2.5
"""A runner needs about a second of it to be there: some are killed before."""
LEFT = {"spec.json", "events.jsonl", "result.json", "artifacts"}


async def test_no_kill_loses_or_doubles_a_job(
    tools: Tools, tmp_path: Path, rounds: int, dice: random.Random
) -> None:
    machine = Machine(tools, tmp_path)
    try:
        async with RunnerClient(machine.address, attempts=1) as client:
            deliveries = await _under_kills(machine, client, rounds, dice)
            for delivery in deliveries:
                await check(delivery, client, tmp_path / delivery.wish.spec.id)
        assert await machine.stop() == 0
    finally:
        await machine.kill()
    again = sum(_was_begun_again(delivery) for delivery in deliveries)
    print(f"{rounds} kills, {len(deliveries)} jobs, {again} begun more than once")
    _nothing_is_left(machine, deliveries)


async def _under_kills(
    machine: Machine, client: RunnerClient, rounds: int, dice: random.Random
) -> list[Delivery]:
    """Kill the runner so many times while people use it; return what they got in the end."""
    deliveries: list[Delivery] = []
    done = asyncio.Event()
    async with asyncio.TaskGroup() as people:
        for n in range(USERS):
            people.create_task(User(f"user-{n}", client, dice, deliveries).work(done))
        for _ in range(rounds):
            await machine.start(bare=dice.random() < BARE_SHARE)
            await asyncio.sleep(dice.uniform(0.2, LONGEST_LIFE_S))
            await machine.kill()
        await machine.start()
        done.set()
    return deliveries


def _was_begun_again(delivery: Delivery) -> bool:
    return sum(isinstance(event, Preparing) for event in delivery.events) > 1


def _nothing_is_left(machine: Machine, deliveries: list[Delivery]) -> None:
    assert machine.programs() == []
    assert machine.groups() == []
    assert list((machine.data / "work").iterdir()) == []
    folders = {path.name: path for path in (machine.data / "jobs").iterdir()}
    assert set(folders) == {delivery.wish.spec.id for delivery in deliveries}
    for delivery in deliveries:
        folder, result = folders[delivery.wish.spec.id], delivery.result
        assert result is not None
        assert {path.name for path in folder.iterdir()} == LEFT
        files = {file.name for one in result.benchmarks for file in one.artifacts}
        files |= {result.manifest.name} if result.manifest else set()
        assert {path.name for path in (folder / "artifacts").iterdir()} == files

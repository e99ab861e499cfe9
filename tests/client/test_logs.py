"""What stands in a log, and what must not."""

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator

import pytest

from bot.settings import BotSettings
from runner_client.address import RunnerAddress
from runner_client.logs import LogFormat, about_job, configure, secrets_in
from runner_client.secret import Secret

JOB = "0123456789abcdef0123456789abcdef"
DISCORD = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123456789"
Configure = Callable[..., io.StringIO]


@pytest.fixture
def logging_to() -> Iterator[Configure]:
    """Give a function that sends logs to a text, and put things back afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level

    def start(kind: LogFormat, *secrets: str) -> io.StringIO:
        stream = io.StringIO()
        configure(kind, map(Secret, secrets), stream)
        return stream

    yield start
    root.handlers[:] = before
    root.setLevel(level)


def broken(text: str) -> None:
    raise ValueError(text)


def test_one_json_object_a_line_with_the_jobs_id(logging_to: Configure) -> None:
    stream = logging_to(LogFormat.JSON)
    with about_job(JOB):
        logging.getLogger("runner.jobs.scheduler").info("%d kernels\nand a line", 4)
    logging.getLogger("runner").warning("outside")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first.pop("time").endswith("+00:00")
    assert first == {
        "level": "info",
        "logger": "runner.jobs.scheduler",
        "message": "4 kernels\nand a line",
        "job": JOB,
    }
    assert "job" not in second


async def test_tasks_have_the_id_of_the_job_that_started_them(logging_to: Configure) -> None:
    stream = logging_to(LogFormat.JSON)

    async def say(text: str) -> None:
        await asyncio.sleep(0)
        logging.getLogger().info(text)

    async def job(number: str) -> None:
        with about_job(number):
            await asyncio.gather(say(number), asyncio.create_task(say(number)))

    await asyncio.gather(job("1" * 32), job("2" * 32))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert len(lines) == 4
    assert all(line["job"] == line["message"] for line in lines)


def test_text_is_one_line_whatever_it_says(logging_to: Configure) -> None:
    stream = logging_to(LogFormat.TEXT)
    with about_job(JOB):
        logging.getLogger("bot").warning("name %s", "a\n2026-01-01 INFO root: forged")
    (line,) = stream.getvalue().splitlines()
    assert line.endswith(f"WARNING bot: name a\\n2026-01-01 INFO root: forged [job {JOB}]")


@pytest.mark.parametrize("kind", list(LogFormat))
def test_secrets_are_hidden_wherever_they_stand(logging_to: Configure, kind: LogFormat) -> None:
    stream = logging_to(kind, "our-own-token")
    log = logging.getLogger("x")
    log.info("Authorization: Bearer abc.def-123 and %s", "our-own-token")
    log.info({"Authorization": "bearer aa/bb=="})
    log.info("login with %s failed", DISCORD)
    log.info("postgresql://ncubot:hush@db.example.org/ncubot")
    try:
        broken("in a traceback: our-own-token, Bearer zzz")
    except ValueError:
        log.exception("it broke")
    text = stream.getvalue()
    for secret in ("our-own-token", "abc.def-123", "aa/bb", DISCORD, "hush", "zzz"):
        assert secret not in text
    assert "postgresql://ncubot:(hidden)@db.example.org/ncubot" in text
    assert "ValueError" in text


def test_the_secrets_of_settings_are_found() -> None:
    runner = RunnerAddress(name="a", url="http://localhost", gpu="H200", token=Secret("inner"))
    settings = BotSettings(discord_token=Secret("outer"), runners=(runner,))
    assert secrets_in(settings) == (Secret("outer"), Secret("inner"))

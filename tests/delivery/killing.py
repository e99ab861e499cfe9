"""Ends a life of the bot at one of its named points, inside one process."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bot.delivery.steps import Step


class Killed(BaseException):
    """The end of a life, which nothing catches."""


class AtStep(logging.Handler):
    """Acts when some job comes to a step for the n-th time."""

    def __init__(self, step: Step, nth: int, act: Callable[[], object]) -> None:
        super().__init__(logging.DEBUG)
        self.line = f"step {step} job "
        self.left = nth
        self.act = act

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith(self.line):
            self.left -= 1
            if self.left == 0:
                self.act()


def end() -> None:
    raise Killed


@contextmanager
def killed_at(step: Step, nth: int = 1) -> Iterator[AtStep]:
    """End whoever comes to a step for the n-th time."""
    with listening(AtStep(step, nth, end)) as handler:
        yield handler


@contextmanager
def step_reached(step: Step) -> Iterator[asyncio.Event]:
    """Tell when some job has come to a step."""
    event = asyncio.Event()
    with listening(AtStep(step, 1, event.set)):
        yield event


@contextmanager
def listening(handler: AtStep) -> Iterator[AtStep]:
    log = logging.getLogger("bot.delivery.steps")
    level = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    try:
        yield handler
    finally:
        log.removeHandler(handler)
        log.setLevel(level)

"""A worker process of a node: a local engine with a folder and an event loop of its own."""

import asyncio
import functools
import queue
import tempfile
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from runner.capture.progress import Progress
from runner.cluster import record, rooms
from runner.cluster.messages import JobLimits
from runner.local import LocalEngine
from runner.settings import RunnerSettings, SandboxName

T = TypeVar("T")
LOOK_S = 0.2
"""How soon a cancelled benchmark is noticed."""
ROOMS = "workers"
BUILT = "census"
"""Folder of the census library below `data`."""


class Worker:
    """What one process keeps between the benchmarks that it runs, one after the other."""

    def __init__(self, node: record.NodeRecord) -> None:
        if node.settings.sandbox is SandboxName.NONE:
            # Whoever reaches Ray's ports commands the whole cluster.
            raise record.NotANode("a node of a cluster needs a sandbox")
        folder = node.settings.folder
        self.room = rooms.claim(folder / ROOMS)
        # What was built once serves every process of the node.
        (folder / BUILT).mkdir(exist_ok=True)
        (self.room / BUILT).symlink_to(folder / BUILT)
        self._settings = msgspec.structs.replace(node.settings, data=self.room)
        self._engines: dict[JobLimits, LocalEngine] = {}
        # bubblewrap dies with the thread that started it, so that must not end before the process.
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="node-loop", daemon=True).start()

    def settings(self, limits: JobLimits) -> RunnerSettings:
        """Return this node's settings under the runner's limits of a job."""
        return msgspec.structs.replace(self._settings, **msgspec.structs.asdict(limits))

    def engine(self, limits: JobLimits) -> LocalEngine:
        """Return an engine, made once: to find out about the sandbox starts programs."""
        if limits not in self._engines:
            self._engines[limits] = LocalEngine(self.settings(limits))
        return self._engines[limits]

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a folder that no program of a submission sees."""
        with tempfile.TemporaryDirectory(prefix="results-", dir=self.room) as name:
            yield Path(name)


@functools.cache
def worker() -> Worker:
    """Return this process's own. Blocking. Raises NotANode, OSError."""
    return Worker(record.read())


class Follow:
    """One piece of work on the worker's loop, as the thread sees it that Ray called.

    `seen` may be called on the loop; `cancel` is the loop's.
    """

    def __init__(self) -> None:
        self.cancel = asyncio.Event()
        self._news: queue.Queue[Progress | None] = queue.Queue()

    async def seen(self, progress: Progress) -> None:
        """Pass on how far the work has come."""
        self._news.put(progress)

    def run(
        self, work: Awaitable[T], on: Worker, asked_to_stop: Callable[[], bool]
    ) -> Iterator[Progress | T]:
        """Yield what is seen, then the result; however this ends, the work has ended too."""
        future = asyncio.run_coroutine_threadsafe(self._to_its_end(work), on.loop)
        try:
            yield from self._until_end(on, asked_to_stop)
        finally:
            if not future.done():
                self._ask(on)
                _wait(future)
        yield future.result()

    def _until_end(self, on: Worker, asked_to_stop: Callable[[], bool]) -> Iterator[Progress]:
        while True:
            try:
                news = self._news.get(timeout=LOOK_S)
            except queue.Empty:
                if asked_to_stop():
                    self._ask(on)
                continue
            if news is None:
                return
            yield news

    def _ask(self, on: Worker) -> None:
        on.loop.call_soon_threadsafe(self.cancel.set)

    async def _to_its_end(self, work: Awaitable[T]) -> T:
        try:
            return await work
        finally:
            self._news.put(None)


def _wait(future: "Future[T]") -> None:
    """Wait for the end and leave what came of it to the future."""
    future.exception()

"""The only module that speaks Ray: a connection, the nodes with GPUs, and work as streams of bytes.

Ray runs whatever reaches its ports, so it is told nothing that it does not need, and what comes
back is bytes that are decoded in messages.py.
"""

import asyncio
import functools
import logging
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, cast

import ray
from ray import ObjectRef, ObjectRefGenerator
from ray._private import worker
from ray.exceptions import RayError, RayTaskError, TaskCancelledError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from runner.cluster import node
from runner.cluster.errors import Broken, Lost, NoCluster, Withdrawn
from runner.cluster.names import PREFIX, QUIET
from runner.settings import RunnerSettings
from runner.text import one_line

logger = logging.getLogger(__name__)
IN_FLIGHT = 4
"""Messages of one stream that may lie in the object store."""
ASK_S = 30.0
KNOCK_S = 10.0


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """A living node, and how many GPUs of which kind it offers."""

    id: str
    gpu: str
    count: int


class Desk:
    """An actor beside the runner that nodes ask whether their work is still wanted."""

    def __init__(self) -> None:
        self._ends: dict[str, asyncio.Event] = {}

    async def unwanted(self, key: str) -> bool:
        """Answer once the work is not wanted any more."""
        return await self._ends.setdefault(key, asyncio.Event()).wait()

    async def stop(self, key: str) -> None:
        """Let a node end its work; it still sends what it has."""
        self._ends.setdefault(key, asyncio.Event()).set()

    async def forget(self, key: str) -> None:
        """Let go of work that has ended."""
        self._ends.pop(key, asyncio.Event()).set()


class _Method(Protocol):
    def remote(self, key: str) -> "ObjectRef[bool]": ...


class _Remote(Protocol):
    def remote(self, desk: "Handle", key: str, *args: object) -> "ObjectRefGenerator[bytes]": ...


class Handle(Protocol):
    """The desk as others see it."""

    unwanted: _Method
    stop: _Method
    forget: _Method


class Work:
    """One piece of work on a node: messages as they come, ways to end it."""

    def __init__(self, key: str, stream: "ObjectRefGenerator[bytes]", desk: Handle) -> None:
        self._key, self._stream, self._desk = key, stream, desk

    async def messages(self) -> AsyncIterator[bytes]:
        """Yield what the node sends. Raises Lost, Broken, Withdrawn."""
        try:
            async for reference in self._stream:
                yield await reference
        except TaskCancelledError as error:
            raise Withdrawn from error
        except RayTaskError as error:
            raise Broken(type(error.cause).__name__) from error
        except RayError as error:
            raise Lost(type(error).__name__) from error
        finally:
            self._desk.forget.remote(self._key)

    def stop(self) -> None:
        """Ask for the end of work that has begun; its messages go on to the last one."""
        self._desk.stop.remote(self._key)

    def withdraw(self) -> None:
        """End the work wherever it is; where it runs, its programs are ended first."""
        ray.cancel(self._stream)

    def kill(self) -> None:
        """End the process that does the work; its programs die with it."""
        ray.cancel(self._stream, force=True)


class Link:
    """One runner's connection; it is one of the cluster's own nodes that it connects through."""

    def __init__(self, desk: Handle) -> None:
        self._desk = desk

    async def nodes(self) -> tuple[Node, ...]:
        """Return the living nodes that offer GPUs, in a fixed order. Raises Lost."""
        return tuple(sorted(_offers(await asyncio.to_thread(_listed))))

    async def record(self, node_id: str) -> bytes:
        """Return a node's record as it encoded it. Raises Lost, Broken."""
        there = NodeAffinitySchedulingStrategy(node_id, soft=False)
        task = _RECORD.options(scheduling_strategy=there)
        try:
            return cast("bytes", await asyncio.wait_for(task.remote(), ASK_S))
        except RayTaskError as error:
            raise Broken(str(error.cause)) from error
        except (RayError, TimeoutError) as error:
            raise Lost(type(error).__name__) from error

    def benchmark(self, gpu: str, key: str, order: bytes) -> Work:
        """Prepare, capture and export on a node with a free GPU of the kind."""
        return self._begin(_benchmark, gpu, key, order)

    def prepare(self, gpu: str, key: str, order: bytes) -> Work:
        """Compile on such a node."""
        return self._begin(_prepare, gpu, key, order)

    def export(self, gpu: str, key: str, order: bytes, report: Iterable[bytes]) -> Work:
        """Export a report on such a node; it travels by the object store, piece by piece."""
        return self._begin(_export, gpu, key, order, [ray.put(piece) for piece in report])

    def _begin(
        self, task: Callable[..., Iterator[bytes]], gpu: str, key: str, *args: object
    ) -> Work:
        remote = _remote(task, gpu)
        return Work(key, remote.remote(self._desk, key, *args), self._desk)


def connect(settings: RunnerSettings) -> Link:
    """Connect to the cluster's node on this machine. Blocking. Raises NoCluster."""
    os.environ.update(QUIET)
    _quieten()
    address = settings.ray_address
    if not address:
        raise NoCluster("name the cluster with --address HOST:PORT or the setting `ray_address`")
    try:
        _knock(address)
        ray.init(
            address=address,
            namespace="ncubot",
            configure_logging=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (OSError, RuntimeError, ValueError, RayError) as error:
        raise NoCluster(
            f"no Ray cluster answers at {address}: is this machine its head or a node?"
        ) from error
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    desk = ray.remote(Desk).options(num_cpus=0, max_restarts=-1, scheduling_strategy=here)
    return Link(cast("Handle", desk.remote()))


def _quieten() -> None:
    """Let what Ray hears of its nodes into our log, a line each.

    Whatever `ray.init` is told, it prints it to standard output, with the last lines of a dead
    node's log, which stand in the files of Ray's session as well.
    """
    logging.getLogger("ray").setLevel(logging.ERROR)
    worker.print_to_stdstream = _heard  # type: ignore[assignment]


def _heard(data: dict[str, Any], **_: object) -> None:
    for text in data["lines"]:
        logger.info("Ray: %s", one_line(text.partition("\n")[0], 300))


def _knock(address: str) -> None:
    """Ray itself would wait for many minutes. Raises OSError, ValueError."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_S).close()


def disconnect() -> None:
    """End the connection; Ray ends all that this process began. Blocking."""
    ray.shutdown()


_RECORD = ray.remote(num_cpus=0, max_retries=0)(node.node_record)


# Made once: each making is another kind of task to Ray, with worker processes of its own.
@functools.cache
def _remote(task: Callable[..., Iterator[bytes]], gpu: str) -> _Remote:
    # Ray's own retries would not tell which attempt a message is of.
    remote = ray.remote(task).options(
        num_cpus=0,
        num_gpus=1,
        resources={PREFIX + gpu: 1},
        max_retries=0,
        num_returns="streaming",
        _generator_backpressure_num_objects=IN_FLIGHT,
    )
    return cast("_Remote", remote)


def _listed() -> list[dict[str, Any]]:
    try:
        return cast("list[dict[str, Any]]", ray.nodes())  # type: ignore[no-untyped-call]
    except RayError as error:
        raise Lost(type(error).__name__) from error


def _offers(listed: list[dict[str, Any]]) -> Iterator[Node]:
    for one in listed:
        for name, count in one["Resources"].items() if one["Alive"] else ():
            if name.startswith(PREFIX) and count >= 1:
                yield Node(one["NodeID"], name.removeprefix(PREFIX), int(count))


def _asking(desk: Handle, key: str) -> Callable[[], bool]:
    answer = desk.unwanted.remote(key)

    def asked() -> bool:
        return bool(ray.wait([answer], timeout=0)[0])

    return asked


def _benchmark(desk: Handle, key: str, order: bytes) -> Iterator[bytes]:
    yield from node.benchmark(order, _asking(desk, key))


def _prepare(desk: Handle, key: str, order: bytes) -> Iterator[bytes]:
    yield from node.prepare(order, _asking(desk, key))


def _export(
    desk: Handle, key: str, order: bytes, report: "list[ObjectRef[bytes]]"
) -> Iterator[bytes]:
    yield from node.export(order, (ray.get(piece) for piece in report), _asking(desk, key))

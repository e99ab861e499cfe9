"""What Ray calls on a node. Each function is a stream of encoded messages, files in pieces.

`asked_to_stop` says whether the runner wants the end of the work.
"""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

from runner.capture.artifacts import NotTaken, report_name, take
from runner.capture.command import BINARY as BINARY_FILE
from runner.capture.progress import Publisher
from runner.capture.workspace import Workspace, workspace
from runner.cluster import record
from runner.cluster.messages import (
    BINARY,
    PIECE_BYTES,
    REPORT,
    Begun,
    JobLimits,
    Left,
    Order,
    Piece,
    Seen,
    decode_export,
    decode_order,
    encode,
)
from runner.cluster.worker import Follow, Worker, worker
from runner.engine import Evidence, Exports, Watch
from runner.isolation.limits import Budget, Limits
from runner.local import LocalEngine
from runner_client.wire import CudaEvaluator

AskedToStop = Callable[[], bool]


def node_record() -> bytes:
    """Return the record of this node, encoded. Raises NotANode."""
    return record.encode(record.read())


def prepare(data: bytes, asked_to_stop: AskedToStop) -> Iterator[bytes]:
    """Compile a CUDA job's sources; what nvcc made is the one file."""
    order = decode_order(data)

    async def work(place: "_Place", follow: Follow) -> _Results:
        failure = await place.engine.prepare(order.spec, place.work, follow.cancel)
        files = {} if failure else {BINARY: place.work.given / BINARY_FILE}
        return _Results(Left(failure=failure), files)

    yield from _stream(order.spec.id, order.limits, work, asked_to_stop)


def benchmark(data: bytes, asked_to_stop: AskedToStop) -> Iterator[bytes]:
    """Prepare, capture and export one benchmark."""
    order = decode_order(data)

    async def work(place: "_Place", follow: Follow) -> _Results:
        return await _benchmark(order, place, follow)

    yield from _stream(order.spec.id, order.limits, work, asked_to_stop)


def export(data: bytes, report: Iterator[bytes], asked_to_stop: AskedToStop) -> Iterator[bytes]:
    """Export a report that the runner sends."""
    order = decode_export(data)

    async def work(place: "_Place", follow: Follow) -> _Results:
        path = place.folder / order.report
        await asyncio.to_thread(_write, path, report)
        return await _exported(order.index, place, follow, Evidence(), path)

    yield from _stream("export", order.limits, work, asked_to_stop)


@dataclass(frozen=True, slots=True)
class _Results:
    """Files for the runner by their key, and what is said of them."""

    left: Left
    files: dict[str, Path]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where and by what an order is carried out: `folder` is out of the submission's reach."""

    engine: LocalEngine
    limits: Limits
    work: Workspace
    folder: Path


Doing = Callable[[_Place, Follow], Awaitable[_Results]]


def _stream(
    name: str, limits: JobLimits, work: Doing, asked_to_stop: AskedToStop
) -> Iterator[bytes]:
    here, gpu = worker(), os.environ.get("CUDA_VISIBLE_DEVICES", "")
    yield encode(Begun(node=os.uname().nodename, gpu=gpu))
    follow = Follow()
    with _place(here, name, limits, gpu) as place:
        for news in follow.run(work(place, follow), here, asked_to_stop):
            if isinstance(news, _Results):
                yield from _told(news)
            else:
                yield encode(Seen(news))


@contextmanager
def _place(here: Worker, name: str, limits: JobLimits, gpu: str) -> Iterator[_Place]:
    settings = here.settings(limits)
    with here.folder() as folder, workspace(here.room / "work", name, gpu) as work:
        yield _Place(here.engine(limits), Limits.of(settings), work, folder)


def _told(results: _Results) -> Iterator[bytes]:
    for key, path in results.files.items():
        with path.open("rb") as file:
            while data := file.read(PIECE_BYTES):
                yield encode(Piece(key, data))
    yield encode(results.left)


async def _benchmark(order: Order, place: _Place, follow: Follow) -> _Results:
    await _ready(order, place, follow)
    evidence = await _captured(order, place, follow)
    source, evidence = evidence.report, replace(evidence, report=None)
    path = place.folder / report_name(order.benchmark)
    limit = place.limits.largest_report
    try:
        if source is None or not await asyncio.to_thread(take, source, path, limit):
            return _Results(Left(evidence), {})
    except NotTaken as error:
        return _Results(Left(replace(evidence, failure=error.failure)), {})
    made = await _exported(order.index, place, follow, evidence, path)
    return replace(made, files={REPORT: path, **made.files})


async def _ready(order: Order, place: _Place, follow: Follow) -> None:
    """Write the files, and import a Python submission once; a compiled one brings its binary."""
    if not isinstance(order.spec.evaluator, CudaEvaluator):
        await place.engine.prepare(order.spec, place.work, follow.cancel)
        return
    binary = place.work.given / BINARY_FILE
    await asyncio.to_thread(binary.write_bytes, order.binary)
    binary.chmod(0o755)
    await asyncio.to_thread(place.work.write_files, order.spec)


async def _captured(order: Order, place: _Place, follow: Follow) -> Evidence:
    publisher = Publisher(follow.seen)
    watch = Watch(follow.cancel, publisher.show, Budget(time.monotonic() + order.left_s))
    try:
        return await place.engine.capture(order.spec, order.benchmark, place.work, watch)
    finally:
        await publisher.close()


async def _exported(
    index: int, place: _Place, follow: Follow, evidence: Evidence, report: Path
) -> _Results:
    # What a cancelled capture left is still exported.
    cancel = asyncio.Event() if follow.cancel.is_set() else follow.cancel
    made = await place.engine.export(evidence, index, report, place.work, cancel)
    return _Results(Left(evidence, made.problem), _files(made))


def _files(made: Exports) -> dict[str, Path]:
    values = ((field.name, getattr(made, field.name)) for field in fields(made))
    return {name: value for name, value in values if isinstance(value, Path)}


def _write(path: Path, pieces: Iterator[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(pieces)

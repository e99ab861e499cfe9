"""What a runner and its cluster's nodes tell each other: bytes, decoded once where they arrive."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from runner.capture.progress import Progress
from runner.engine import Evidence
from runner_client.values import Index
from runner_client.wire import ArtifactName, Benchmark, Failure, JobSpec

PIECE_BYTES = 4_194_304
"""A file travels in pieces of this size, a few of them at a time in Ray's object store."""
REPORT, BINARY = "report", "binary"
"""Names of files beside the fields of Exports: ncu's report, and what nvcc made."""
FileKey = Annotated[str, Meta(pattern=r"^[a-z_]{1,40}$")]


class JobLimits(Struct, frozen=True):
    """The runner's limits of a whole job; a node's own settings say the rest. Seconds, bytes."""

    replay_factor: float
    job_timeout_s: float
    max_report_bytes: int
    max_job_bytes: int


class Order(Struct, frozen=True):
    """Work for one node: benchmark `index` of a job, of which `left_s` seconds are left.

    `binary` is what nvcc made of a CUDA job's sources on another node.
    """

    spec: JobSpec
    index: Index
    limits: JobLimits
    left_s: float
    binary: bytes = b""

    @property
    def benchmark(self) -> Benchmark:
        """Return the benchmark that is asked for."""
        return next(one for one in self.spec.benchmarks if one.index == self.index)


class ExportOrder(Struct, frozen=True):
    """Work for one node: to export a report that it is sent, of benchmark `index`."""

    index: Index
    limits: JobLimits
    report: ArtifactName


class Begun(Struct, frozen=True, tag="begun"):
    """A node has begun; what it does not end is lost with it."""

    node: str
    gpu: str


class Seen(Struct, frozen=True, tag="seen"):
    """How far ncu has come."""

    progress: Progress


class Piece(Struct, frozen=True, tag="piece"):
    """The next bytes of a file. `file` is REPORT, BINARY or a field of Exports."""

    file: FileKey
    data: bytes


class Left(Struct, frozen=True, tag="left"):
    """The last message: every file has come before it.

    `problem` says why an export was not made. `failure` ends a job that could not be prepared.
    """

    evidence: Evidence = Evidence()
    problem: str = ""
    failure: Failure | None = None


Message = Begun | Seen | Piece | Left
_MESSAGES: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)
_ORDERS: msgspec.msgpack.Decoder[Order] = msgspec.msgpack.Decoder(Order)
_EXPORTS: msgspec.msgpack.Decoder[ExportOrder] = msgspec.msgpack.Decoder(ExportOrder)


def encode(value: Message | Order | ExportOrder) -> bytes:
    """Return the bytes of a message; evidence must name no path of the sender's."""
    return msgspec.msgpack.encode(value)


def decode_message(data: bytes) -> Message:
    """Raises msgspec.DecodeError."""
    return _MESSAGES.decode(data)


def decode_order(data: bytes) -> Order:
    """Raises msgspec.DecodeError."""
    return _ORDERS.decode(data)


def decode_export(data: bytes) -> ExportOrder:
    """Raises msgspec.DecodeError."""
    return _EXPORTS.decode(data)

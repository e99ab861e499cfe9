"""What a node knows of itself: written when it joins its cluster, read by its worker processes."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from runner.jobs.files import write_atomic
from runner.settings import RunnerSettings
from runner_client.secret import Secret
from runner_client.wire import Finding, System

VARIABLE = "NCUBOT_NODE"
"""Names the record's file in the environment of everything that a node starts."""
FILE = "node.json"


class NotANode(Exception):  # noqa: N818 - named for what it is
    """Ray runs here, but nobody looked whether this machine can profile."""


class NodeRecord(Struct, frozen=True):
    """A node's settings, without the runner's token, and the machine as its doctor found it.

    `census` is the doctor's word on counting kernels; None where it was not asked.
    """

    settings: RunnerSettings
    system: System
    census: Finding | None = None


def write(record: NodeRecord, folder: Path) -> Path:
    """Keep the record in a node's data folder; return its file. Blocking. Raises OSError."""
    path = folder / FILE
    write_atomic(path, encode(record))
    return path


def read() -> NodeRecord:
    """Read the record of the node that this process belongs to. Blocking. Raises NotANode."""
    try:
        return decode(Path(os.environ.get(VARIABLE, "")).read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        raise NotANode("a node of the cluster was not started by `ncubot node`") from error


def encode(record: NodeRecord) -> bytes:
    """Return the record as JSON, never with a token."""
    safe = replace(record, settings=replace(record.settings, token=None))
    return msgspec.json.encode(safe, enc_hook=_encoded)


def decode(data: bytes) -> NodeRecord:
    """Raises msgspec.DecodeError."""
    return msgspec.json.decode(data, type=NodeRecord, dec_hook=_decoded)


def _encoded(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _decoded(kind: type, value: object) -> object:
    if issubclass(kind, Path):
        return Path(str(value))
    if kind is Secret:
        return None
    raise NotImplementedError(kind)

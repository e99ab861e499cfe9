"""Files of a result: copied out of the submission's reach, measured, hashed."""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

import msgspec

from runner.capture.workspace import report_suffix
from runner.text import size_words
from runner_client.captures import CaptureMode, CensusReport
from runner_client.wire import Artifact, Benchmark, Failure, FailureKind

_CHUNK = 1_048_576


class NotTaken(Exception):  # noqa: N818 - an outcome, told to the user
    """The file is no plain file, which is the submission's doing, or too large."""

    def __init__(self, kind: FailureKind, detail: str) -> None:
        super().__init__(detail)
        self.failure = Failure(kind=kind, detail=detail)


def slug(spec: str) -> str:
    """Return a shape as part of a file name: `batch: 20; n: 32` is `batch-20-n-32`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", spec)[:80].strip("-.")


def report_name(benchmark: Benchmark, mode: CaptureMode = CaptureMode.FIRST) -> str:
    """Return the artifact name of a benchmark's report."""
    shape = slug(benchmark.spec)
    suffix = report_suffix(mode)
    return f"profile.{benchmark.index}{'-' + shape if shape else ''}{suffix}"


def census_name(index: int) -> str:
    """Return the artifact name of a census."""
    return f"census.{index}.json"


def kernel_sums_name(index: int) -> str:
    """Return the artifact name of a timeline's kernels by time."""
    return f"nsys-kernels.{index}.csv"


def export_names(index: int) -> dict[str, str]:
    """Return the artifact names of the exports by their field in Exports."""
    return {
        "details_csv": f"ncu-details.{index}.csv",
        "details_txt": f"ncu-details.{index}.txt",
        "raw_csv": f"ncu-raw.{index}.csv",
    }


def take(source: Path, target: Path, limit: int) -> Artifact | None:
    """Copy `source` to `target` and measure it; None where there is nothing or an empty file.

    Follows no link and opens nothing but a regular file, since the submission could have put
    anything there. Raises NotTaken.
    """
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        detail = f"the report is not a plain file: {error.strerror}"
        raise NotTaken(FailureKind.SUBMISSION_ERROR, detail) from error
    try:
        size = _plain_size(descriptor, limit)
        if size == 0:
            return None
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return _copy(file, target, limit)
    finally:
        os.close(descriptor)


def _plain_size(descriptor: int, limit: int) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise NotTaken(FailureKind.SUBMISSION_ERROR, "the report is not a plain file")
    if status.st_size > limit:
        detail = f"a report of {size_words(status.st_size)} was not kept"
        raise NotTaken(FailureKind.REPORT_LIMIT, detail)
    return status.st_size


def measure(path: Path) -> Artifact:
    """Return name, size and hash of a file of ours."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return Artifact(name=path.name, size=path.stat().st_size, sha256=digest.hexdigest())


def keep_census(census: CensusReport, index: int, folder: Path) -> Artifact:
    """Write a census into a file of `folder` and measure it. Blocking. Raises OSError."""
    path = folder / census_name(index)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(census), indent=2) + b"\n")
    return measure(path)


def _copy(source: BinaryIO, target: Path, limit: int) -> Artifact:
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as out:
        while (chunk := source.read(_CHUNK)) and size <= limit:
            digest.update(chunk)
            size += out.write(chunk)
    return Artifact(name=target.name, size=size, sha256=digest.hexdigest())

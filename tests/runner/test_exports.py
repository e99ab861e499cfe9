"""What is told, and what is still delivered, where a report cannot be turned into counters."""

import asyncio
import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec.structs import replace

from runner.app import create_app
from runner.settings import RunnerSettings
from runner_client.wire import BenchmarkResult, BenchmarkStatus, FailureKind
from tests.runner.api import Api
from tests.standin.problem import job, replaying
from tests.standin.tools import install

SOURCE = "ok-triton-1024"


def without_exports(folder: Path) -> None:
    for path in folder.glob("ncu-*"):
        path.unlink()


def without_raw(folder: Path) -> None:
    (folder / "ncu-raw.csv").unlink()


def without_table(folder: Path) -> None:
    (folder / "ncu-details.csv").write_text("==WARNING== nothing here\n", encoding="utf-8")


def header_alone(folder: Path) -> None:
    path = folder / "ncu-details.csv"
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")


def values(folder: Path, *, keep: Callable[[str], bool]) -> None:
    path = folder / "ncu-details.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if not keep(row["Section Name"]):
            row["Metric Value"] = "nan" if row["Metric Value"] else ""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def static_values_alone(folder: Path) -> None:
    values(folder, keep=lambda section: section == "Launch Statistics")


def occupancy_alone(folder: Path) -> None:
    values(folder, keep=lambda section: section == "Occupancy")


async def run(
    change: Callable[[Path], None], settings: RunnerSettings, recordings: Path, tmp_path: Path
) -> BenchmarkResult:
    """Run a job on a recording that was changed."""
    root = tmp_path / "changed"
    shutil.copytree(recordings / SOURCE, root / SOURCE, copy_function=shutil.copyfile)
    (root / SOURCE).chmod(0o755)
    change(root / SOURCE)
    tools = await asyncio.to_thread(install, tmp_path / "bin2", root)
    app = create_app(replace(settings, ncu=str(tools.ncu), read_only=tools.read_only))
    async with TestServer(app) as server, ClientSession() as session:
        return await Api(session, str(server.make_url("/v1"))).run_one(job(replaying(SOURCE)))


@pytest.mark.parametrize(
    ("change", "kind", "detail", "files"),
    [
        (without_exports, FailureKind.EXPORT_FAILED, "ncu --import ended with 1", 1),
        (without_table, FailureKind.EXPORT_FAILED, "names no kernel", 4),
        (header_alone, FailureKind.EXPORT_FAILED, "names no kernel", 4),
        (static_values_alone, FailureKind.PROFILER_ERROR, "not one counter has a value", 4),
    ],
)
async def test_no_counters_is_no_success_but_the_report_is_kept(
    settings: RunnerSettings,
    recordings: Path,
    tmp_path: Path,
    change: Callable[[Path], None],
    kind: FailureKind,
    detail: str,
    files: int,
) -> None:
    result = await run(change, settings, recordings, tmp_path)
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is kind
    assert detail in result.failure.detail
    assert len(result.artifacts) == files
    assert result.artifacts[0].name.endswith(".ncu-rep")


async def test_many_missing_counters_degrade_a_success(
    settings: RunnerSettings, recordings: Path, tmp_path: Path
) -> None:
    result = await run(occupancy_alone, settings, recordings, tmp_path)
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert result.degraded
    assert result.missing_share > 0.25


async def test_a_missing_raw_page_costs_that_file_alone(
    settings: RunnerSettings, recordings: Path, tmp_path: Path
) -> None:
    result = await run(without_raw, settings, recordings, tmp_path)
    assert result.status is BenchmarkStatus.SUCCEEDED
    assert len(result.artifacts) == 3


@pytest.mark.parametrize(
    ("limits", "kind", "said"),
    [
        ({"max_report_bytes": 3}, FailureKind.REPORT_LIMIT, "a report of 14 bytes was not kept"),
        ({"max_export_bytes": 10}, FailureKind.EXPORT_FAILED, "the export is too large"),
        ({"export_timeout_s": 0.001}, FailureKind.EXPORT_FAILED, "did not end in time"),
    ],
)
async def test_limits_of_report_and_export(
    settings: RunnerSettings,
    recordings: Path,
    tmp_path: Path,
    limits: dict[str, float],
    kind: FailureKind,
    said: str,
) -> None:
    changed = replace(settings, **limits)
    result = await run(lambda _: None, changed, recordings, tmp_path)
    assert result.failure is not None
    assert result.failure.kind is kind
    assert said in result.failure.detail

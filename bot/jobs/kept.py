"""What stays of a job that ended: its files on the disk, and the counters in them."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path

from bot.jobs.errors import ResultGone
from bot.jobs.follow import artifacts
from bot.jobs.model import BenchmarkOutcome, Job, JobOutcome
from bot.storage.files import ArtifactFiles
from counters.errors import CountersError
from counters.launches import Summary
from counters.parse import read_summary
from runner_client.wire import BenchmarkResult, JobResult

REMEMBERED = 8
_Version = tuple[Path, int, int]


class KeptResults:
    """Reads results back from the disk; the reports that were read last stay in memory."""

    def __init__(self, files: ArtifactFiles) -> None:
        self._files = files
        self._reports: OrderedDict[_Version, Summary] = OrderedDict()

    async def outcome(
        self, job: Job, result: JobResult, files: dict[str, Path], benchmark: int | None = None
    ) -> JobOutcome:
        """Return a job's outcome with those of its `files` that are there, counters read.

        With `benchmark`, that one alone.
        """
        wanted = [entry for entry in result.benchmarks if benchmark in {None, entry.index}]
        return JobOutcome(
            job=job,
            result=result,
            benchmarks=tuple([await self._benchmark(entry, files) for entry in wanted]),
            manifest=files.get(result.manifest.name) if result.manifest else None,
        )

    async def load(self, job: Job, result: JobResult, benchmark: int | None) -> JobOutcome:
        """Return the outcome of a job from the disk.

        Raises ResultGone where counters that were there can no longer be read. A census or a
        timeline never had any.
        """
        names = [file.name for file in artifacts(result)]
        files = await asyncio.to_thread(self._present, job.id, names)
        outcome = await self.outcome(job, result, files, benchmark)
        told = [kept for kept in outcome.benchmarks if kept.result.kernels or kept.uncounted]
        if not told or any(kept.result.kernels and kept.report is None for kept in told):
            raise ResultGone(job.id)
        return outcome

    def _present(self, job_id: str, names: Iterable[str]) -> dict[str, Path]:
        folder = self._files.folder(job_id)
        return {name: folder / name for name in names if (folder / name).is_file()}

    async def _benchmark(self, result: BenchmarkResult, files: dict[str, Path]) -> BenchmarkOutcome:
        names = (artifact.name for artifact in result.artifacts)
        own = {name: files[name] for name in names if name in files}
        return BenchmarkOutcome(result=result, report=await self._report(own), files=own)

    async def _report(self, files: dict[str, Path]) -> Summary | None:
        table = next((path for name, path in files.items() if _is_table(name)), None)
        if table is None:
            return None
        try:
            return await self._remembered(table)
        except (CountersError, FileNotFoundError):
            return None

    async def _remembered(self, table: Path) -> Summary:
        version = await asyncio.to_thread(_version, table)
        report = self._reports.pop(version, None)
        if report is None:
            report = await asyncio.to_thread(read_summary, table)
        self._reports[version] = report
        while len(self._reports) > REMEMBERED:
            self._reports.popitem(last=False)
        return report


def _is_table(name: str) -> bool:
    return name.startswith("ncu-details.") and name.endswith(".csv")


def _version(path: Path) -> _Version:
    stat = path.stat()
    return path, stat.st_mtime_ns, stat.st_size

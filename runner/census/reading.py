"""Reads what the census library wrote, which is as hostile as the program that it ran in."""

import itertools
import math
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from runner.census.model import Census, CensusKernel, Launcher, Triple
from runner.census.table import MAX_BYTES, MAX_ROWS, BadTable, Row, Table, decode

SUFFIX = ".census"
MAX_PROCESSES = 64
MAX_ALL_BYTES = 2 * MAX_BYTES
MAX_KERNELS = 100_000
_MAX_FILES = 1_000
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_Key = tuple[str, Launcher, Triple, Triple]


def read(folder: Path) -> Census:
    """Merge the tables of all processes; an empty census where none can be read. Blocking."""
    found = _names(folder)
    tables: list[Table] = []
    bytes_left, rows_left = MAX_ALL_BYTES, MAX_KERNELS
    unread = max(0, len(found) - MAX_PROCESSES)
    for name in found[:MAX_PROCESSES]:
        try:
            data = _bytes(folder / name, min(bytes_left, MAX_BYTES))
            bytes_left -= len(data)
            tables.append(decode(data, min(rows_left, MAX_ROWS)))
            rows_left -= len(tables[-1].rows)
        except (OSError, BadTable):
            unread += 1
    return merge(tables, unread=unread)


def clear(folder: Path) -> None:
    """Remove what an earlier program left, so that it is not added to the next. Blocking."""
    for name in _names(folder):
        path = folder / name
        if not path.is_dir() or path.is_symlink():
            path.unlink(missing_ok=True)


def merge(tables: Iterable[Table], *, unread: int = 0) -> Census:
    """Add up the tables of the processes that had the range open."""
    told = [table for table in tables if table.openings]
    kernels = _kernels(told)
    others = sum(table.others_launches for table in told)
    lost = sum(table.dropped + table.unfinished for table in told) + others + unread
    return Census(
        kernels=tuple(kernels),
        range_ns=max((table.range_ns for table in told), default=0),
        ranges=sum(table.openings for table in told),
        processes=len(told),
        others_launches=others,
        others_ns=sum(table.others_ns for table in told),
        dropped=sum(table.dropped for table in told),
        unfinished=sum(table.unfinished for table in told),
        complete=bool(told) and not lost,
    )


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in itertools.islice(entries, _MAX_FILES)]
    except OSError:
        return []
    return sorted(name for name in names if name.endswith(SUFFIX))


def _bytes(path: Path, limit: int) -> bytes:
    """Return a plain file's bytes. Raises OSError, or BadTable where it has more than `limit`."""
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise BadTable("no plain file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BadTable("too long")
    return data


@dataclass(slots=True)
class _Sum:
    """One kernel, as far as it is added up."""

    row: Row
    processes: int = 1

    def add(self, row: Row) -> None:
        mine = self.row
        self.processes += 1
        self.row = replace(
            mine,
            launches=mine.launches + row.launches,
            total=mine.total + row.total,
            least=min(mine.least, row.least),
            most=max(mine.most, row.most),
            squares=mine.squares + row.squares,
            begun=min(mine.begun, row.begun),
            first=min(mine.first, row.first),
            last=max(mine.last, row.last),
            in_graphs=mine.in_graphs + row.in_graphs,
        )


def _kernels(tables: list[Table]) -> list[CensusKernel]:
    sums: dict[_Key, _Sum] = {}
    for table in tables:
        for row in table.rows:
            key = (row.name, row.launcher, row.grid, row.block)
            if key in sums:
                sums[key].add(row)
            else:
                sums[key] = _Sum(row)
    fewest = _fewest(tables)
    kernels = [_kernel(one, fewest[one.row.name, one.row.launcher]) for one in sums.values()]
    return sorted(kernels, key=lambda one: (-one.total_ns, one.first_ns, one.name))


def _fewest(tables: list[Table]) -> dict[tuple[str, Launcher], int]:
    """Return how many launches of a name the process with the fewest has."""
    fewest: dict[tuple[str, Launcher], int] = {}
    for table in tables:
        for name, launches in _launches(table):
            fewest[name] = min(fewest.get(name, launches), launches)
    return fewest


def _launches(table: Table) -> Iterator[tuple[tuple[str, Launcher], int]]:
    counts: Counter[tuple[str, Launcher]] = Counter()
    for row in table.rows:
        counts[row.name, row.launcher] += row.launches
    yield from counts.items()


def _kernel(one: _Sum, fewest: int) -> CensusKernel:
    row = one.row
    mean = row.total / row.launches
    return CensusKernel(
        name=row.name,
        demangled=row.demangled,
        grid=row.grid,
        block=row.block,
        launcher=row.launcher,
        launches=row.launches,
        total_ns=row.total,
        min_ns=row.least,
        max_ns=row.most,
        sd_ns=math.sqrt(max(row.squares / row.launches - mean * mean, 0.0)),
        first_ns=row.begun,
        first=row.first,
        last=row.last,
        fewest=fewest,
        processes=one.processes,
        in_graphs=row.in_graphs,
    )

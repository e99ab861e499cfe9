"""Which GPUs this runner uses: one job at a time on each."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.health.system import ask, competition_name

_QUERY = ("--query-gpu=index,uuid,name", "--format=csv,noheader")
ANY = ""
"""The GPU of a machine that lists none: programs see what they see without the runner."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as the driver lists it; `name` as competitions write it."""

    index: str
    uuid: str
    name: str


async def gpus_to_use(folder: Path, wanted: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Return what CUDA_VISIBLE_DEVICES is set to for each job that may run at the same time.

    `wanted` holds indices or UUIDs and narrows the list; else the runner's own
    CUDA_VISIBLE_DEVICES does. `name` is the GPU that jobs are taken for: others are left alone.
    """
    listed = parse(await ask(folder, "nvidia-smi", *_QUERY))
    return choose(listed, wanted or inherited(os.environ), name)


def inherited(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the GPUs that the runner itself was given."""
    entries = (entry.strip() for entry in environ.get("CUDA_VISIBLE_DEVICES", "").split(","))
    return tuple(entry for entry in entries if entry)


def choose(listed: tuple[Gpu, ...], wanted: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Pick from the driver's list; what is wanted and not listed (a MIG slice) is kept as it is."""
    if wanted:
        uuids = {gpu.index: gpu.uuid for gpu in listed}
        return tuple(dict.fromkeys(uuids.get(entry, entry) for entry in wanted))
    fitting = tuple(gpu.uuid for gpu in listed if gpu.name.casefold() == name.casefold())
    return fitting or tuple(gpu.uuid for gpu in listed) or (ANY,)


def parse(listing: str) -> tuple[Gpu, ...]:
    """Read nvidia-smi's `index, uuid, name` lines."""
    rows = (line.split(",", 2) for line in listing.splitlines() if line.count(",") >= 2)
    return tuple(
        Gpu(index.strip(), uuid.strip(), competition_name(name)) for index, uuid, name in rows
    )

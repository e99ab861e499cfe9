"""Whether the processes of a job have let go of the GPU."""

import asyncio
import logging
from pathlib import Path

from runner.health.system import ask

logger = logging.getLogger(__name__)
_QUERY = ("--query-compute-apps=pid", "--format=csv,noheader")
WAIT_S = 15.0
LOOK_S = 0.3


class GpuHolders:
    """Knows who else uses the GPUs: who was there before the first job, or does not go away."""

    def __init__(self, folder: Path, wait_s: float = WAIT_S) -> None:
        self._folder = folder
        self._wait_s = wait_s
        self._others: dict[str, frozenset[str]] = {}

    async def gone(self, gpu: str) -> bool:
        """Wait until `gpu` is used by none but known others; False where somebody stays.

        True at once on a machine without nvidia-smi. `gpu` is a UUID or an index; empty is all.
        """
        found = await self._pids(gpu)
        others = self._others.setdefault(gpu, found)
        waited = 0.0
        while found - others and waited < self._wait_s:
            await asyncio.sleep(LOOK_S)
            waited += LOOK_S
            found = await self._pids(gpu)
        self._others[gpu] = found
        if found - others:
            logger.warning("GPU %s is still used by process %s", gpu, ", ".join(found - others))
        return not found - others

    async def _pids(self, gpu: str) -> frozenset[str]:
        which = ("-i", gpu) if gpu else ()
        listed = await ask(self._folder, "nvidia-smi", *which, *_QUERY)
        return frozenset(line.strip() for line in listed.splitlines() if line.strip().isdecimal())

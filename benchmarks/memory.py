"""How much memory the processes of runners take at most, whichever life of theirs it is."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.soak.machine import Machine

LOOK_S = 0.25


class Peaks:
    """The peaks of machines, looked at again and again; what a life had in its last look counts."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        self._machines = machines
        self._peaks = [0] * len(machines)

    @property
    def bytes(self) -> tuple[int, ...]:
        """Return the peak of each machine's runner in bytes."""
        return tuple(self._peaks)

    @classmethod
    @asynccontextmanager
    async def taken(cls, machines: Sequence[Machine]) -> AsyncIterator["Peaks"]:
        """Look as long as the context lasts."""
        peaks = cls(machines)
        task = asyncio.create_task(peaks.watch())
        try:
            yield peaks
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            for number, machine in enumerate(self._machines):
                if machine.process is not None:
                    found = peak_of(machine.process.pid)
                    self._peaks[number] = max(self._peaks[number], found)
            await asyncio.sleep(LOOK_S)


def peak_of(pid: int) -> int:
    """Return the most memory that a process has had so far, in bytes; 0 where it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                # Linux counts in units of 1,024 bytes.
                return int(line.split()[1]) * 1_024
    return 0

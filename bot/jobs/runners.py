"""The runners of this bot."""

from collections.abc import Iterable
from itertools import cycle

from bot.jobs.errors import NcubotError, RunnerDown
from bot.jobs.faults import runner_faults
from bot.leaderboards.gpus import GpuNames
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.wire import Health


class Runners:
    """One client a runner; runners of one GPU, however it is spelt, take turns."""

    def __init__(
        self,
        addresses: Iterable[RunnerAddress],
        max_artifact_bytes: int,
        names: GpuNames | None = None,
    ) -> None:
        self.names = names or GpuNames()
        self._clients = {
            address.name: RunnerClient(address, max_artifact_bytes=max_artifact_bytes)
            for address in addresses
        }
        by_gpu: dict[str, list[str]] = {}
        for name, client in self._clients.items():
            by_gpu.setdefault(self.names.key(client.address.gpu), []).append(name)
        self._turns = {gpu: cycle(names) for gpu, names in by_gpu.items()}

    def gpus(self) -> tuple[str, ...]:
        """Return the GPUs that some runner has, each once."""
        return tuple(dict.fromkeys(client.address.gpu for client in self._clients.values()))

    def next_for(self, gpu: str) -> str:
        """Return the name of the runner whose turn it is. Raises KeyError for a GPU without."""
        return next(self._turns[self.names.key(gpu)])

    def client(self, runner: str) -> RunnerClient:
        """Return the client of a runner. Raises RunnerDown where the settings dropped it."""
        if runner not in self._clients:
            raise RunnerDown(runner)
        return self._clients[runner]

    async def health(self) -> dict[str, Health | NcubotError]:
        """Ask every runner how it is."""
        return {name: await self._health(name) for name in self._clients}

    async def _health(self, runner: str) -> Health | NcubotError:
        try:
            with runner_faults(runner, ""):
                return await self._clients[runner].health()
        except NcubotError as error:
            return error

    async def close(self) -> None:
        """Close every client."""
        for client in self._clients.values():
            await client.close()

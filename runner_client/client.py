"""The one HTTP client of a runner. Everything that comes back is bounded and checked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self, TypeVar

import aiohttp
import msgspec
import stamina

from .address import RunnerAddress
from .download import Download
from .errors import Broken, ClientError, Denied, Refused, Unknown, Unreachable, Untrusted
from .names import local_name
from .trust import Trust, reason_of, trust
from .wire import (
    API,
    SHA256_HEADER,
    Artifact,
    Health,
    JobEvent,
    JobEvents,
    JobSpec,
    JobStatus,
    Refusal,
)

T = TypeVar("T")
MAX_JSON_BYTES = 16_000_000
MAX_ARTIFACT_BYTES = 2_000_000_000
CHUNK = 1 << 18
CONNECT_S = 10.0
ANSWER_S = 30.0
UPLOAD_S = 120.0
SLOWEST_BYTES_PER_S = 50_000
"""A download slower than this is given up, however steadily it drips."""
GATEWAY = {502, 503, 504}


class RunnerClient:
    """Talks to one runner; use as an asynchronous context manager, or call `close`.

    Every call raises Unreachable (after `attempts` tries), Untrusted, Denied, Unknown, Refused or
    Broken.
    """

    def __init__(
        self,
        address: RunnerAddress,
        *,
        attempts: int = 3,
        answer_s: float = ANSWER_S,
        max_artifact_bytes: int = MAX_ARTIFACT_BYTES,
    ) -> None:
        self.address = address
        self._answer_s = answer_s
        self._max_artifact_bytes = max_artifact_bytes
        self._session: aiohttp.ClientSession | None = None
        self._trust: Trust | None = None
        self._again = stamina.AsyncRetryingCaller(
            attempts=attempts, timeout=60.0, wait_initial=0.1, wait_max=2.0
        ).on(Unreachable)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def submit(self, spec: JobSpec) -> JobStatus:
        """Hand a job over. The same id twice is one job, so a lost answer is asked for again."""
        body = await asyncio.to_thread(msgspec.json.encode, spec)
        status = await self._again(self._ask, "POST", "/jobs", JobStatus, body, UPLOAD_S)
        return _own(status, spec.id)

    async def status(self, job_id: str) -> JobStatus:
        """Ask where a job stands; its result is there once it ended."""
        status = await self._again(self._ask, "GET", f"/jobs/{job_id}", JobStatus)
        return _own(status, job_id)

    async def events(self, job_id: str, after: int, wait_s: float) -> tuple[JobEvent, ...]:
        """Wait at most `wait_s` seconds for events numbered above `after`; maybe none."""
        path = f"/jobs/{job_id}/events?after={after}&wait={wait_s:g}"
        answer_s = wait_s + self._answer_s
        answer = await self._again(self._ask, "GET", path, JobEvents, None, answer_s)
        return tuple(event for event in answer.events if event.number > after)

    async def cancel(self, job_id: str) -> None:
        """Ask for a job's end; what it captured so far is in its result."""
        await self._again(self._ask, "DELETE", f"/jobs/{job_id}", None)

    async def health(self) -> Health:
        """Ask how the runner is."""
        return await self._again(self._ask, "GET", "/health", Health)

    async def fetch(self, job_id: str, artifact: Artifact, folder: Path) -> Path:
        """Download one file into `folder` and return its path.

        It appears under its name only once size and SHA-256 are as announced.
        """
        path = folder / local_name(artifact.name)
        if artifact.size > self._max_artifact_bytes:
            raise Broken(f"{path.name} has {artifact.size:,} bytes, more than this bot takes")
        await self._again(self._download, job_id, artifact, path)
        return path

    async def _ask(
        self,
        method: str,
        path: str,
        kind: type[T] | None,
        body: bytes | None = None,
        total_s: float | None = None,
    ) -> T:
        limits = aiohttp.ClientTimeout(total=total_s or self._answer_s, sock_connect=CONNECT_S)
        async with self._request(method, path, limits, body) as response:
            content = await _bounded(response)
        if kind is None:
            return None  # type: ignore[return-value]
        return await asyncio.to_thread(_decode, content, kind)

    async def _download(self, job_id: str, artifact: Artifact, path: Path) -> None:
        slowest = artifact.size / SLOWEST_BYTES_PER_S
        limits = aiohttp.ClientTimeout(
            total=self._answer_s + slowest, sock_connect=CONNECT_S, sock_read=self._answer_s
        )
        place = f"/jobs/{job_id}/artifacts/{path.name}"
        async with self._request("GET", place, limits) as response:
            if response.headers.get(SHA256_HEADER) != artifact.sha256:
                raise Broken(f"{path.name} came with another SHA-256 than announced")
            async with Download(path, artifact.size, artifact.sha256) as download:
                async for chunk in response.content.iter_chunked(CHUNK):
                    await download.write(chunk)

    @asynccontextmanager
    async def _request(
        self, method: str, path: str, limits: aiohttp.ClientTimeout, body: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        if self._trust is None:
            self._trust = await asyncio.to_thread(trust, self.address)
        url = self.address.url.rstrip("/") + API + path
        headers = {"Content-Type": "application/json"} if body is not None else {}
        try:
            async with self._open().request(
                method,
                url,
                data=body,
                headers=headers,
                timeout=limits,
                ssl=self._trust,
                allow_redirects=False,
            ) as response:
                await _raise_for_status(response)
                yield response
        except (aiohttp.ClientError, TimeoutError) as error:
            raise _mapped(error) from error

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Accept-Encoding": "identity"}
            if self.address.token is not None:
                headers["Authorization"] = f"Bearer {self.address.token.reveal()}"
            # A compressed answer could grow without bound behind the size caps.
            self._session = aiohttp.ClientSession(
                # Each job that is followed keeps a connection open for most of its time.
                connector=aiohttp.TCPConnector(limit=0),
                headers=headers,
                auto_decompress=False,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session


def _mapped(error: Exception) -> ClientError:
    """Translate the library's errors, the one place where that is done."""
    if isinstance(error, aiohttp.ServerFingerprintMismatch):
        return Untrusted("its fingerprint is another one than the settings name")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Untrusted(reason_of(error.certificate_error))
    if isinstance(error, aiohttp.ClientSSLError):
        return Untrusted("it does not speak TLS there")
    lost = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)
    if isinstance(error, lost):
        return Unreachable(type(error).__name__)
    return Broken(f"no valid HTTP ({type(error).__name__})")


async def _raise_for_status(response: aiohttp.ClientResponse) -> None:
    status = response.status
    if 200 <= status < 300:
        return
    if status in {401, 403}:
        raise Denied
    if status == 404:
        raise Unknown
    if 300 <= status < 400:
        raise Broken("it answered with a redirect")
    try:
        refusal = msgspec.json.decode(await _bounded(response), type=Refusal)
    except msgspec.DecodeError:
        if status in GATEWAY:
            raise Unreachable(str(status)) from None
        raise Refused(status, f"HTTP status {status}") from None
    raise Refused(status, refusal.error)


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        content += chunk
        if len(content) > MAX_JSON_BYTES:
            raise Broken("an answer without end")
    return bytes(content)


def _decode(content: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise Broken(f"an answer off the contract: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Broken("an answer that is not JSON") from None


def _own(status: JobStatus, job_id: str) -> JobStatus:
    if status.id != job_id:
        raise Broken("an answer about another job")
    return status

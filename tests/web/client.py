"""A client that puts on the wire, byte for byte, what popcorn-cli does, and reads as it reads."""

import asyncio
import base64
import io
import json
import zipfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

BOUNDARY = "4c31f0a8d2b97e55-0e6d2f1b7a9c8843-91b5de20f7c6a1e8-5b7d1c93e8fa4d62"
CLI_ID = "x-popcorn-cli-id"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: status, headers in lower case, the whole body."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """What the client prints of an answer that is not 2xx."""
        detail = self.json["detail"]
        assert isinstance(detail, str)
        return detail

    @property
    def events(self) -> list[tuple[str, Any]]:
        assert self.headers["content-type"] == "text/event-stream"
        return list(frames([self.body]))


@dataclass(frozen=True, slots=True)
class Terminal:
    """One terminal at an address; `cli_id` None sends no such header.

    Its requests were held against those of the client's own binary byte by byte.
    """

    address: str
    cli_id: str | None = None
    headers: dict[str, str] = field(default_factory=dict)

    async def get(self, path: str, method: str = "GET") -> Reply:
        return await self._ask(self._head(method, path) + b"\r\n")

    async def post_json(self, path: str, body: str | None) -> Reply:
        if body is None:
            return await self._ask(self._head("POST", path, "content-length: 0") + b"\r\n")
        sent = body.encode()
        head = self._head("POST", path, "content-type: application/json")
        return await self._ask(head + b"content-length: %d\r\n\r\n" % len(sent) + sent)

    async def post_file(self, path: str, name: str, source: bytes, **fields: str) -> Reply:
        return await self._ask(self.upload(path, name, source, **fields))

    def upload(self, path: str, name: str, source: bytes, **fields: str) -> bytes:
        """Return the bytes of a multipart request; parts have no type of their own."""
        file = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        parts = [file + source]
        for key, value in fields.items():
            head = f'Content-Disposition: form-data; name="{key}"\r\n\r\n'
            parts.append(head.encode() + value.encode())
        mark = f"--{BOUNDARY}".encode()
        body = b"".join(mark + b"\r\n" + part + b"\r\n" for part in parts) + mark + b"--\r\n"
        kind = f"content-type: multipart/form-data; boundary={BOUNDARY}"
        size = f"content-length: {len(body)}"
        return self._head("POST", path, kind, size) + b"\r\n" + body

    async def open(self, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Send a request and give the connection, as somebody who may leave."""
        at = urlsplit(self.address)
        reader, writer = await asyncio.open_connection(at.hostname, at.port)
        writer.write(sent)
        await writer.drain()
        return reader, writer

    async def _ask(self, sent: bytes) -> Reply:
        reader, writer = await self.open(sent)
        try:
            return await _reply(reader)
        finally:
            writer.close()
            await writer.wait_closed()

    def _head(self, method: str, path: str, *first: str) -> bytes:
        """Return the head without the line that ends it; the body's headers are the `first`."""
        who = {CLI_ID: self.cli_id} if self.cli_id else {}
        headers = who | self.headers | {"host": urlsplit(self.address).netloc}
        lines = [
            f"{method} {path} HTTP/1.1",
            *first,
            "accept: */*",
            *(f"{key}: {value}" for key, value in headers.items()),
        ]
        return "".join(f"{line}\r\n" for line in lines).encode()


def frames(chunks: list[bytes]) -> Iterator[tuple[str, Any]]:
    """Read events as the client does: each chunk decoded by itself, frames parted by LF LF."""
    text = "".join(chunk.decode("utf-8", "replace") for chunk in chunks)
    while "\n\n" in text:
        frame, text = text.split("\n\n", 1)
        events = [line for line in frame.split("\n") if line.startswith("event:")]
        data = [line for line in frame.split("\n") if line.startswith("data:")]
        if events and data:
            yield events[-1][6:].strip(), json.loads(data[-1][5:].strip())


def unzipped(trace: str) -> dict[str, bytes]:
    """Return the files of a trace as the client unpacks them."""
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(trace, validate=True))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


async def _reply(reader: asyncio.StreamReader) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    status = int(head[0].split()[1])
    pairs = (line.split(":", 1) for line in head[1:] if line)
    headers = {key.lower(): value.strip() for key, value in pairs}
    if headers.get("transfer-encoding") == "chunked":
        return Reply(status, headers, b"".join([chunk async for chunk in chunks(reader)]))
    return Reply(status, headers, await reader.readexactly(int(headers["content-length"])))


async def chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """Give the chunks of a body."""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        yield await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)

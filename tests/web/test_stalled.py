"""Readers who stop reading, and answers that break off."""

import asyncio
import os
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

import pytest

from bot.web import polling, sending, stream
from tests.web.client import Terminal
from tests.web.conftest import submission
from tests.web.test_polling import ended

STARTER = submission("linalg/qr_v2", "starter.py")
PATH = "/profile/qr_v2/H200"
LARGE = 16 * 1_048_576
"""More than the sockets between two ends hold."""


class Large:
    """Stands in for `zipped`: a file of zeros, and whether it is held."""

    def __init__(self) -> None:
        self.released = asyncio.Event()

    @asynccontextmanager
    async def zipped(self, _files: dict[str, Path], _folder: Path) -> AsyncIterator[BinaryIO]:
        self.released.clear()
        with tempfile.TemporaryFile() as packed:
            packed.truncate(LARGE)
            try:
                yield packed
            finally:
                self.released.set()


async def test_readers_who_stop_and_a_disk_that_is_full(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = await terminal.post_file(
        "/profile", "k.py", STARTER, leaderboard="qr_v2", benchmark_index="0"
    )
    (artifact,) = (await ended(terminal, accepted.json["job_id"]))["artifacts"]
    await _only_the_head_of_a_zip(terminal, artifact["url"])
    await _what_breaks_in_a_result_is_said_in_its_place(terminal, monkeypatch)
    await _a_reader_who_stops_is_let_go(terminal, artifact["url"], monkeypatch)


async def _only_the_head_of_a_zip(terminal: Terminal, path: str) -> None:
    head = terminal._head("HEAD", path) + b"\r\n"
    reader, writer = await terminal.open(head + terminal._head("GET", "/health") + b"\r\n")
    first = await reader.readuntil(b"\r\n\r\n")
    assert b"Content-Type: application/zip" in first
    assert (await reader.readline()).startswith(b"HTTP/1.1 200")
    writer.close()


async def _what_breaks_in_a_result_is_said_in_its_place(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(stream, "zipped", full)
    reply = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    name, said = reply.events[-1]
    assert name == "error"
    assert said["status_code"] == 500
    assert "our side" in said["detail"]


async def _a_reader_who_stops_is_let_go(
    terminal: Terminal, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = Large()
    monkeypatch.setattr(sending, "STALLED_S", 0.2)
    for module in (stream, polling):
        monkeypatch.setattr(module, "zipped", large.zipped)
    at = urlsplit(terminal.address)
    upload = terminal.upload(PATH, "k.py", STARTER, benchmark_index="0")
    for sent in (upload, terminal._head("GET", path) + b"\r\n"):
        with socket.create_connection((at.hostname, at.port), timeout=20) as reader:
            large.released.clear()
            reader.sendall(sent)
            async with asyncio.timeout(20):
                await large.released.wait()
            assert await asyncio.to_thread(_all_of, reader) < LARGE


def _all_of(reader: socket.socket) -> int:
    """Return how many bytes come until the other end closes."""
    return sum(iter(lambda: len(reader.recv(1_048_576)), 0))

"""What a client in good health seldom sends, over real sockets: odd paths, numbers, bodies."""

import asyncio
import re

import pytest

from bot.web import forms
from tests.web.client import Terminal
from tests.web.conftest import ADMIN_TOKEN, submission

STARTER = submission("linalg/qr_v2", "starter.py")
PATH = "/profile/qr_v2/H200"
BROKEN = (
    (b"content-length:", b"content-encoding: gzip\r\ncontent-length:"),
    (b"; boundary=", b"; bound_ary="),
    (b"; boundary=4", b"; boundary=5"),
    (b'form-data; name="file"; filename="k.py"', b"x" * 39),
    (b"Content-Disposition:", b"Content-Dis_osition:"),
    (b'name="file"; filename', b'n%me="file"; f%lename'),
    (b'name="file"', b'name="_charset_"'),
    (b'"k.py"', b'"' + b"a" * 9_000 + b'.py"'),
    (b'"k.py"', b'"k.py"' + b"\r\nA: b" * 3_000),
)


async def head_of(terminal: Terminal, sent: bytes) -> bytes:
    """Return the first line of what is answered."""
    reader, writer = await terminal.open(sent)
    line = await reader.readline()
    writer.close()
    return line


def with_its_length(sent: bytes) -> bytes:
    head, _, body = sent.partition(b"\r\n\r\n")
    counted = re.sub(rb"content-length: \d+", b"content-length: %d" % len(body), head)
    return counted + b"\r\n\r\n" + body


async def test_addresses_as_somebody_may_write_them(terminal: Terminal) -> None:
    assert (await terminal.get("//leaderboards")).status == 200
    assert (await terminal.get("//user/submissions?limit=5")).json == []
    assert (await terminal.post_json("//admin/stop", None)).status == 401
    for names in ("/profile/QR_V2/h200", "profile/qr%5Fv2/%20H200%20", "profile/%71r_v2/H%32%300"):
        reply = await terminal.post_file(f"/{names}", "k.rs", STARTER)
        assert reply.status == 400
        assert ".py" in reply.detail
    for path in ("/profile//H200", "/profile/qr_v2/A/B", "/", "/jobs/abc"):
        reply = await terminal.get(path)
        assert reply.status == 404
        assert "POPCORN_API_URL" in reply.detail
    reply = await terminal.get(PATH, "PUT")
    assert reply.status == 405
    assert reply.headers["allow"] == "POST"
    assert "PUT" in reply.detail


async def test_numbers_at_their_edges(terminal: Terminal) -> None:
    for number in ("-1", "0", "9" * 20, "9" * 5_000, "%d9%a3", "abc"):
        for method in ("GET", "DELETE"):
            reply = await terminal.get(f"/user/submissions/{number}", method)
            assert reply.status == 404
            assert reply.detail.startswith("You have no job")
    for limit, status in ((2**31 - 1, 200), (0, 422), (-1, 422)):
        assert (await terminal.get(f"/user/submissions?limit={limit}")).status == status


async def test_bodies_that_are_too_long_or_broken(terminal: Terminal) -> None:
    reply = await terminal.post_file(PATH, "k.py", STARTER, ncu_kernel_name="k" * 5_000)
    assert reply.status == 400
    assert "ncu_kernel_name" in reply.detail
    assert "file" not in reply.detail
    reply = await terminal.post_file(PATH, "k.py", b"#" * 5_000_000)
    assert reply.status == 413
    assert "has 5,000,000 bytes" in reply.detail
    sent = terminal.upload(PATH, "k.py", STARTER)
    for old, new in BROKEN:
        assert old in sent
        broken = with_its_length(sent.replace(old, new, 1))
        assert re.match(rb"HTTP/1.1 4\d\d ", await head_of(terminal, broken)), new[:40]
    admin = Terminal(terminal.address, None, {"authorization": f"Bearer {ADMIN_TOKEN}"})
    packed = admin.upload("/admin/update-problems", "k.py", STARTER).replace(*BROKEN[0])
    assert b" 400 " in await head_of(admin, packed)


async def test_an_upload_that_does_not_come_is_not_waited_for(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "UPLOAD_S", 0.1)
    sent = terminal.upload(PATH, "k.py", STARTER)
    for missing in (200, len(STARTER)):
        async with asyncio.timeout(10):
            assert b" 408 " in await head_of(terminal, sent[:-missing])


async def test_an_id_in_no_encoding_is_one_that_nobody_has(address: str) -> None:
    for odd in (b"\xff\xfe", "ж".encode(), b"a" * 8_000):
        sent = Terminal(address).upload(PATH, "k.py", STARTER)
        sent = sent.replace(b"accept:", b"x-popcorn-cli-id: " + odd + b"\r\naccept:", 1)
        assert b" 401 " in await head_of(Terminal(address), sent)

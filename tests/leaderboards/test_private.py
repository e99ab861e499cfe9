"""A private repository over smart HTTP: the token opens it and shows up nowhere."""

import asyncio
import base64
import logging
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from msgspec import structs

from bot.leaderboards.errors import SourceError
from runner_client.secret import Secret
from tests.leaderboards.repository import make
from tests.leaderboards.syncing import Syncing, commit, git

TOKEN = "ghp_a-token-that-must-stay-hidden"
AUTHORISED = "Basic " + base64.b64encode(f"x-access-token:{TOKEN}".encode()).decode()


def answered(root: Path, request: web.Request, body: bytes) -> subprocess.CompletedProcess[bytes]:
    """Let git's own CGI program answer."""
    environ = {
        "PATH": os.environ["PATH"],
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "PATH_INFO": request.path,
        "QUERY_STRING": request.query_string,
        "REQUEST_METHOD": request.method,
        "CONTENT_TYPE": request.headers.get("Content-Type", ""),
        "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
    }
    return subprocess.run(
        ("git", "http-backend"), input=body, env=environ, capture_output=True, check=True
    )


class Server:
    """Serves a repository to those who have the token; notes what others brought."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: list[str] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        given = request.headers.get("Authorization", "")
        self.seen.append(given)
        if given != AUTHORISED:
            return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="git"'})
        body = await request.read()
        done = await asyncio.to_thread(answered, self.root, request, body)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        return web.Response(body=content, headers={"Content-Type": headers["Content-Type"]})


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    make(tmp_path / "remote" / "private.git")
    commit(tmp_path / "remote" / "private.git")
    serving = Server(tmp_path / "remote")
    app = web.Application(client_max_size=10_000_000)
    app.router.add_route("*", "/{path:.*}", serving.handle)
    async with TestServer(app) as running:
        serving.url = f"http://127.0.0.1:{running.port}/private.git"
        yield serving


def with_token(syncing: Syncing, host: str) -> None:
    structs.force_setattr(syncing.settings, "git_tokens", {host: Secret(TOKEN)})


async def test_without_the_token_one_is_told_which_is_missing(
    syncing: Syncing, server: Server
) -> None:
    with pytest.raises(SourceError) as refused:
        await syncing(server.url)
    host = server.url.split("/")[2]
    assert refused.value.reason == (
        f"private or not there, an admin can set a token for {host} in git_tokens"
    )


async def test_with_the_token_it_is_read_and_the_token_shows_up_nowhere(
    syncing: Syncing,
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    real = shutil.which("git")
    programs = tmp_path / "bin"
    programs.mkdir()
    script = f'#!/bin/sh\nfor word; do echo "$word" >> {tmp_path}/argv; done\nexec {real} "$@"\n'
    (programs / "git").write_text(script)
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with_token(syncing, server.url.split("/")[2])
    with caplog.at_level(logging.DEBUG):
        report = await syncing(server.url)
    assert report.created == ("qr", "eigh")
    assert AUTHORISED in server.seen
    words = (tmp_path / "argv").read_text()
    assert server.url in words
    rows = await syncing.service.audit.entries()
    for text in (words, caplog.text, repr(report), repr(rows), repr(syncing.settings)):
        assert TOKEN not in text
    assert not any(
        TOKEN.encode() in file.read_bytes()
        for file in syncing.settings.data.rglob("*")
        if file.is_file()
    )


async def test_a_wrong_token_is_told_and_hidden(syncing: Syncing, server: Server) -> None:
    host = server.url.split("/")[2]
    structs.force_setattr(syncing.settings, "git_tokens", {host: Secret("wrong-secret")})
    with pytest.raises(SourceError) as refused:
        await syncing(server.url)
    assert refused.value.reason.startswith("private or not there")
    assert "wrong-secret" not in repr(refused.value.args)


async def test_another_hosts_token_is_not_sent(syncing: Syncing, server: Server) -> None:
    with_token(syncing, "github.com")
    with pytest.raises(SourceError):
        await syncing(server.url)
    assert AUTHORISED not in server.seen


async def test_the_operators_own_git_settings_and_helpers_stay_out(
    syncing: Syncing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f'[core]\n\tfsmonitor = "touch {tmp_path}/ran"\n')
    hooks = home / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    with (home / ".gitconfig").open("a") as file:
        file.write(f'\thooksPath = {hooks}\n[url "file:///nowhere"]\n\tinsteadOf = file:///\n')
    remote = make(tmp_path / "remote")
    commit(remote)
    monkeypatch.setenv("HOME", str(home))
    assert (await syncing(remote.as_uri())).created == ("qr", "eigh")
    assert not (tmp_path / "ran").exists()
    assert git(remote, "config", "--get", "core.hooksPath") == str(hooks)

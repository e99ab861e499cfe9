"""TLS between bot and runner, over real sockets, with certificates made for the test."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.jobs.errors import NcubotError, RunnerUntrusted
from bot.jobs.runners import Runners
from bot.wording import sentence
from runner.app import serve
from runner.service.tls import BadCertificate, fingerprint, server_context
from runner.settings import EngineName, RunnerSettings
from runner_client.address import RunnerAddress
from runner_client.client import RunnerClient
from runner_client.errors import Unreachable, Untrusted
from runner_client.secret import Secret
from tests.client.certificates import Certificate, make_certificate

TOKEN = Secret("let-me-in")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl is absent")
    return tmp_path_factory.mktemp("certificates")


@pytest.fixture(scope="module")
def certificate(folder: Path) -> Certificate:
    return make_certificate(folder, "runner")


@pytest.fixture(scope="module")
def other(folder: Path) -> Certificate:
    return make_certificate(folder, "other")


def settings_of(data: Path, certificate: Certificate) -> RunnerSettings:
    return RunnerSettings(
        data=data,
        port=0,
        token=TOKEN,
        engine=EngineName.RECORDED,
        tls_cert=certificate.cert,
        tls_key=certificate.key,
    )


@asynccontextmanager
async def serving(settings: RunnerSettings) -> AsyncIterator[RunnerAddress]:
    """Serve as `ncubot runner` does, and give the address."""
    ready: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(serve(settings, ready.put_nowait))
    try:
        url = await asyncio.wait_for(ready.get(), 30)
        yield RunnerAddress(name="r1", url=url, gpu="H200", token=TOKEN)
    finally:
        task.cancel()
        await asyncio.wait({task})


async def engine_at(address: RunnerAddress) -> str:
    async with RunnerClient(address, attempts=1) as client:
        return (await client.health()).engine


async def sentence_about(address: RunnerAddress) -> str:
    """Return what an admin reads of a runner."""
    runners = Runners((address,), 1_000)
    state = (await runners.health())["r1"]
    await runners.close()
    assert isinstance(state, NcubotError)
    assert isinstance(state, RunnerUntrusted)
    return sentence(state)


async def test_the_right_authority_or_fingerprint_is_trusted(
    tmp_path: Path, certificate: Certificate
) -> None:
    async with serving(settings_of(tmp_path, certificate)) as address:
        assert address.url.startswith("https://127.0.0.1:")
        assert await engine_at(replace(address, ca=certificate.cert)) == "recorded"
        printed = certificate.fingerprint
        assert await engine_at(replace(address, fingerprint=printed)) == "recorded"
        assert await engine_at(replace(address, fingerprint=fingerprint(certificate.cert)))
        assert printed.replace(":", "").lower() == fingerprint(certificate.cert)


async def test_any_other_is_refused_with_a_sentence(
    tmp_path: Path, certificate: Certificate, other: Certificate
) -> None:
    async with serving(settings_of(tmp_path, certificate)) as address:
        assert "does not trust (self-signed certificate)" in await sentence_about(address)
        by_ca = await sentence_about(replace(address, ca=other.cert))
        assert "does not trust (self-signed certificate)" in by_ca
        by_pin = await sentence_about(replace(address, fingerprint=other.fingerprint))
        assert "its fingerprint is another one than the settings name" in by_pin
        assert "an admin must set its ca or fingerprint." in by_pin
        absent = await sentence_about(replace(address, ca=tmp_path / "none.pem"))
        assert "none.pem cannot be read: No such file" in absent


async def test_a_certificate_of_another_host_is_refused(tmp_path: Path, folder: Path) -> None:
    elsewhere = make_certificate(folder, "elsewhere", "DNS:gpu.example.org")
    async with serving(settings_of(tmp_path, elsewhere)) as address:
        said = await sentence_about(replace(address, ca=elsewhere.cert))
        assert "IP address mismatch" in said


async def test_the_token_never_goes_to_a_server_that_is_not_trusted(
    tmp_path: Path, certificate: Certificate, other: Certificate
) -> None:
    heard = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.read(1_000))
        writer.close()

    context = server_context(settings_of(tmp_path, other))
    server = await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        url = f"https://127.0.0.1:{port}"
        address = RunnerAddress(name="r1", url=url, gpu="H200", token=TOKEN)
        for trusted in (
            replace(address, ca=certificate.cert),
            replace(address, fingerprint=certificate.fingerprint),
        ):
            with pytest.raises(Untrusted):
                await engine_at(trusted)
    assert bytes(heard) == b""


async def test_plain_http_where_tls_is_served_and_the_other_way_round(
    tmp_path: Path, certificate: Certificate
) -> None:
    async with serving(settings_of(tmp_path / "a", certificate)) as address:
        plain = replace(address, url=address.url.replace("https", "http"))
        with pytest.raises(Unreachable):
            await engine_at(plain)
    settings = replace(settings_of(tmp_path / "b", certificate), tls_cert=None, tls_key=None)
    async with serving(settings) as address:
        tls = replace(address, url=address.url.replace("http", "https"), ca=certificate.cert)
        assert "(it does not speak TLS there)" in await sentence_about(tls)


def test_old_tls_is_not_spoken(tmp_path: Path, certificate: Certificate) -> None:
    context = server_context(settings_of(tmp_path, certificate))
    assert context is not None
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_files_that_are_no_certificate_are_named(
    tmp_path: Path, certificate: Certificate, other: Certificate
) -> None:
    settings = settings_of(tmp_path, certificate)
    with pytest.raises(BadCertificate, match=r"none\.pem: No such file"):
        server_context(replace(settings, tls_cert=tmp_path / "none.pem"))
    with pytest.raises(BadCertificate, match=r"other\.key: no certificate and its own"):
        server_context(replace(settings, tls_key=other.key))
    with pytest.raises(BadCertificate, match=r"runner\.key: no certificate in PEM"):
        fingerprint(certificate.key)
    with pytest.raises(ValueError, match="set both or none"):
        replace(settings, tls_key=None)


def test_what_does_not_go_with_the_url_is_refused(tmp_path: Path) -> None:
    https = RunnerAddress(name="a", url="https://x.example.org", gpu="H200")
    with pytest.raises(ValueError, match="set ca or fingerprint, not both"):
        replace(https, ca=tmp_path, fingerprint="ab" * 32)
    with pytest.raises(ValueError, match="need an https URL"):
        replace(https, url="http://localhost:1", ca=tmp_path)

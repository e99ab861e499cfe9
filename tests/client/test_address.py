"""Where the client will send a token, and where not."""

import pytest

from runner_client.address import RunnerAddress
from runner_client.secret import Secret


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000",
        "http://127.8.8.8:1",
        "http://localhost:8000",
        "http://[::1]:8000",
        "https://gpu.example.org",
    ],
)
def test_urls_that_are_taken(url: str) -> None:
    assert RunnerAddress(name="a", url=url, gpu="H200").url == url


@pytest.mark.parametrize(
    "url",
    [
        "http://gpu.example.org",
        "http://192.168.0.4:8000",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "ftp://gpu.example.org",
        "gpu.example.org",
        "",
        "https://user@gpu.example.org",
        "https://gpu.example.org/?a=b",
    ],
)
def test_urls_that_are_not(url: str) -> None:
    with pytest.raises(ValueError, match="runner a: "):
        RunnerAddress(name="a", url=url, gpu="H200")


def test_plain_http_when_told_so() -> None:
    url = "http://10.0.0.4:8000"
    assert RunnerAddress(name="a", url=url, gpu="H200", allow_plain_http=True).url == url


def test_a_token_is_not_shown() -> None:
    token = Secret("hush-hush")
    address = RunnerAddress(name="a", url="https://x.example.org", gpu="H200", token=token)
    assert "hush" not in f"{address} {address!r} {token} {token!r}"
    assert token.reveal() == "hush-hush"
    assert token == Secret("hush-hush")
    assert token != "hush-hush"


@pytest.mark.parametrize("text", ["", "a b", "line\nbreak"])
def test_no_token_with_white_space(text: str) -> None:
    with pytest.raises(ValueError, match="without white space"):
        Secret(text)

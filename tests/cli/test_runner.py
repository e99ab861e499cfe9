"""`ncubot runner` as an operator starts it."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from bot.embedded import embedded_runner
from cli.main import main
from runner_client.client import RunnerClient
from runner_client.logs import LogFormat


async def test_its_log_is_json_where_asked_for_and_holds_no_token(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with embedded_runner(tmp_path / "data", "recorded", log, LogFormat.JSON) as address:
        async with RunnerClient(address) as client:
            while (await client.health()).checking:  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.05)
        assert address.token is not None
        text = await asyncio.to_thread(log.read_text)
    lines = [json.loads(line) for line in text.splitlines()]
    told = {
        line["message"].partition(":")[0]
        for line in lines
        if line["logger"] == "runner.health.doctor"
    }
    assert told == {"data", "disk", "network", "recordings"}
    assert address.token.reveal() not in text


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"NCUBOT_RUNNER_HOST": "192.0.2.1"}, "set NCUBOT_RUNNER_TOKEN to a secret first"),
        (
            {"NCUBOT_RUNNER_TLS_CERT": "none.pem", "NCUBOT_RUNNER_TLS_KEY": "none.key"},
            "none.pem: No such file or directory",
        ),
        ({"NCUBOT_RUNNER_TLS_KEY": "none.key"}, "settings: tls_cert and tls_key: set both or none"),
        ({"NCUBOT_RUNNER_LOG_FORMAT": "yaml"}, "NCUBOT_RUNNER_LOG_FORMAT, log_format: "),
    ],
)
def test_settings_that_cannot_be_used_are_one_line_and_status_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    variables: dict[str, str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("runner_client.logs.logging.basicConfig", lambda **_: None)
    for name, value in (variables | {"NCUBOT_RUNNER_ENGINE": "recorded"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["ncubot", "runner", "--port", "0"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert err.count("\n") == 1
    assert said in err

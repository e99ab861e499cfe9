"""docs/operations.md and what goes with it says what the programs do."""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import discord
import pytest

from bot.config import load
from bot.invite import PERMISSIONS, invite_address
from bot.settings import BotSettings, load_settings
from runner.settings import RunnerSettings
from runner_client.address import RunnerAddress
from tests.test_house import ROOT

DOCS = ROOT / "docs"
PAGE = (DOCS / "operations.md").read_text(encoding="utf-8")
UNITS = sorted((DOCS / "systemd").glob("*.service"))


def named_in_tables() -> set[str]:
    """Return every field that the first cell of a table's row names."""
    rows = (line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
    return {name for cell in rows for name in re.findall(r"`([a-z_]+)`", cell)}


@pytest.mark.parametrize("settings", [BotSettings, RunnerSettings])
def test_every_setting_stands_in_the_table(
    settings: type[BotSettings] | type[RunnerSettings],
) -> None:
    assert set(settings.__struct_fields__) - named_in_tables() == set()


def test_every_field_of_a_runner_is_named() -> None:
    assert [name for name in RunnerAddress.__struct_fields__ if f"`{name}" not in PAGE] == []


def test_the_sample_can_be_loaded() -> None:
    sample = DOCS / "ncubot.toml"
    first, second = load_settings(sample, {}).runners
    assert first.ca is not None
    assert second.fingerprint is not None
    settings = load(RunnerSettings, "runner", "NCUBOT_RUNNER_", sample, {})
    assert settings.tls_cert is not None


def test_the_invite_address_asks_for_what_its_names_say() -> None:
    asked = discord.Permissions(sum(PERMISSIONS.values()))
    # The library's old name for View Channels.
    names = {name.lower().replace(" ", "_") for name in PERMISSIONS} - {"view_channels"}
    assert {name for name, granted in asked if granted} == names | {"read_messages"}
    assert invite_address(1).replace("client_id=1&", "client_id=ID&") in PAGE


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_start_our_program_and_pass_systemds_own_check(unit: Path, tmp_path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(unit.read_text(encoding="utf-8"))
    program, command, *_ = parser["Service"]["ExecStart"].split()
    assert program == "/opt/ncubot/bin/ncubot"
    assert command in {"run", "runner"}
    if shutil.which("systemd-analyze") is None:
        return
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace(program, "/bin/true"))
    check = ("systemd-analyze", "verify", "--man=no", copy)
    said = subprocess.run(check, check=False, capture_output=True, text=True)
    assert (said.returncode, said.stderr) == (0, "")


def test_the_runners_unit_leaves_bubblewrap_and_the_gpu_alone() -> None:
    text = (DOCS / "systemd" / "ncubot-runner.service").read_text(encoding="utf-8")
    for name in ("RestrictNamespaces", "PrivateDevices", "ProtectKernelTunables", "ProtectProc"):
        assert f"\n{name}=" not in text
    assert "AF_NETLINK" in text

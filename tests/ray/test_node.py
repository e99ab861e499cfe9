"""How a machine becomes a node, and what keeps it from it."""

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from cli.main import main
from runner.cluster import record, rooms
from runner.cluster.joining import CannotJoin, head, worker
from runner.cluster.worker import Worker
from runner.settings import EngineName, RunnerSettings, SandboxName
from runner_client.secret import Secret
from runner_client.wire import Level, System
from tests.runner.machine import make_machine
from tests.standin.tools import install


@pytest.fixture(autouse=True)
def with_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "token")


@pytest.fixture
def settings(tmp_path: Path, recordings: Path) -> RunnerSettings:
    tools = install(tmp_path / "tools", recordings)
    return RunnerSettings(
        data=tmp_path / "data",
        ncu=str(tools.ncu),
        nvcc=str(tools.nvcc),
        read_only=tools.read_only,
        token=Secret("t0ken"),
    )


async def test_a_node_joins_with_what_its_doctor_measured(
    settings: RunnerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_machine(tmp_path / "machine", settings)
    machine.gpu(count=2)
    machine.self_test(monkeypatch, "ok-triton-1024")
    monkeypatch.setenv("PATH", f"{machine.root}/bin:/usr/bin:/bin")
    monkeypatch.setenv("NCUBOT_RUNNER_TOKEN", "t0ken")
    start, found = await worker(machine.settings, "192.0.2.1:6379")
    assert [one.check for one in found if one.check.startswith("counters")] == [
        "counters 0",
        "counters 1",
    ]
    assert all(one.level is not Level.PROBLEM for one in found)
    words = set(start.argv)
    assert {"--address=192.0.2.1:6379", '--resources={"gpu_H200": 2}', "--num-gpus=2"} <= words
    assert "--disable-usage-stats" in words
    assert start.env["CUDA_VISIBLE_DEVICES"] == "GPU-00-2222-3333,GPU-11-2222-3333"
    assert "t0ken" not in str(start)
    written = Path(start.env[record.VARIABLE])
    data = await asyncio.to_thread(written.read_bytes)
    assert b"t0ken" not in data
    known = record.decode(data)
    assert (known.settings.gpu, known.settings.engine) == ("H200", EngineName.LOCAL)
    assert known.system.gpu == "NVIDIA H200"
    assert known.census is not None
    assert known.census in found
    assert known.census.text.startswith("not available: ")


async def test_a_machine_that_cannot_profile_does_not_join(
    settings: RunnerSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = make_machine(tmp_path / "machine", settings)
    machine.self_test(monkeypatch, "made:counters-denied")
    monkeypatch.setenv("PATH", f"{machine.root}/bin:/usr/bin:/bin")
    with pytest.raises(CannotJoin, match="the tiny kernel was not profiled: counters-denied"):
        await worker(machine.settings, "192.0.2.1:6379")


async def test_a_machine_without_a_sandbox_does_not_join(settings: RunnerSettings) -> None:
    bare = replace(settings, sandbox=SandboxName.NONE)
    with pytest.raises(CannotJoin, match="needs a sandbox"):
        await worker(bare, "192.0.2.1:6379")
    with pytest.raises(record.NotANode, match="needs a sandbox"):
        Worker(record.NodeRecord(bare, System(gpu="H200")))


async def test_nobody_joins_a_cluster_that_listens_to_everybody(
    settings: RunnerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_AUTH_MODE")
    with pytest.raises(CannotJoin, match="set RAY_AUTH_MODE=token"):
        head("192.0.2.1", 6379)
    with pytest.raises(CannotJoin, match="set RAY_AUTH_MODE=token"):
        await worker(settings, "192.0.2.1:6379")


def test_a_head_shows_nothing_on_the_web_and_tells_nobody() -> None:
    start = head("192.0.2.1", 6379)
    assert {"--include-dashboard=false", "--disable-usage-stats", "--num-gpus=0"} <= {*start.argv}
    assert start.env["RAY_USAGE_STATS_ENABLED"] == "0"


def test_what_a_dead_worker_process_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "worker-of-a-dead-process"
    (left / "work" / "some").mkdir(parents=True)
    mine = rooms.claim(tmp_path)
    assert not left.exists()
    # The folder of one that lives stays.
    assert rooms.claim(tmp_path) != mine
    assert mine.is_dir()


def test_a_record_that_is_not_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(record.VARIABLE, raising=False)
    with pytest.raises(record.NotANode, match="was not started by `ncubot node`"):
        record.read()


@pytest.mark.parametrize(
    "words", [("runner", "--engine", "ray", "--port", "0"), ("node", "--head", "192.0.2.1")]
)
def test_without_the_extra_there_is_one_sentence(
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("runner_client.logs.logging.basicConfig", lambda **_: None)
    for name in [name for name in sys.modules if name.startswith("runner.cluster")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setattr(sys, "argv", ["ncubot", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capfd.readouterr().err == "ncubot: ray is missing here: pip install 'ncubot[ray]'\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("runner", "--engine", "ray", "--port", "0"), "name the cluster with --address HOST:PORT"),
        (
            ("runner", "--engine", "ray", "--address", "127.0.0.1:1", "--port", "0"),
            "no Ray cluster answers at 127.0.0.1:1",
        ),
        (("node",), "say either --head ADDRESS or --address HOST:PORT"),
    ],
)
def test_what_was_left_out_is_one_sentence(
    words: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("runner_client.logs.logging.basicConfig", lambda **_: None)
    monkeypatch.setattr(sys, "argv", ["ncubot", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    err = capfd.readouterr().err
    assert ended.value.code == 2
    assert err.count("\n") == 1
    assert said in err


def test_a_record_keeps_every_setting(settings: RunnerSettings) -> None:
    known = record.NodeRecord(replace(settings, read_only=(Path("/opt"),)), System(gpu="H200"))
    again = record.decode(record.encode(known))
    assert again.settings == replace(known.settings, token=None)
    assert msgspec.json.decode(record.encode(known))["settings"]["token"] is None

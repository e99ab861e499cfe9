"""Programs in their cells on this machine: signals, status, limits, users; and without cells."""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import TestServer
from msgspec import structs

from runner.app import create_app
from runner.capture.environment import base_environment
from runner.isolation import cgroup
from runner.isolation.cell import Cell, Confinement
from runner.isolation.confinement import bounds_of, confine, limits_in_force
from runner.isolation.halt import Halt, Stop
from runner.isolation.jail import Jail
from runner.isolation.process import CannotStart, Command, Finished, run
from runner.isolation.sandbox import Bind
from runner.settings import RunnerSettings, SandboxName
from runner_client.wire import BenchmarkStatus, FailureKind, Mode
from tests.hostile.problem import GOOD, hostile_job, submission
from tests.runner.api import Api
from tests.runner.processes import of_jobs

SYSTEM_PYTHON = "/usr/bin/python3"
JOB = Path("/job")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder that every user can reach; pytest's own are root's."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture
async def confinement(folder: Path) -> Confinement:
    """Return what a runner with the system's interpreter and low limits has here."""
    settings = RunnerSettings(
        data=folder / "data",
        python=SYSTEM_PYTHON,
        max_memory_bytes=200_000_000,
        max_processes=32,
        max_cpu_s=1,
    )
    return await confine(settings)


def command(
    confinement: Confinement, folder: Path, code: str, wall_s: float = 20.0, grace_s: float = 1.0
) -> Command:
    return Command(
        argv=(SYSTEM_PYTHON, "-c", code),
        cwd=JOB,
        env=base_environment(JOB, JOB),
        wall_s=wall_s,
        grace_s=grace_s,
        popcorn=True,
        cell=Cell(confinement=confinement, root=folder, binds=(Bind(folder, JOB, writable=True),)),
    )


async def test_streams_log_and_status_come_through(confinement: Confinement, folder: Path) -> None:
    code = (
        "import os, sys\n"
        "print(sorted(os.environ)); print('err', file=sys.stderr)\n"
        "os.write(int(os.environ['POPCORN_FD']), b'a: 1\\n')\n"
        "print(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:4])\n"
        "sys.exit(5)\n"
    )
    finished = await run(command(confinement, folder, code))
    assert (finished.exit_code, finished.stopped, finished.log) == (5, None, {"a": "1"})
    assert finished.stderr == "err\n"
    assert "'HOME', 'LC_ALL', 'PATH', 'POPCORN_FD', 'PWD', 'TMPDIR'" in finished.stdout


async def test_a_signal_is_told_apart_from_a_status(confinement: Confinement, folder: Path) -> None:
    died = await run(command(confinement, folder, "import os; os.kill(os.getpid(), 11)"))
    assert died.exit_code == -11


ENDS_WELL = """
import os, signal, sys, time
def end(*_):
    print('wrote the report', flush=True); sys.exit(0)
signal.signal(signal.SIGTERM, end)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, lambda *_: print('the child too', flush=True))
    while True: time.sleep(600)
time.sleep(600)
"""


async def test_sigterm_reaches_the_program_alone(confinement: Confinement, folder: Path) -> None:
    finished = await run(command(confinement, folder, ENDS_WELL, wall_s=0.7))
    assert (finished.stopped, finished.exit_code) == (Stop.TIME_LIMIT, 0)
    assert finished.stdout == "wrote the report\n"
    assert of_jobs(folder) == []


async def test_a_cancelled_task_leaves_nothing(confinement: Confinement, folder: Path) -> None:
    begun = asyncio.Event()
    code = (
        "import os, time\nos.setsid() if os.fork() == 0 else print('x', flush=True)\ntime.sleep(99)"
    )
    begin = command(confinement, folder, code)
    task = asyncio.create_task(run(begin, on_stdout=lambda _: begun.set()))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert of_jobs(folder) == []


async def test_a_program_that_is_not_there(confinement: Confinement, folder: Path) -> None:
    absent = replace(command(confinement, folder, ""), argv=("/no/such",))
    with pytest.raises(CannotStart, match=r"the sandbox cannot be started: .*/no/such"):
        await run(absent)


async def test_cpu_time_is_bounded(confinement: Confinement, folder: Path) -> None:
    finished = await run(command(confinement, folder, "while True: pass"))
    assert finished.exit_code in {-24, -9}
    assert finished.stopped is None


FORKS = """
import os, time
for _ in range(200):
    if os.fork() == 0: time.sleep(600)
time.sleep(600)
"""
EATS = """
import os, time
for _ in range(4):
    if os.fork() == 0:
        kept = bytearray(80 << 20)
        time.sleep(600)
time.sleep(600)
"""


async def limited(confinement: Confinement, folder: Path, code: str) -> tuple[Finished, str]:
    """Run with a Halt, and return its figure too."""
    halt = Halt()
    return await run(command(confinement, folder, code), halt=halt), halt.figure


@pytest.mark.parametrize("groups", [True, False])
async def test_memory_of_all_processes_is_bounded(
    confinement: Confinement, folder: Path, *, groups: bool
) -> None:
    here = confinement if groups else replace(confinement, groups=None)
    finished, figure = await limited(here, folder, EATS)
    assert finished.stopped is Stop.MEMORY_LIMIT
    assert figure == "200.0 MB"


@pytest.mark.parametrize("groups", [True, False])
async def test_processes_are_bounded(
    confinement: Confinement, folder: Path, *, groups: bool
) -> None:
    here = confinement if groups else replace(confinement, groups=None)
    finished, figure = await limited(here, folder, FORKS)
    assert figure in {"32", ""}
    if finished.stopped is None:  # the kernel refused, and the program could not go on
        assert "BlockingIOError" in finished.stderr
    else:
        assert finished.stopped is Stop.PROCESS_LIMIT


async def test_without_a_group_root_gives_the_sandbox_to_another_user(folder: Path) -> None:
    settings = RunnerSettings(data=folder / "data", python=SYSTEM_PYTHON, cgroups=False)
    found = await confine(settings)
    limits = limits_in_force(settings, found)
    assert found.groups is None
    if os.geteuid() != 0:
        assert (limits.enforced_by, found.account) == ("rlimit and watch", None)
        return
    assert (limits.enforced_by, limits.user) == ("rlimit and watch", "nobody")
    os.chown(folder, found.account.uid, found.account.gid) if found.account else None
    bounds = replace(bounds_of(settings), processes=20)
    code = "import os\nprint(os.getuid())\n" + FORKS
    finished = await run(command(replace(found, bounds=bounds), folder, code))
    assert finished.stopped is None
    assert finished.stdout == f"{found.account.uid if found.account else ''}\n"
    assert "BlockingIOError" in finished.stderr


async def test_an_interpreter_of_root_alone_leaves_the_sandbox_to_root(folder: Path) -> None:
    (folder / "data").mkdir(mode=0o700)
    settings = RunnerSettings(data=folder / "data", python=SYSTEM_PYTHON, cgroups=False)
    limits = await Jail(settings).limits()
    assert limits.enforced_by == ("watch" if os.geteuid() == 0 else "rlimit and watch")


async def test_a_machine_without_bubblewrap_says_so(folder: Path) -> None:
    jail = Jail(RunnerSettings(data=folder / "data", bwrap="no-such-bwrap"))
    (problem,) = await jail.problems()
    assert problem.startswith("`no-such-bwrap` was not found: install bubblewrap, or set sandbox")
    assert "no-such-bwrap" in await jail.fault()


async def test_an_earlier_runners_groups_are_swept(folder: Path) -> None:
    parent = cgroup.find()
    if parent is not None:
        left = cgroup.create(parent, f"{cgroup.mark_of(folder / 'data')}-1-1", 1 << 30, 16)
        await confine(RunnerSettings(data=folder / "data"))
        assert not left.pids.exists()


@pytest.fixture
async def bare(settings: RunnerSettings) -> AsyncIterator[Api]:
    """Serve without a sandbox."""
    bare = structs.replace(settings, sandbox=SandboxName.NONE)
    async with TestServer(create_app(bare)) as server, ClientSession() as session:
        yield Api(session, str(server.make_url("/v1")))


async def test_without_a_sandbox_a_changed_evaluator_is_noticed(bare: Api) -> None:
    source = submission("open('reference.py', 'a').write('x = 1')\nlaunch()\nreturn line.upper()")
    result = await bare.run_one(hostile_job(source))
    assert result.status is BenchmarkStatus.FAILED
    assert result.failure is not None
    assert result.failure.kind is FailureKind.EVALUATOR_CHANGED
    assert result.failure.detail == "reference.py"
    assert (await bare.run_one(hostile_job(GOOD))).kernels == 1


async def test_without_a_sandbox_daemons_are_ended_all_the_same(
    bare: Api, settings: RunnerSettings
) -> None:
    source = submission(
        "subprocess.Popen(['sleep', '600'], start_new_session=True)\nreturn line.upper()"
    )
    await bare.run_one(hostile_job(source, Mode.TEST))
    assert of_jobs(settings.folder / "work") == []


@pytest.mark.parametrize("name", list(SandboxName))
async def test_the_manifest_tells_what_was_around_it(
    settings: RunnerSettings, name: SandboxName
) -> None:
    app = create_app(structs.replace(settings, sandbox=name, max_processes=99))
    async with TestServer(app) as server, ClientSession() as session:
        api = Api(session, str(server.make_url("/v1")))
        spec = hostile_job(GOOD)
        await api.run(spec)
        _, body = await api.call("GET", f"/jobs/{spec.id}/artifacts/manifest.json")
        health = await api.health()
    limits = json.loads(body)["system"]["limits"]
    assert limits["sandbox"] == name.value
    assert limits["processes"] == 99
    assert limits["enforced_by"]
    assert health.system.limits is not None
    assert health.system.limits.sandbox == name.value

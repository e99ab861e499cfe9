"""`popcorn submit --profile-brev`, and the lists of the interactive screen."""

import asyncio
import io
import zipfile
from typing import Any

from bot.services import Services
from bot.storage.terminal_jobs import NUMBER_DIGITS
from tests.web.client import Terminal
from tests.web.conftest import submission

STARTER = submission("linalg/qr_v2", "starter.py")


async def ended(terminal: Terminal, job_id: str) -> Any:  # noqa: ANN401 - JSON
    while True:
        state = (await terminal.get(f"/jobs/{job_id}")).json
        if state["status"] not in {"queued", "running"}:
            return state
        await asyncio.sleep(0.05)


async def test_a_job_and_its_zips(terminal: Terminal) -> None:
    accepted = await terminal.post_file(
        "/profile", "k.py", STARTER, leaderboard="QR_v2", benchmark_index="0"
    )
    assert accepted.status == 202
    job_id = accepted.json["job_id"]
    state = await ended(terminal, job_id)
    assert state["status"] == "succeeded"
    (artifact,) = state["artifacts"]
    assert artifact["name"].startswith("profile.0-batch-20-n-32")
    assert artifact["url"] == f"/jobs/{job_id}/artifacts/{artifact['name']}"
    zipped = await terminal.get(artifact["url"])
    with zipfile.ZipFile(io.BytesIO(zipped.body)) as archive:
        assert "profile.ncu-rep" in archive.namelist()


async def test_a_job_without_counters_says_why(terminal: Terminal) -> None:
    accepted = await terminal.post_file(
        "/profile", "k.py", STARTER, leaderboard="qr_v2", benchmark_index="2"
    )
    state = await ended(terminal, accepted.json["job_id"])
    assert state["status"] == "failed"
    assert "recordings only" in state["error"]


async def test_health_names_the_options_that_the_client_asks_about(terminal: Terminal) -> None:
    health = (await terminal.get("/health")).json
    assert health["capabilities"]["request_capture_options"] == [
        "ncu_kernel_name",
        "ncu_kernel_name_base",
        "ncu_launch_count",
    ]
    assert health["gpus"] == ["H200"]


async def test_lists_have_what_the_screen_cannot_do_without(terminal: Terminal) -> None:
    boards = (await terminal.get("/leaderboards")).json
    assert {"qr_v2", "vectoradd"} <= {board["name"] for board in boards}
    assert all(isinstance(board["task"], dict) for board in boards)
    assert all(isinstance(board["description"], str) for board in boards)
    assert (await terminal.get("/gpus/qr_v2")).json == ["H200"]
    assert (await terminal.get("/gpus/nothing")).status == 404


async def test_ones_own_submissions(terminal: Terminal, services: Services) -> None:
    accepted = await terminal.post_file(
        "/profile", "k.py", STARTER, leaderboard="qr_v2", benchmark_index="0"
    )
    await ended(terminal, accepted.json["job_id"])
    (listed,) = (await terminal.get("/user/submissions?leaderboard=qr_v2&limit=5")).json
    assert isinstance(listed["id"], int)
    assert listed["file_name"] == "k.py"
    assert listed["runs"][0]["gpu_type"] == "H200"
    shown = (await terminal.get(f"/user/submissions/{listed['id']}")).json
    assert shown["done"] is True
    assert shown["code"].encode() == STARTER
    assert shown["job"] == {"status": "succeeded", "error": None}
    assert (await terminal.get("/user/submissions?leaderboard=nothing")).status == 404
    assert (await terminal.get("/user/submissions?limit=x")).status == 422
    gone = await terminal.get(f"/user/submissions/{listed['id']}", "DELETE")
    assert gone.json == {"status": "ok"}
    assert (await terminal.get(f"/user/submissions/{listed['id']}")).status == 404
    assert (await terminal.get(f"/jobs/{accepted.json['job_id']}")).status == 404


async def test_the_largest_number_of_a_job_is_taken_for_one(terminal: Terminal) -> None:
    number = 16**NUMBER_DIGITS - 1
    refused = await terminal.get(f"/user/submissions/{number}")
    assert refused.status == 404
    assert str(number) in refused.detail


async def test_somebody_elses_job_is_not_there(
    terminal: Terminal, address: str, services: Services
) -> None:
    accepted = await terminal.post_file(
        "/profile", "k.py", STARTER, leaderboard="qr_v2", benchmark_index="0"
    )
    await ended(terminal, accepted.json["job_id"])
    cli_id = (await Terminal(address).get("/auth/init?provider=discord")).json["state"]
    await services.accounts.register(77, "other")
    await services.accounts.link(77, cli_id)
    other = Terminal(address, cli_id)
    assert (await other.get(f"/jobs/{accepted.json['job_id']}")).status == 404

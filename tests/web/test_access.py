"""Ids, their links to users, limits, and the admin's token."""

import pytest
from limits import RateLimitItemPerMinute

from bot.leaderboards.changes import FieldChange
from bot.leaderboards.sync import Skipped, SyncReport
from bot.services import Services
from bot.storage.audit import Who
from bot.web import visitors
from bot.web.administration import shown_report
from tests.web.client import Terminal
from tests.web.conftest import ADMIN_TOKEN, USER, submission

STARTER = submission("linalg/qr_v2", "starter.py")
PATH = "/profile/qr_v2/H200"


async def test_an_id_counts_only_once_discord_has_linked_it(
    address: str, services: Services
) -> None:
    cli_id = (await Terminal(address).get("/auth/init?provider=github")).json["state"]
    terminal = Terminal(address, cli_id)
    refused = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    assert refused.status == 401
    assert "/register" in refused.detail
    assert cli_id not in refused.body.decode()
    await services.accounts.register(USER, "somebody")
    await services.accounts.link(USER, cli_id)
    assert (await terminal.get("/user/submissions")).json == []
    await services.accounts.unlink(USER)
    assert (await terminal.get("/user/submissions")).status == 401


@pytest.mark.parametrize("cli_id", ["nonsense", "0" * 36, "a" * 5_000])
async def test_ids_that_nobody_has(address: str, cli_id: str) -> None:
    assert (await Terminal(address, cli_id).get("/user/submissions")).status == 401


async def test_no_id(address: str) -> None:
    reply = await Terminal(address).post_file(PATH, "k.py", STARTER)
    assert reply.status == 400
    assert "register" in reply.detail


async def test_a_banned_user_is_refused(terminal: Terminal, services: Services) -> None:
    await services.members.ban(USER, "spam", Who(origin="discord"))
    reply = await terminal.post_file(PATH, "k.py", STARTER)
    assert reply.status == 403
    assert "spam" in reply.detail


async def test_those_who_try_ids_have_to_wait(
    address: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "A_WRONG_ID", RateLimitItemPerMinute(3))
    wrong = Terminal(address, "00000000-0000-4000-8000-000000000000")
    for _ in range(3):
        assert (await wrong.get("/user/submissions")).status == 401
    reply = await wrong.get("/user/submissions")
    assert reply.status == 429
    assert reply.headers["retry-after"] == "60"


async def test_an_id_and_offers_are_limited(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "AN_ID", RateLimitItemPerMinute(2))
    monkeypatch.setattr(visitors, "AN_OFFER", RateLimitItemPerMinute(1, namespace="offer"))
    statuses = [(await terminal.get("/user/submissions")).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    statuses = [(await terminal.get("/auth/init")).status for _ in range(2)]
    assert statuses == [200, 429]
    monkeypatch.setattr(visitors, "AN_ADDRESS", RateLimitItemPerMinute(1, namespace="all"))
    statuses = [(await terminal.get("/leaderboards")).status for _ in range(2)]
    assert statuses == [200, 429]


def test_what_an_admin_is_shown_of_a_sync() -> None:
    held = Skipped("a", "needs confirmation", (FieldChange("benchmarks", "1 → 2"),))
    report = SyncReport(commit=None, skipped=(held,), unchanged=("b",), closed=("c",))
    assert [(one["name"], one["reason"]) for one in shown_report(report)["skipped"]] == [
        ("a", "needs confirmation: --force does it"),
        ("b", "no changes"),
        ("c", "closed: it left the repository"),
    ]


async def test_the_admin_stops_and_starts_everything(terminal: Terminal, address: str) -> None:
    assert (await terminal.post_json("/admin/stop", None)).status == 401
    admin = Terminal(address, headers={"authorization": f"Bearer {ADMIN_TOKEN}"})
    assert (await admin.post_json("/admin/stop", None)).status == 200
    refused = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    assert refused.status == 503
    assert "admin" in refused.detail
    assert (await admin.post_json("/admin/start", None)).status == 200
    taken = await terminal.post_file(PATH, "k.py", STARTER, benchmark_index="0")
    assert taken.events[-1][0] == "result"


async def test_the_admin_updates_problems(address: str) -> None:
    admin = Terminal(address, headers={"authorization": f"Bearer {ADMIN_TOKEN}"})
    update = '{"repository": "%s", "branch": null, "force": false, "visibility": "closed"}'
    report = (await admin.post_json("/admin/update-problems", update % ".")).json
    assert (report["created"], report["errors"]) == ([], [])
    assert "qr_v2" in report["unchanged"]
    assert {"name": "qr_v2", "reason": "no changes"} in report["skipped"]
    refused = await admin.post_json("/admin/update-problems", update % "/etc")
    assert refused.status == 400
    assert "/etc" in refused.detail
    assert (await admin.post_json("/admin/update-problems", "{}")).status == 422
    assert (await admin.get("/admin/stats")).status == 501


async def test_nothing_there(terminal: Terminal) -> None:
    reply = await terminal.get("/nowhere")
    assert reply.status == 404
    assert reply.detail

"""The small Discord itself: what it takes, what it refuses, and that nothing in it is lost."""

import aiohttp
import pytest

from tests.discord.calls import Call
from tests.discord.client import TOKEN, SmallDiscord
from tests.discord.faults import Effect, Fault
from tests.discord.orders import Slash
from tests.discord.rest import API
from tests.discord.stage import Stage, channel_of, job_of
from tests.discord.world import APPLICATION, Rules

BOT = {"Authorization": f"Bot {TOKEN}"}
TYPED = Slash(user=1, command=("register",), channel=channel_of(1))
Answer = tuple[int, dict[str, object], dict[str, str]]


async def ask(
    discord: SmallDiscord,
    method: str,
    path: str,
    body: object = None,
    headers: dict[str, str] = BOT,
) -> Answer:
    """Call the API as a bot; return status, body and headers."""
    session, url = discord.session, discord.url + API + path
    async with session.request(method, url, json=body, headers=headers) as response:
        text = await response.json() if response.content_length else {}
        return response.status, text, dict(response.headers)


async def dm(discord: SmallDiscord, user: int) -> str:
    """Open the direct messages with a user; return the path of its messages."""
    _, channel, _ = await ask(discord, "POST", "/users/@me/channels", {"recipient_id": str(user)})
    return f"/channels/{channel['id']}/messages"


def text(content: str) -> dict[str, object]:
    return {"content": content, "allowed_mentions": {"parse": []}}


async def test_a_profile_goes_through_real_processes(place: Stage) -> None:
    await place.start()
    await place.register(1)
    assert (await place.profile(1, "hold: 0.5")).reached
    result = await place.result(1)
    assert result.ephemeral
    assert len(await job_of(place.discord, result)) == 32
    assert await place.stop() == 0
    counts = await place.discord.counts()
    assert counts.broken == {}
    assert counts.calls[Call.COMMANDS] == 1


async def test_a_bot_that_is_sent_away_resumes(place: Stage) -> None:
    await place.start()
    await place.discord.reconnect()
    await place.register(1)
    assert (await place.discord.counts()).identified == 1


async def test_no_message_is_lost_when_discord_is_killed(discord: SmallDiscord) -> None:
    await ask(discord, "POST", await dm(discord, 1), text("x"))
    before = await discord.seen(1)
    await discord.killed_and_started()
    assert await discord.seen(1) == before
    assert [one.message.content for one in before] == ["x"]


async def test_nobody_answers_where_no_bot_is(discord: SmallDiscord) -> None:
    assert not (await discord.slash(TYPED)).reached


async def test_a_sixth_message_in_five_seconds_is_refused(discord: SmallDiscord) -> None:
    path = await dm(discord, 1)
    for n in range(5):
        status, _, headers = await ask(discord, "POST", path, text(f"{n}"))
        assert status == 200
        assert headers["X-RateLimit-Remaining"] == str(4 - n)
    status, body, headers = await ask(discord, "POST", path, text("5"))
    assert status == 429
    assert 0 < float(str(body["retry_after"])) <= 5
    assert "Via" in headers
    assert (await discord.counts()).broken == {Call.SEND: 1}
    assert [one.message.content for one in await discord.seen(1)] == list("01234")


async def test_an_over_long_text_and_a_wrong_token_are_refused(discord: SmallDiscord) -> None:
    path = await dm(discord, 1)
    status, body, _ = await ask(discord, "POST", path, text("x" * 2_001))
    assert (status, body["code"]) == (400, 50035)
    status, body, _ = await ask(discord, "POST", path, text("x"), headers={})
    assert (status, body["code"]) == (401, 40001)
    assert await discord.seen(1) == []


async def test_a_repeated_nonce_is_one_message(discord: SmallDiscord) -> None:
    path = await dm(discord, 1)
    for _ in range(2):
        await ask(discord, "POST", path, {**text("x"), "nonce": "n", "enforce_nonce": True})
    assert len(await discord.seen(1)) == 1


async def test_closed_direct_messages_show_at_the_first_message(discord: SmallDiscord) -> None:
    await discord.rules(Rules(closed=frozenset({1})))
    status, body, _ = await ask(discord, "POST", await dm(discord, 1), text("x"))
    assert (status, body["code"]) == (403, 50007)


async def test_only_the_members_of_a_private_thread_see_it(discord: SmallDiscord) -> None:
    parent = f"/channels/{channel_of(1)}/threads"
    _, thread, _ = await ask(discord, "POST", parent, {"name": "yours", "type": 12})
    await ask(discord, "PUT", f"/channels/{thread['id']}/thread-members/1")
    await ask(discord, "POST", f"/channels/{thread['id']}/messages", text("x"))
    assert [one.message.content for one in await discord.seen(1)] == ["x"]
    assert await discord.seen(2) == []


async def test_an_unanswered_interaction_has_no_webhook(discord: SmallDiscord) -> None:
    typed = await discord.slash(TYPED)
    path = f"/webhooks/{APPLICATION}/{typed.token}/messages/@original"
    status, body, _ = await ask(discord, "PATCH", path, text("x"))
    assert (status, body["code"]) == (404, 10015)


@pytest.mark.parametrize("effect", [Effect.LOSE, Effect.DROP, Effect.REFUSE])
async def test_a_fault_hits_the_call_it_is_for(discord: SmallDiscord, effect: Effect) -> None:
    path = await dm(discord, 1)
    await discord.fault(Fault(call=Call.SEND, user=1, nth=2, effect=effect))
    statuses = []
    for content in "abc":
        try:
            status, _, _ = await ask(discord, "POST", path, text(content))
        except aiohttp.ClientError:
            status = 0
        statuses.append(status)
    assert statuses == [200, 0 if effect is Effect.DROP else 500, 200]
    seen = [one.message.content for one in await discord.seen(1)]
    assert seen == (["a", "c"] if effect is Effect.REFUSE else ["a", "b", "c"])

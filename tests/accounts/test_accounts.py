"""Accounts, terminals and bans, on both databases."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from bot.accounts.cli_id import OFFER_LIFE, digest
from bot.jobs.errors import (
    Banned,
    CliIdTaken,
    CliIdUnknown,
    CliIdUnreadable,
    NotRegistered,
    Refused,
)
from bot.storage import accounts
from bot.storage.accounts import Accounts
from bot.storage.bans import MAX_REASON, Bans
from bot.storage.database import Database
from bot.storage.tables import CliIdRow
from tests.accounts.conftest import ALICE, BOB


@pytest.fixture
async def both(database: Database) -> Accounts:
    """Register alice and bob."""
    made = Accounts(database)
    await made.register(ALICE, "alice")
    await made.register(BOB, "bob")
    return made


async def test_an_id_speaks_for_its_owner_alone(both: Accounts, database: Database) -> None:
    cli_id = await both.offer_cli_id()
    assert await both.user_of_cli_id(cli_id) is None
    assert await both.link(ALICE, f" {cli_id.upper()} ")
    assert not await both.link(ALICE, cli_id)
    assert await both.user_of_cli_id(cli_id.upper()) == ALICE
    with pytest.raises(CliIdTaken):
        await both.link(BOB, cli_id)
    assert await both.user_of_cli_id(cli_id) == ALICE
    assert await both.user_of_cli_id("no id") is None
    async with database.begin() as session:
        (row,) = await session.scalars(select(CliIdRow))
        assert row.digest == digest(cli_id)
        found = await accounts.find(session, ALICE)
    assert found is not None
    assert found.linked


async def test_a_new_id_replaces_the_old_one(both: Accounts) -> None:
    first, second = await both.offer_cli_id(), await both.offer_cli_id()
    await both.link(ALICE, first)
    assert await both.link(ALICE, second)
    assert await both.user_of_cli_id(first) is None
    assert await both.user_of_cli_id(second) == ALICE
    with pytest.raises(CliIdUnknown):
        await both.link(BOB, first)


async def test_an_id_can_be_revoked(both: Accounts) -> None:
    cli_id = await both.offer_cli_id()
    await both.link(ALICE, cli_id)
    assert await both.unlink(ALICE)
    assert not await both.unlink(ALICE)
    assert await both.user_of_cli_id(cli_id) is None


async def test_only_fresh_ids_of_this_server_can_be_linked(
    both: Accounts, database: Database
) -> None:
    with pytest.raises(CliIdUnreadable):
        await both.link(ALICE, "my id")
    with pytest.raises(CliIdUnknown):
        await both.link(ALICE, "0f8fad5b-d9cb-469f-a165-70867728950e")
    late = await both.offer_cli_id()
    async with database.begin() as session:
        old = datetime.now(UTC) - OFFER_LIFE - timedelta(seconds=1)
        await session.execute(update(CliIdRow).values(offered_at=old))
    with pytest.raises(CliIdUnknown):
        await both.link(ALICE, late)
    await both.offer_cli_id()
    async with database.begin() as session:
        digests = list(await session.scalars(select(CliIdRow.digest)))
    assert digest(late) not in digests
    with pytest.raises(NotRegistered):
        await both.link(3, await both.offer_cli_id())


async def test_a_linked_id_lives_on(both: Accounts, database: Database) -> None:
    cli_id = await both.offer_cli_id()
    await both.link(ALICE, cli_id)
    async with database.begin() as session:
        old = datetime.now(UTC) - timedelta(days=400)
        await session.execute(update(CliIdRow).values(offered_at=old))
    await both.offer_cli_id()
    assert await both.user_of_cli_id(cli_id) == ALICE


async def test_of_two_who_claim_an_id_at_once_one_gets_it(both: Accounts) -> None:
    cli_id = await both.offer_cli_id()

    async def claim(user_id: int) -> str:
        try:
            return str(await both.link(user_id, cli_id))
        except Refused as refused:
            return type(refused).__name__

    claimed = Counter(await asyncio.gather(*(claim(user) for user in [ALICE, BOB] * 8)))
    assert claimed == {"True": 1, "False": 7, "CliIdTaken": 8}


async def test_bans_hold_for_those_without_an_account_and_after_a_restart(
    database: Database,
) -> None:
    bans = Bans(database)
    bans.let_in(BOB)
    await bans.add(BOB, ALICE, "x" * 1_000)
    await bans.add(BOB, ALICE, "spam" * 200)
    again = Bans(database)
    await again.load()
    for known in (bans, again):
        with pytest.raises(Banned) as banned:
            known.let_in(BOB)
        assert banned.value.reason == ("spam" * 200)[:MAX_REASON]
        known.let_in(ALICE)
    assert await bans.remove(BOB)
    assert not await bans.remove(BOB)
    bans.let_in(BOB)

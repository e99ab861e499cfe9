"""Whose jobs a terminal finds: those that Discord delivers are none of them."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.services import Services
from tests.delivery.conftest import address
from tests.jobs.test_service import REQUEST


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_terminal_finds_jobs_of_terminals_alone(services: Services) -> None:
    stored, wanted = services.terminal_jobs, services.jobs.wanted(REQUEST)
    since = datetime.now(UTC) - timedelta(minutes=10)
    await services.jobs.submit(REQUEST, address())
    assert await stored.find_same(wanted, since) is None
    assert await stored.unfinished() == ()
    own = await services.jobs.submit(REQUEST)
    await services.jobs.submit(REQUEST, address())
    found = await stored.find_same(wanted, since)
    assert found is not None
    assert found.id == own.id
    assert [job.id for job in await stored.unfinished()] == [own.id]

"""Alembic's entry: runs the revisions on the database that bot.storage.migrate names."""

import asyncio

from alembic import context
from sqlalchemy import Connection, pool
from sqlalchemy.ext.asyncio import create_async_engine

from bot.storage.tables import Base


def run(connection: Connection) -> None:
    """Run the revisions in one transaction."""
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        # SQLite cannot alter a table; Alembic then copies it.
        render_as_batch=connection.dialect.name == "sqlite",
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


async def main() -> None:
    """Connect by the program's own URL."""
    engine = create_async_engine(context.config.attributes["url"], poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(run)
        await connection.commit()
    await engine.dispose()


asyncio.run(main())

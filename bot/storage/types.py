"""Column types."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Integer
from sqlalchemy.types import TypeDecorator

BigId = BigInteger().with_variant(Integer(), "sqlite")
"""A number of 64 bits that the database counts up; SQLite counts in INTEGER alone, which has 64."""


class UtcDateTime(TypeDecorator[datetime]):
    """A moment. Refuses naive values, stores UTC, gives back aware ones on every database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn a moment into UTC. Raises ValueError for one without a zone."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"naive datetime {value.isoformat()}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give SQLite's naive values their zone back."""
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)

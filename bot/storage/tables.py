"""The tables. Structured values that are only read as a whole are kept as JSON text."""

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from bot.storage.types import BigId, UtcDateTime

NAMES = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class Base(DeclarativeBase):
    """Base of every table; constraints are named by a rule so that migrations can find them."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: UtcDateTime}  # noqa: RUF012 - SQLAlchemy's own attribute


class UserRow(Base):
    """A registered Discord user; `id` is Discord's.

    Since `left_at` there is no account; the row stays as long as jobs count against its quotas.
    """

    __tablename__ = "users"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(100))
    created_at: Mapped[datetime]
    left_at: Mapped[datetime | None]


class BanRow(Base):
    """A Discord user, with or without an account, who may not use the bot.

    `by` is the admin's Discord id.
    """

    __tablename__ = "bans"

    user_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[datetime]
    by: Mapped[int | None] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(String(400))


class CliIdRow(Base):
    """An id that was handed to a popcorn-cli; `digest` is its SHA-256, the id is kept nowhere.

    `user_id` is null until its owner has linked it.
    """

    __tablename__ = "cli_ids"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[int | None] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), unique=True
    )
    offered_at: Mapped[datetime]


class QuotaOverrideRow(Base):
    """How many jobs a rule of the settings allows one user; `rule` is bot.accounts.quota's key."""

    __tablename__ = "quota_overrides"

    user_id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    rule: Mapped[str] = mapped_column(String(400), primary_key=True)
    jobs: Mapped[int]


class LeaderboardRow(Base):
    """A leaderboard; `key` is its name case folded.

    `source` is what it was synced from, `commit` the one whose files and shapes it has.
    `closed_by` is the admin who closed it, null where a sync did. `check_result` is
    bot.leaderboards.check.model.CheckResult as JSON, null where it was not made.
    """

    __tablename__ = "leaderboards"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    key: Mapped[str] = mapped_column(String(400), unique=True)
    name: Mapped[str] = mapped_column(String(200))
    competition: Mapped[str] = mapped_column(String(200), index=True)
    directory: Mapped[str] = mapped_column(String(500))
    deadline: Mapped[datetime | None]
    closed_at: Mapped[datetime | None]
    commit: Mapped[str | None] = mapped_column(String(40))
    created_at: Mapped[datetime]
    source: Mapped[str | None] = mapped_column(String(600))
    problem_set: Mapped[str] = mapped_column(String(255), default="", server_default="")
    closed_by: Mapped[int | None] = mapped_column(BigInteger)
    check_result: Mapped[str | None] = mapped_column(Text)
    check_overridden: Mapped[bool] = mapped_column(default=False, server_default=false())


class LeaderboardGpuRow(Base):
    """A GPU that the competition YAML lists, in its order."""

    __tablename__ = "leaderboard_gpus"

    leaderboard_id: Mapped[int] = mapped_column(
        ForeignKey("leaderboards.id", ondelete="CASCADE"), primary_key=True
    )
    name: Mapped[str] = mapped_column(String(100), primary_key=True)
    position: Mapped[int]


class VersionRow(Base):
    """A state of a leaderboard's task; a job keeps the one that it was started with.

    `task` is bot.leaderboards.model.Task as JSON, `commit` the one in which it was first seen.
    """

    __tablename__ = "problem_versions"
    __table_args__ = (UniqueConstraint("leaderboard_id", "number"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    leaderboard_id: Mapped[int] = mapped_column(ForeignKey("leaderboards.id"))
    number: Mapped[int]
    task: Mapped[str] = mapped_column(Text)
    commit: Mapped[str | None] = mapped_column(String(40))
    config_sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]


class AuditRow(Base):
    """Something that an admin did, or a sync without one. Never changed once it has ended.

    `actor` is a Discord user's id, null on the command line and for what runs by itself;
    `arguments` is JSON. A row whose `ended_at` is null was not heard of again.
    """

    __tablename__ = "audit"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    at: Mapped[datetime] = mapped_column(index=True)
    ended_at: Mapped[datetime | None] = mapped_column(index=True)
    origin: Mapped[str] = mapped_column(String(40))
    actor: Mapped[int | None] = mapped_column(BigInteger)
    actor_name: Mapped[str] = mapped_column(String(100))
    guild_id: Mapped[int | None] = mapped_column(BigInteger)
    action: Mapped[str] = mapped_column(String(100))
    subject: Mapped[str | None] = mapped_column(String(400), index=True)
    arguments: Mapped[str] = mapped_column(Text)
    outcome: Mapped[str] = mapped_column(Text)


class JobRow(Base):
    """A job: what was asked, and where it stands.

    `options`, `benchmarks`, `notes` and `result` are the wire's CaptureOptions, Benchmark list,
    list of sentences and JobResult as JSON. Since `files_gone_at` none of its files is here;
    since `deleted_at` the row only counts, and what its author sent and got is wiped. `charged`
    says whether it counts against its author's quotas; it does until its end is known.
    """

    __tablename__ = "jobs"
    __table_args__ = (
        Index("ix_jobs_user_id_created_at", "user_id", "created_at"),
        Index(
            "ix_jobs_deleted_at",
            "deleted_at",
            sqlite_where=text("deleted_at IS NOT NULL"),
            postgresql_where=text("deleted_at IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("problem_versions.id"), index=True)
    leaderboard: Mapped[str] = mapped_column(String(200))
    commit: Mapped[str | None] = mapped_column(String(40))
    gpu: Mapped[str] = mapped_column(String(100))
    runner: Mapped[str] = mapped_column(String(63))
    file_name: Mapped[str] = mapped_column(String(255))
    submission: Mapped[bytes] = mapped_column(LargeBinary)
    submission_sha256: Mapped[str] = mapped_column(String(64))
    config_sha256: Mapped[str] = mapped_column(String(64))
    options: Mapped[str] = mapped_column(Text)
    benchmarks: Mapped[str] = mapped_column(Text)
    notes: Mapped[str] = mapped_column(Text)
    channel_id: Mapped[int | None] = mapped_column(BigInteger)
    guild_id: Mapped[int | None] = mapped_column(BigInteger)
    phase: Mapped[str] = mapped_column(String(20), index=True)
    phase_at: Mapped[datetime]
    created_at: Mapped[datetime]
    failure_kind: Mapped[str | None] = mapped_column(String(40))
    charged: Mapped[bool] = mapped_column(default=True, server_default=true())
    result: Mapped[str | None] = mapped_column(Text)
    files_gone_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]


class JobPhaseRow(Base):
    """When a job entered a phase."""

    __tablename__ = "job_phases"

    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), index=True)
    phase: Mapped[str] = mapped_column(String(20))
    at: Mapped[datetime]


class ArtifactRow(Base):
    """A file of a job on the bot's disk; its place follows from job id and name."""

    __tablename__ = "artifacts"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(120), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime]


class DrainRow(Base):
    """A runner that gets no new job until an admin lets it; `by` is the admin's Discord id."""

    __tablename__ = "drained_runners"

    runner: Mapped[str] = mapped_column(String(63), primary_key=True)
    at: Mapped[datetime]
    by: Mapped[int | None] = mapped_column(BigInteger)


class RecallRow(Base):
    """A job that its runner is to drop, and is never given again: it moved, or it is over.

    `done_at` is when the runner was told, null while it has not been reached.
    """

    __tablename__ = "recalls"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    runner: Mapped[str] = mapped_column(String(63), primary_key=True, index=True)
    at: Mapped[datetime]
    done_at: Mapped[datetime | None]


class OutageRow(Base):
    """A GPU without a runner in service, of which admins have been told. `gpu` is GpuNames' key."""

    __tablename__ = "outages"

    gpu: Mapped[str] = mapped_column(String(100), primary_key=True)
    told_at: Mapped[datetime]


class DeliveryRow(Base):
    """How a job's result comes to its author; `token` is wiped when it is of no more use.

    `way` is the one tried last, `words` say why there is no result; with `over_at` the author has
    everything.
    """

    __tablename__ = "deliveries"

    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True)
    application_id: Mapped[int] = mapped_column(BigInteger)
    token: Mapped[str | None] = mapped_column(Text)
    expires_at: Mapped[datetime]
    upload_limit: Mapped[int] = mapped_column(BigInteger)
    way: Mapped[str | None] = mapped_column(String(20))
    words: Mapped[str | None] = mapped_column(Text)
    over_at: Mapped[datetime | None] = mapped_column(index=True)


class DeliveryPartRow(Base):
    """A message of a reply: opened with a placeholder, then filled."""

    __tablename__ = "delivery_parts"

    job_id: Mapped[str] = mapped_column(
        ForeignKey("deliveries.job_id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    way: Mapped[str] = mapped_column(String(20))
    message_id: Mapped[int] = mapped_column(BigInteger)
    opened_at: Mapped[datetime]
    filled_at: Mapped[datetime | None]


class GateRow(Base):
    """There is one while no jobs are taken."""

    __tablename__ = "gate"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    closed_at: Mapped[datetime]

"""Ids of 64 bit, files that are kept for a time, and what is known of runners."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COUNTED = ("leaderboards", "problem_versions", "audit", "job_phases")
"""Tables whose ids the database counts up."""
REFERRING = (
    ("leaderboard_gpus", "leaderboard_id"),
    ("problem_versions", "leaderboard_id"),
    ("jobs", "version_id"),
)


def upgrade() -> None:
    _size_ids(sa.BigInteger(), "BIGINT")
    for column in ("files_gone_at", "deleted_at"):
        op.add_column("jobs", sa.Column(column, sa.DateTime(timezone=True), nullable=True))
    op.create_index(op.f("ix_jobs_user_id_created_at"), "jobs", ["user_id", "created_at"])
    _create_drained_runners()
    _create_recalls()
    _create_outages()


def _size_ids(kind: sa.types.TypeEngine[int], name: str) -> None:
    """SQLite's INTEGER has 64 bits already, and it counts in no other type."""
    if op.get_bind().dialect.name == "sqlite":
        return
    for table in COUNTED:
        op.alter_column(table, "id", type_=kind, existing_nullable=False)
        op.execute(f"ALTER SEQUENCE {table}_id_seq AS {name}")
    for table, column in REFERRING:
        op.alter_column(table, column, type_=kind, existing_nullable=False)


def _create_drained_runners() -> None:
    op.create_table(
        "drained_runners",
        sa.Column("runner", sa.String(length=63), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("runner", name=op.f("pk_drained_runners")),
    )


def _create_recalls() -> None:
    op.create_table(
        "recalls",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("runner", sa.String(length=63), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("done_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_recalls_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "runner", name=op.f("pk_recalls")),
    )
    op.create_index(op.f("ix_recalls_runner"), "recalls", ["runner"])


def _create_outages() -> None:
    op.create_table(
        "outages",
        sa.Column("gpu", sa.String(length=100), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("gpu", name=op.f("pk_outages")),
    )


def downgrade() -> None:
    op.drop_table("outages")
    op.drop_index(op.f("ix_recalls_runner"), table_name="recalls")
    op.drop_table("recalls")
    op.drop_table("drained_runners")
    op.drop_index(op.f("ix_jobs_user_id_created_at"), table_name="jobs")
    with op.batch_alter_table("jobs") as table:
        for column in ("deleted_at", "files_gone_at"):
            table.drop_column(column)
    _size_ids(sa.Integer(), "INTEGER")

"""Whether jobs are taken; jobs that only count are found at once."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "gate",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gate")),
    )
    op.create_index(
        op.f("ix_jobs_deleted_at"),
        "jobs",
        ["deleted_at"],
        sqlite_where=sa.text("deleted_at IS NOT NULL"),
        postgresql_where=sa.text("deleted_at IS NOT NULL"),
    )


def downgrade() -> None:
    op.drop_index(op.f("ix_jobs_deleted_at"), table_name="jobs")
    op.drop_table("gate")

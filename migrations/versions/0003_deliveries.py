"""How each result comes to its author. Jobs of before that never ended are given up."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("application_id", sa.BigInteger(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("upload_limit", sa.BigInteger(), nullable=False),
        sa.Column("way", sa.String(length=20), nullable=True),
        sa.Column("words", sa.Text(), nullable=True),
        sa.Column("over_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_deliveries_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_deliveries")),
    )
    op.create_index(op.f("ix_deliveries_over_at"), "deliveries", ["over_at"])
    op.create_table(
        "delivery_parts",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("way", sa.String(length=20), nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("filled_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"],
            ["deliveries.job_id"],
            name=op.f("fk_delivery_parts_job_id_deliveries"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("job_id", "number", name=op.f("pk_delivery_parts")),
    )
    op.execute(
        "UPDATE jobs SET phase = 'failed', failure_kind = 'job-vanished' "
        "WHERE phase NOT IN ('delivered', 'failed', 'cancelled')"
    )


def downgrade() -> None:
    op.drop_table("delivery_parts")
    op.drop_index(op.f("ix_deliveries_over_at"), table_name="deliveries")
    op.drop_table("deliveries")

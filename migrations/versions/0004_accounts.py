"""Bans, terminals linked to accounts, quotas of single users, and which jobs count."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("users", sa.Column("left_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column(
        "jobs", sa.Column("charged", sa.Boolean(), nullable=False, server_default=sa.true())
    )
    op.create_table(
        "bans",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.BigInteger(), nullable=True),
        sa.Column("reason", sa.String(length=400), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_bans")),
    )
    _create_cli_ids()
    op.create_table(
        "quota_overrides",
        sa.Column("user_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.String(length=400), nullable=False),
        sa.Column("jobs", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "rule", name=op.f("pk_quota_overrides")),
    )


def _create_cli_ids() -> None:
    op.create_table(
        "cli_ids",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=True),
        sa.Column("offered_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_cli_ids_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_cli_ids")),
        sa.UniqueConstraint("user_id", name=op.f("uq_cli_ids_user_id")),
    )


def downgrade() -> None:
    op.drop_table("quota_overrides")
    op.drop_table("cli_ids")
    op.drop_table("bans")
    with op.batch_alter_table("jobs") as table:
        table.drop_column("charged")
    with op.batch_alter_table("users") as table:
        table.drop_column("left_at")

"""Where leaderboards come from, who closed them, what the check said, and the audit table."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("leaderboards") as table:
        table.add_column(sa.Column("source", sa.String(length=600), nullable=True))
        table.add_column(
            sa.Column("problem_set", sa.String(length=255), nullable=False, server_default="")
        )
        table.add_column(sa.Column("closed_by", sa.BigInteger(), nullable=True))
        table.add_column(sa.Column("check_result", sa.Text(), nullable=True))
        table.add_column(
            sa.Column("check_overridden", sa.Boolean(), nullable=False, server_default=sa.false())
        )
    _create_audit()


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("origin", sa.String(length=40), nullable=False),
        sa.Column("actor", sa.BigInteger(), nullable=True),
        sa.Column("actor_name", sa.String(length=100), nullable=False),
        sa.Column("guild_id", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("subject", sa.String(length=400), nullable=True),
        sa.Column("arguments", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    for column in ("at", "ended_at", "subject"):
        op.create_index(op.f(f"ix_audit_{column}"), "audit", [column])


def downgrade() -> None:
    for column in ("subject", "ended_at", "at"):
        op.drop_index(op.f(f"ix_audit_{column}"), table_name="audit")
    op.drop_table("audit")
    with op.batch_alter_table("leaderboards") as table:
        for column in ("check_overridden", "check_result", "closed_by", "problem_set", "source"):
            table.drop_column(column)

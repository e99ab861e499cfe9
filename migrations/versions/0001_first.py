"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_leaderboards()
    _create_users()
    _create_leaderboard_gpus()
    _create_problem_versions()
    _create_jobs()
    _create_artifacts()
    _create_job_phases()


def _create_leaderboards() -> None:
    op.create_table(
        "leaderboards",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=400), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("competition", sa.String(length=200), nullable=False),
        sa.Column("directory", sa.String(length=500), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("commit", sa.String(length=40), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_leaderboards")),
        sa.UniqueConstraint("key", name=op.f("uq_leaderboards_key")),
    )
    op.create_index(op.f("ix_leaderboards_competition"), "leaderboards", ["competition"])


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )


def _create_leaderboard_gpus() -> None:
    op.create_table(
        "leaderboard_gpus",
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["leaderboard_id"],
            ["leaderboards.id"],
            name=op.f("fk_leaderboard_gpus_leaderboard_id_leaderboards"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("leaderboard_id", "name", name=op.f("pk_leaderboard_gpus")),
    )


def _create_problem_versions() -> None:
    op.create_table(
        "problem_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("leaderboard_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("commit", sa.String(length=40), nullable=True),
        sa.Column("config_sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["leaderboard_id"],
            ["leaderboards.id"],
            name=op.f("fk_problem_versions_leaderboard_id_leaderboards"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problem_versions")),
        sa.UniqueConstraint(
            "leaderboard_id", "number", name=op.f("uq_problem_versions_leaderboard_id")
        ),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("leaderboard", sa.String(length=200), nullable=False),
        sa.Column("commit", sa.String(length=40), nullable=True),
        sa.Column("gpu", sa.String(length=100), nullable=False),
        sa.Column("runner", sa.String(length=63), nullable=False),
        sa.Column("file_name", sa.String(length=255), nullable=False),
        sa.Column("submission", sa.LargeBinary(), nullable=False),
        sa.Column("submission_sha256", sa.String(length=64), nullable=False),
        sa.Column("config_sha256", sa.String(length=64), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("benchmarks", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("guild_id", sa.BigInteger(), nullable=True),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("phase_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("failure_kind", sa.String(length=40), nullable=True),
        sa.Column("result", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_jobs_user_id_users")),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["problem_versions.id"],
            name=op.f("fk_jobs_version_id_problem_versions"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    op.create_index(op.f("ix_jobs_phase"), "jobs", ["phase"])
    op.create_index(op.f("ix_jobs_user_id"), "jobs", ["user_id"])
    op.create_index(op.f("ix_jobs_version_id"), "jobs", ["version_id"])


def _create_artifacts() -> None:
    op.create_table(
        "artifacts",
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_artifacts_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "name", name=op.f("pk_artifacts")),
    )


def _create_job_phases() -> None:
    op.create_table(
        "job_phases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=False),
        sa.Column("phase", sa.String(length=20), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_phases_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_phases")),
    )
    op.create_index(op.f("ix_job_phases_job_id"), "job_phases", ["job_id"])


def downgrade() -> None:
    op.drop_index(op.f("ix_job_phases_job_id"), table_name="job_phases")
    op.drop_table("job_phases")
    op.drop_table("artifacts")
    op.drop_index(op.f("ix_jobs_version_id"), table_name="jobs")
    op.drop_index(op.f("ix_jobs_user_id"), table_name="jobs")
    op.drop_index(op.f("ix_jobs_phase"), table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("problem_versions")
    op.drop_table("leaderboard_gpus")
    op.drop_table("users")
    op.drop_index(op.f("ix_leaderboards_competition"), table_name="leaderboards")
    op.drop_table("leaderboards")

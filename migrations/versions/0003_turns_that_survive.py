"""why a turn stopped and who follows it; calls to other systems; messages that wait

Only adds, and gives what it adds a default: processes of the version before go on beside it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TIME = sa.DateTime(timezone=True)
_NOW = sa.text("now()")


def upgrade() -> None:
    op.add_column("turns", sa.Column("lost_at", _TIME))
    op.add_column("turns", sa.Column("stop_reason", sa.String()))
    op.add_column("turns", sa.Column("attended_at", _TIME))
    op.create_index(
        "ix_turns_taken", "turns", ["enqueued_at"], postgresql_where=sa.text("status <> 'queued'")
    )
    op.add_column("turn_tool_calls", sa.Column("sent_at", _TIME))
    op.add_column(
        "ai_settings",
        sa.Column("on_disconnect", sa.String(), nullable=False, server_default="continue"),
    )
    op.add_column(
        "ai_settings",
        sa.Column("disconnect_grace_seconds", sa.Integer(), nullable=False, server_default="60"),
    )
    op.create_check_constraint(
        op.f("ck_ai_settings_on_disconnect"),
        "ai_settings",
        "on_disconnect IN ('continue','cancel')",
    )
    _create_queue()


def _create_queue() -> None:
    op.create_table(
        "ai_queued_sends",
        sa.Column("id", sa.Uuid(), primary_key=True),
        _reference("workspace_id", "workspaces"),
        _reference("chat_id", "ai_chats"),
        _reference("user_id", "users"),
        _reference("session_id", "user_sessions"),
        sa.Column("send_key", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("client_message_id", sa.String()),
        sa.Column("page_id", sa.Uuid(), sa.ForeignKey("pages.id", ondelete="SET NULL")),
        sa.Column("model", sa.String()),
        sa.Column("hurried", sa.Boolean(), nullable=False),
        sa.Column("error_code", sa.String()),
        sa.Column("error_text", sa.String()),
        sa.Column("created_at", _TIME, nullable=False, server_default=_NOW),
        sa.UniqueConstraint("chat_id", "send_key"),
    )


def _reference(name: str, table: str) -> sa.Column[object]:
    key = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, sa.Uuid(), key, nullable=False)

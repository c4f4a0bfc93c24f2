"""messages that wait for the answer before them"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_NOW = sa.text("now()")


def upgrade() -> None:
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
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=_NOW),
        sa.UniqueConstraint("chat_id", "send_key"),
    )


def _reference(name: str, table: str) -> sa.Column[object]:
    key = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, sa.Uuid(), key, nullable=False)

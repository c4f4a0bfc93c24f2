"""providers with their keys and prices; messages as a tree"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

_PRICE = sa.Numeric(14, 6)
_NOW = sa.text("now()")

# An answer follows its question; a question follows the last message that stood when it was
# asked: messages were hidden, in the same transaction, by what replaced them.
_PARENTS = """
UPDATE ai_chat_messages m SET parent_id = coalesce(
    (SELECT t.user_message_id FROM turns t WHERE t.assistant_message_id = m.id LIMIT 1),
    (SELECT b.id FROM ai_chat_messages b
      WHERE b.chat_id = m.chat_id AND b.id < m.id
        AND (b.replaced_at IS NULL OR b.replaced_at > m.created_at)
      ORDER BY b.id DESC LIMIT 1))
"""
_HEADS = """
UPDATE ai_chats c SET head_id = (
    SELECT m.id FROM ai_chat_messages m
     WHERE m.chat_id = c.id AND m.replaced_at IS NULL ORDER BY m.id DESC LIMIT 1)
"""


def upgrade() -> None:
    _settings()
    _credentials()
    _models()
    _chats()


def _settings() -> None:
    op.add_column("ai_settings", sa.Column("small_model", sa.String()))
    op.add_column("ai_settings", sa.Column("context_window", sa.Integer()))
    op.add_column("ai_settings", sa.Column("token_ceiling", sa.Integer()))
    for name, default in (
        ("mcp_enabled", "false"),
        ("show_model_selector", "true"),
        ("catalogue_seeded", "false"),
    ):
        op.add_column(
            "ai_settings",
            sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.text(default)),
        )


def _credentials() -> None:
    op.create_table(
        "ai_provider_credentials",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column(
            "workspace_id",
            sa.Uuid(),
            sa.ForeignKey(
                "workspaces.id",
                name="fk_ai_provider_credentials_workspace_id",
                ondelete="CASCADE",
            ),
            nullable=False,
        ),
        sa.Column("driver", sa.String(), nullable=False),
        sa.Column("base_url", sa.String()),
        sa.Column("api_key_enc", sa.LargeBinary()),
        sa.Column("api_key_origin", sa.String()),
        sa.Column("embedding_base_url", sa.String()),
        sa.Column("embedding_api_key_enc", sa.LargeBinary()),
        sa.Column("embedding_api_key_origin", sa.String()),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.UniqueConstraint(
            "workspace_id", "driver", name="uq_ai_provider_credentials_workspace_id"
        ),
    )


def _models() -> None:
    op.create_table(
        "ai_models",
        sa.Column("id", sa.Uuid(), primary_key=True),
        sa.Column(
            "workspace_id",
            sa.Uuid(),
            sa.ForeignKey("workspaces.id", name="fk_ai_models_workspace_id", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("driver", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("input_price", _PRICE),
        sa.Column("output_price", _PRICE),
        sa.Column("context_window", sa.Integer()),
        sa.Column("allowed", sa.Boolean(), nullable=False),
        sa.UniqueConstraint("workspace_id", "driver", "model", name="uq_ai_models_workspace_id"),
        sa.CheckConstraint("input_price >= 0 AND output_price >= 0", name="ck_ai_models_prices"),
    )


def _chats() -> None:
    op.add_column(
        "ai_chats",
        sa.Column("title_source", sa.String(), nullable=False, server_default="message"),
    )
    op.add_column("ai_chats", sa.Column("model", sa.String()))
    op.add_column("ai_chats", sa.Column("head_id", sa.Uuid()))
    op.add_column("ai_chat_messages", sa.Column("parent_id", sa.Uuid()))
    op.add_column("ai_chat_messages", sa.Column("summary", sa.String()))
    op.execute(_PARENTS)
    op.execute(_HEADS)
    op.drop_column("ai_chat_messages", "replaced_at")
    op.create_foreign_key(
        "fk_ai_chats_head_id",
        "ai_chats",
        "ai_chat_messages",
        ["head_id"],
        ["id"],
        ondelete="SET NULL",
    )
    op.create_foreign_key(
        "fk_ai_chat_messages_parent_id",
        "ai_chat_messages",
        "ai_chat_messages",
        ["parent_id"],
        ["id"],
        ondelete="CASCADE",
    )
    op.create_index("ix_ai_chat_messages_parent", "ai_chat_messages", ["parent_id"])
    # Cascades look for the head; without an index each removed message scans the chats.
    op.create_index("ix_ai_chats_head_id", "ai_chats", ["head_id"])
    op.add_column("turns", sa.Column("context_window", sa.Integer()))
    op.add_column("turns", sa.Column("input_price", _PRICE))
    op.add_column("turns", sa.Column("output_price", _PRICE))
    op.add_column(
        "turn_tool_calls",
        sa.Column("extra", postgresql.JSONB(none_as_null=True, astext_type=sa.Text())),
    )
    op.add_column("ai_generations", sa.Column("error_code", sa.String()))
    op.add_column("ai_generations", sa.Column("settings_version", sa.Integer()))

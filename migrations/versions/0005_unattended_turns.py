"""whether a turn goes on that nobody follows, and for how long"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
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

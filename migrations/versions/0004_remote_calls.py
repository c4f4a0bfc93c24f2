"""when a call to another system left"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("turn_tool_calls", sa.Column("sent_at", sa.DateTime(timezone=True)))

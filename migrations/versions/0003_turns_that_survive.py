"""why a turn stopped, who follows it, and when it was lost

From here on a migration only adds, and gives what it adds a default: processes of the version
before go on beside it. It changes one table at most, so that it waits for one while it holds
none: else it and they could wait for each other.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.add_column("turns", sa.Column("lost_at", _TIME))
    op.add_column("turns", sa.Column("stop_reason", sa.String()))
    op.add_column("turns", sa.Column("attended_at", _TIME))
    op.create_index(
        "ix_turns_taken", "turns", ["enqueued_at"], postgresql_where=sa.text("status <> 'queued'")
    )

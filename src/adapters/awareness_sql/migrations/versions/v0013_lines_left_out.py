"""How many lines of a campaign's results could not be read when a source was polled for them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "source_readings", sa.Column("left_out", sa.BigInteger(), nullable=False, server_default="0")
    )

"""The colour of a company, as its mails show it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("companies", sa.Column("color", sa.Text(), nullable=True))

"""Windows of quotas that several processes count together, on PostgreSQL. Nothing on SQLite, which one process serves.

Not logged, as what is lost in a crash is at most fifteen minutes of counting; half empty pages, so that counting up
rewrites a row in its place. No company's: a subject is an API key or the address of whoever has none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "quota_windows",
        sa.Column("subject", sa.LargeBinary(), nullable=False),
        sa.Column("span", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("ends_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "span", name="quota_windows_pkey"),
        prefixes=["UNLOGGED"],
        postgresql_with={"fillfactor": 50},
    )
    op.create_index("quota_windows_ends_at_idx", "quota_windows", ["ends_at"])

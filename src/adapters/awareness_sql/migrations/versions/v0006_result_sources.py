"""Sources that campaign results come from, and what was read of each.

An operator's transaction sees both, as it sees companies and keys: which sources there are is asked before it is known
whose a notice is. They hold no secret and nothing of a campaign.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "sources",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("api_key_file", sa.Text(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("polled_at", sa.BigInteger(), nullable=True),
        sa.Column("ok_at", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("wanted_at", sa.BigInteger(), nullable=True),
        sa.Column("forged", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("held_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="sources_company_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="sources_pkey"),
        sa.UniqueConstraint("company_id", "name_key", name="sources_company_id_name_key_key"),
    )
    op.create_table(
        "source_readings",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("source_id", _KEY, nullable=False),
        sa.Column("told_id", _KEY, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("read_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name="source_readings_source_id_fkey"),
        sa.PrimaryKeyConstraint("source_id", "told_id", name="source_readings_pkey"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("sources", "source_readings"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY tenant ON {table} USING (company_id = current_setting('app.tenant', true))"
            )
            op.execute(
                f"CREATE POLICY operator ON {table} USING (current_setting('app.operator', true) = 'on')"
            )

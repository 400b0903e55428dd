"""A company's own rules on what a machine did; without a row it has the defaults."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "verdict_rules",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("soon", sa.BigInteger(), nullable=False),
        sa.Column("crowd", sa.BigInteger(), nullable=False),
        sa.Column("crowd_window", sa.BigInteger(), nullable=False),
        sa.Column("burst", sa.BigInteger(), nullable=False),
        sa.Column("burst_window", sa.BigInteger(), nullable=False),
        sa.Column("scanner_agents", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="verdict_rules_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", name="verdict_rules_pkey"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE verdict_rules ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE verdict_rules FORCE ROW LEVEL SECURITY")
        op.execute(
            "CREATE POLICY tenant ON verdict_rules USING (company_id = current_setting('app.tenant', true))"
        )

"""Receipts of requests that must be carried out once, and the answers kept with them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "receipts",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="receipts_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", "id", name="receipts_pkey"),
    )
    op.create_index("receipts_company_id_expires_at_id_idx", "receipts", ["company_id", "expires_at", "id"])
    op.create_table(
        "receipt_parts",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("receipt_id", _KEY, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "receipt_id"],
            ["receipts.company_id", "receipts.id"],
            name="receipt_parts_company_id_receipt_id_fkey",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("company_id", "receipt_id", "number", name="receipt_parts_pkey"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("receipts", "receipt_parts"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY tenant ON {table} USING (company_id = current_setting('app.tenant', true))"
            )

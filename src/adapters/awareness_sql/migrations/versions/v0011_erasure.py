"""What is left of people who were erased: marks of their addresses, and the secret that those are made with.

Recipients tied to nobody are found by address and by external id, as whoever is erased may be among them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "erasure_secrets",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="erasure_secrets_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", name="erasure_secrets_pkey"),
    )
    op.create_table(
        "erased_addresses",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("mark", _KEY, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="erased_addresses_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", "mark", name="erased_addresses_pkey"),
    )
    for name, column, condition in (
        ("recipients_untied_email_key_idx", "email_key", "employee_id IS NULL"),
        (
            "recipients_untied_external_id_idx",
            "external_id",
            "employee_id IS NULL AND external_id IS NOT NULL",
        ),
    ):
        op.create_index(
            name,
            "recipients",
            ["company_id", column],
            sqlite_where=sa.text(condition),
            postgresql_where=sa.text(condition),
        )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("erasure_secrets", "erased_addresses"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY tenant ON {table} USING (company_id = current_setting('app.tenant', true))"
            )

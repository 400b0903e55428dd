"""Companies' identity providers, and which sessions began there.

An operator's transaction sees the providers, as it sees sources: whose they are is asked before it is known of which
company somebody is. They hold no secret.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("sessions", sa.Column("is_sso", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "identity_providers",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("client_id", sa.Text(), nullable=False),
        sa.Column("client_secret_file", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="identity_providers_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", name="identity_providers_pkey"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE identity_providers ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE identity_providers FORCE ROW LEVEL SECURITY")
        op.execute(
            "CREATE POLICY tenant ON identity_providers USING (company_id = current_setting('app.tenant', true))"
        )
        op.execute(
            "CREATE POLICY operator ON identity_providers USING (current_setting('app.operator', true) = 'on')"
        )

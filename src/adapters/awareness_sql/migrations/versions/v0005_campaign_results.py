"""Results of campaigns: recipients, what happened to them, and what the tool that ran a campaign calls it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("campaigns", sa.Column("external_id", _KEY, nullable=True))
    op.add_column("campaigns", sa.Column("difficulty", sa.Text(), nullable=True))
    for count in ("sent", "opened", "clicked", "submitted"):
        column = sa.Column(f"{count}_by_machine", sa.BigInteger(), nullable=False, server_default="0")
        op.add_column("campaigns", column)
    op.create_index(
        "campaigns_company_id_external_id_idx", "campaigns", ["company_id", "external_id"], unique=True
    )
    op.create_table(
        "recipients",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("campaign_id", _KEY, nullable=False),
        sa.Column("email_key", _KEY, nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("external_id", sa.Text(), nullable=True),
        sa.Column("employee_id", _KEY, nullable=True),
        sa.Column("sector_id", sa.BigInteger(), nullable=True),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=True),
        sa.Column("clicked_at", sa.BigInteger(), nullable=True),
        sa.Column("submitted_at", sa.BigInteger(), nullable=True),
        sa.Column("reported_at", sa.BigInteger(), nullable=True),
        sa.Column("error_at", sa.BigInteger(), nullable=True),
        sa.Column("machine", sa.BigInteger(), nullable=False),
        sa.Column("with_machine", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "campaign_id"],
            ["campaigns.company_id", "campaigns.id"],
            name="recipients_company_id_campaign_id_fkey",
        ),
        sa.PrimaryKeyConstraint("company_id", "campaign_id", "email_key", name="recipients_pkey"),
    )
    op.create_index("recipients_company_id_employee_id_idx", "recipients", ["company_id", "employee_id"])
    op.create_table(
        "campaign_events",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("campaign_id", _KEY, nullable=False),
        sa.Column("key", _KEY, nullable=False),
        sa.Column("email_key", _KEY, nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("user_agent", sa.Text(), nullable=True),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("place", _KEY, nullable=True),
        sa.Column("signs", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "campaign_id"],
            ["campaigns.company_id", "campaigns.id"],
            name="campaign_events_company_id_campaign_id_fkey",
        ),
        sa.PrimaryKeyConstraint("company_id", "campaign_id", "key", name="campaign_events_pkey"),
    )
    op.create_index(
        "campaign_events_company_id_campaign_id_email_key_idx",
        "campaign_events",
        ["company_id", "campaign_id", "email_key"],
    )
    op.create_index(
        "campaign_events_company_id_campaign_id_place_idx",
        "campaign_events",
        ["company_id", "campaign_id", "place"],
    )
    if op.get_bind().dialect.name == "postgresql":
        for table in ("recipients", "campaign_events"):
            op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
            op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
            op.execute(
                f"CREATE POLICY tenant ON {table} USING (company_id = current_setting('app.tenant', true))"
            )

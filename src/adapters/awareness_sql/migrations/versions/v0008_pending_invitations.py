"""Invitations decided on whose mail is not settled yet.

An operator's transaction sees whose there are, as it sees companies: somebody looks over all of them for what a crash
has left. They hold no password and no address.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "pending_invitations",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("employee_id", _KEY, nullable=False),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "employee_id"],
            ["employees.company_id", "employees.id"],
            name="pending_invitations_company_id_employee_id_fkey",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("company_id", "employee_id", name="pending_invitations_pkey"),
    )
    op.create_index("pending_invitations_due_at_idx", "pending_invitations", ["due_at"])
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE pending_invitations ENABLE ROW LEVEL SECURITY")
        op.execute("ALTER TABLE pending_invitations FORCE ROW LEVEL SECURITY")
        op.execute(
            "CREATE POLICY tenant ON pending_invitations "
            "USING (company_id = current_setting('app.tenant', true))"
        )
        op.execute(
            "CREATE POLICY operator ON pending_invitations "
            "FOR SELECT USING (current_setting('app.operator', true) = 'on')"
        )

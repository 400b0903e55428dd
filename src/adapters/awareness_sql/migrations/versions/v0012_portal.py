"""What people log in with at the portal: the passwords that they chose, and their sessions.

Two more questions across the wall, as in 0002: who holds the address that somebody logs in with, and whose a session
is. Each tells the company and the person, and nothing else about either.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "chosen_passwords",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("employee_id", _KEY, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "employee_id"],
            ["employees.company_id", "employees.id"],
            name="chosen_passwords_company_id_employee_id_fkey",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("company_id", "employee_id", name="chosen_passwords_pkey"),
    )
    op.create_table(
        "sessions",
        sa.Column("digest", _KEY, nullable=False),
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("employee_id", _KEY, nullable=False),
        sa.Column("must_choose", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "employee_id"],
            ["employees.company_id", "employees.id"],
            name="sessions_company_id_employee_id_fkey",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("digest", name="sessions_pkey"),
    )
    op.create_index("sessions_company_id_employee_id_idx", "sessions", ["company_id", "employee_id"])
    op.create_index(
        "sessions_company_id_expires_at_digest_idx", "sessions", ["company_id", "expires_at", "digest"]
    )
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    for table in ("chosen_passwords", "sessions"):
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON {table} USING (company_id = current_setting('app.tenant', true))"
        )
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    _create_crossing(
        "holders_by_address",
        table="employees",
        returns="TABLE (held_email_key text, company_id text, id text)",
        query="SELECT found.held_email_key, found.company_id, found.id FROM employees AS found "
        "WHERE found.held_email_key = ANY (keys)",
        schema=schema,
    )
    _create_crossing(
        "sessions_by_digest",
        table="sessions",
        returns="TABLE (digest text, company_id text, employee_id text)",
        query="SELECT found.digest, found.company_id, found.employee_id FROM sessions AS found "
        "WHERE found.digest = ANY (keys)",
        schema=schema,
    )


def _create_crossing(function: str, *, table: str, returns: str, query: str, schema: str) -> None:
    op.execute(
        f"CREATE POLICY {function} ON {table} FOR SELECT TO CURRENT_USER "
        f"USING (current_setting('app.crossing', true) = '{function}')"
    )
    op.execute(
        f"""
        CREATE FUNCTION {function}(keys text[]) RETURNS {returns}
        LANGUAGE plpgsql SECURITY DEFINER SET search_path = {schema}, pg_temp
        AS $$
        BEGIN
            PERFORM set_config('app.crossing', '{function}', true);
            RETURN QUERY {query};
            PERFORM set_config('app.crossing', '', true);
        END
        $$
        """
    )
    op.execute(f"REVOKE ALL ON FUNCTION {function}(text[]) FROM PUBLIC")

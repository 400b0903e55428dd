"""A second wall between companies, which PostgreSQL keeps up by itself: row-level security. Nothing on SQLite.

The first wall is the program's: every statement names the company. This one stands when a statement forgets to. A
transaction says whose it is with `set_config('app.tenant', <company id>, true)`, and sees and writes the rows of that
company alone; one that says nothing sees no row of any. FORCE makes it hold for the owner of the tables, too. It holds
for nobody who is a superuser or has BYPASSRLS, which is why the service refuses to run as one.

It is there against mistakes, not against somebody who can already send SQL of their own: whoever can may claim to be
any company. What it leaves open, on purpose:

- `app.operator` opens `companies` and `api_keys` to an operator's transaction: who is here, which keys are there,
  a key to revoke. Nothing of what is a company's own can be seen that way.
- `addresses_held_by_other_companies` tells which of some addresses an active person of another company holds, and
  nothing else about them: an address has one holder in all companies. What it tells a transaction that writes stays
  so until that ends (FOR KEY SHARE, which only a change of the holder waits for), or two companies that each give up
  what the other wants could both be told that it is taken.
- `api_keys_by_public_id` finds keys before it is known which company calls.

The two functions run with the rights of the owner of the tables (SECURITY DEFINER), and the owner sees other
companies' rows only while `app.crossing` has the function's name. So neither does the service see more by setting it,
as it is not the owner, nor the owner without meaning to. Both end by taking it back, as the rest of the transaction
must not inherit it. They find tables in this schema only, whatever the caller's search path, and may be called by those
only to whom it was granted; see `awareness_sql.postgres.roles`.

A later step that adds a table of companies adds `ENABLE` and `FORCE ROW LEVEL SECURITY` and a policy `tenant` to it; a
test finds those that do not.
"""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_OWNER_COLUMNS: Mapping[str, str] = {
    "companies": "id",
    "api_keys": "company_id",
    "sectors": "company_id",
    "employees": "company_id",
    "temporary_passwords": "company_id",
    "campaigns": "company_id",
}


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return
    schema = connection.scalar(sa.text("SELECT quote_ident(current_schema())"))
    for table, column in _OWNER_COLUMNS.items():
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
        op.execute(f"CREATE POLICY tenant ON {table} USING ({column} = current_setting('app.tenant', true))")
    for table in ("companies", "api_keys"):
        op.execute(f"CREATE POLICY operator ON {table} USING (current_setting('app.operator', true) = 'on')")
    held = (
        "SELECT employees.held_email_key FROM employees WHERE employees.held_email_key = ANY (keys) "
        "AND employees.company_id <> current_setting('app.tenant', true)"
    )
    _create_crossing(
        "addresses_held_by_other_companies",
        table="employees",
        returns="TABLE (held_email_key text)",
        body=f"""
            IF current_setting('transaction_read_only')::boolean THEN
                RETURN QUERY {held};
            ELSE
                RETURN QUERY {held} FOR KEY SHARE;
            END IF;
        """,
        schema=schema,
    )
    # A row may be locked by those only who might update it; that this one might not is what the check says.
    op.execute(
        "CREATE POLICY addresses_held_by_other_companies_lock ON employees FOR UPDATE TO CURRENT_USER "
        "USING (current_setting('app.crossing', true) = 'addresses_held_by_other_companies') WITH CHECK (false)"
    )
    _create_crossing(
        "api_keys_by_public_id",
        table="api_keys",
        returns="SETOF api_keys",
        body="RETURN QUERY SELECT * FROM api_keys WHERE api_keys.public_id = ANY (keys);",
        schema=schema,
    )


def _create_crossing(function: str, *, table: str, returns: str, body: str, schema: str) -> None:
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
            {body}
            PERFORM set_config('app.crossing', '', true);
        END
        $$
        """
    )
    op.execute(f"REVOKE ALL ON FUNCTION {function}(text[]) FROM PUBLIC")

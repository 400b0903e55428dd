"""Which role the service may be: one that row-level security says something to.

The tables belong to a role that migrates; the service gets another one, which only reads and writes rows. It may be the
same, as the tables force their policies on their owner, too. It may not be a superuser.
"""

from __future__ import annotations

from awareness_sql.postgres.driver import Driver
from awareness_sql.tables import metadata
from awareness_sql.unfit import DatabaseUnfit

_EXAMINE = """
SELECT current_user,
       bool_or(rolsuper OR rolbypassrls),
       has_database_privilege(current_database(), 'TEMPORARY'),
       ARRAY(SELECT name FROM unnest($1::text[]) AS name WHERE NOT row_security_active(name)),
       current_database()
FROM pg_roles WHERE rolname IN (current_user, session_user)
"""

MAKING_A_ROLE = """\
CREATE ROLE awareness LOGIN PASSWORD '...';
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO awareness;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO awareness;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO awareness;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO awareness;
"""
"""To be run by the role that migrates, before or after it has migrated; only CREATE ROLE may need another one."""


async def require_fit_role(driver: Driver, place: str) -> None:
    """Nothing, or `DatabaseUnfit` saying what is wrong with the role that is connected. Needs the tables."""
    names = list(metadata.tables)
    ((role, is_above, makes_temporary, open_tables, database),) = await driver.fetch(_EXAMINE, names)
    if is_above:
        raise DatabaseUnfit(
            f"The database {place} was opened as '{role}', a superuser or a role with BYPASSRLS, to whom row-level "
            "security says nothing: companies would be kept apart by the program alone. Make a role for the service, "
            "with the SQL that `awareness serve` prints, and name it in database_url.",
            statements=MAKING_A_ROLE,
        )
    if open_tables:
        raise DatabaseUnfit(
            f"The database {place} has no row-level security on {', '.join(open_tables)}; "
            "somebody took it down, so put it up again.",
            statements="".join(
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;\n"
                for table in open_tables
            ),
        )
    if not makes_temporary:
        raise DatabaseUnfit(
            f"The database {place} does not let '{role}' make temporary tables, which large writes go through.",
            statements=f'GRANT TEMPORARY ON DATABASE "{database}" TO "{role}";',
        )

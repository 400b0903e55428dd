"""Which role the service may be: one that row-level security says something to.

The tables belong to a role that migrates; the service gets another one, which only reads and writes rows. It may be the
same, as the tables force their policies on their owner, too. It may not be a superuser.
"""

from __future__ import annotations

from awareness_sql.postgres.driver import Driver
from awareness_sql.tables import metadata

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


async def check_role(driver: Driver) -> str | None:
    """What is wrong with the role that is connected, and what to do; None when nothing is. Needs the tables."""
    names = list(metadata.tables)
    ((role, is_above, makes_temporary, open_tables, database),) = await driver.fetch(_EXAMINE, names)
    if is_above:
        return (
            f"was connected to as '{role}', a superuser or a role with BYPASSRLS, to whom row-level security says "
            "nothing: companies would be kept apart by the program alone. Make a role for the service and name it in "
            f"the URL of the database:\n\n{MAKING_A_ROLE}"
        )
    if open_tables:
        return (
            f"has no row-level security on {', '.join(open_tables)}; restore it with ALTER TABLE ... ENABLE ROW LEVEL "
            "SECURITY and ALTER TABLE ... FORCE ROW LEVEL SECURITY."
        )
    if not makes_temporary:
        return (
            f"does not let '{role}' make temporary tables, which large writes go through: "
            f'GRANT TEMPORARY ON DATABASE "{database}" TO "{role}".'
        )
    return None

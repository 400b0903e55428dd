"""What Alembic runs to migrate: on the connection that `awareness_sql.migration` hands over, in its transaction.

Whoever opened it has taken a lock by then, so that one process at a time reads the version and takes the steps.
"""

from __future__ import annotations

from alembic import context

given = context.config.attributes
context.configure(
    connection=given["connection"], on_version_apply=given["on_version_apply"], transactional_ddl=True
)
with context.begin_transaction():
    context.run_migrations()

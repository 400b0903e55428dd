"""Companies, their keys and their people in an SQL database: SQLite, with nothing to install or to run, or PostgreSQL.

`open_storage(url)` gives the three ports that a database serves; `awareness_sql.migration.migrate(url)` brings its
schema up to date first. SQL is written with SQLAlchemy Core; the drivers run it, behind the seam in `engine`.
"""

from awareness_sql.storage import SqlStorage, open_storage
from awareness_sql.unfit import DatabaseUnfit

__all__ = ["DatabaseUnfit", "SqlStorage", "open_storage"]

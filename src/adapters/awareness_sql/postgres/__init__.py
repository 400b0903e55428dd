"""PostgreSQL behind the seam: asyncpg runs what SQLAlchemy compiled once, and row-level security is a second wall.

Measured for one look-up by key: asyncpg itself 110 µs, SQLAlchemy's engine on it 167 µs in autocommit and 259 µs in a
transaction. Nothing here needs more of SQLAlchemy than its compiler, except to migrate.

Importing this raises `ModuleNotFoundError`, saying what to install, without the driver.
"""

try:
    import asyncpg  # noqa: F401 -- whether it is there
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "a PostgreSQL database needs its driver: pip install 'awareness-core[postgres]'", name="asyncpg"
    ) from error

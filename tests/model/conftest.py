"""The stores that need more than a file."""

from tests.contracts.postgres_database import postgres  # noqa: F401 -- a fixture

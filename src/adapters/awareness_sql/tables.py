"""The schema: what is kept, which rules the database enforces by itself, and what can be found without a search.

Plain types that every database and driver passes through unchanged: texts, integers, booleans, bytes. Moments are whole
milliseconds since 1970 in UTC, durations whole milliseconds, so that order and equality are exact everywhere; what the
columns mean as values is `rows`' business. Every table of a company begins its keys with `company_id`.

Who holds an address is decided by `employees.held_email_key`: the address while its person is active, else NULL, and
unique over all companies. `migrations` brings a database to this state; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    and_,
    false,
    literal_column,
)

SCHEMA_VERSION = "0014"
"""The migration that leads here."""

metadata = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "ck": "%(table_name)s_%(constraint_name)s_check",
    }
)

# PostgreSQL would sort texts by the server's language. What is sorted here must sort as in every other store, and what
# is only compared is compared faster without.
_KEY = Text().with_variant(Text(collation="C"), "postgresql")

companies = Table(
    "companies",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("name", Text, nullable=False),
    Column("name_key", _KEY, nullable=False, unique=True),
    Column("language", Text, nullable=False),
    Column("sso_domains", Text, nullable=False),
    Column("invitation_lifetime", BigInteger, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("color", Text),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("company_id", _KEY, ForeignKey("companies.id"), nullable=False),
    Column("public_id", _KEY, nullable=False, unique=True),
    Column("secret_digest", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
    Column("last_used_at", BigInteger),
    Index(None, "company_id", "created_at", "id"),
)

sectors = Table(
    "sectors",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("name", Text, nullable=False),
    Column("name_key", _KEY, nullable=False),
    UniqueConstraint("company_id", "name_key"),
)

employees = Table(
    "employees",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("id", _KEY, primary_key=True),
    Column("external_id", _KEY),
    Column("email", Text, nullable=False),
    Column("email_key", _KEY, nullable=False),
    Column("email_domain", _KEY, nullable=False),
    Column("held_email_key", _KEY, unique=True),
    Column("last_name", Text, nullable=False),
    Column("first_name", Text, nullable=False),
    Column("job_title", Text),
    Column("phone", Text),
    Column("address", Text),
    Column("sector_id", BigInteger),
    Column("state", Text, nullable=False),
    Column("first_login_at", BigInteger),
    Column("has_password", Boolean, nullable=False),
    Column("last_attempt_at", BigInteger),
    Column("last_sent_at", BigInteger),
    Column("live_until", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("archived_at", BigInteger),
    Column("search_text", Text, nullable=False),
    Column("fingerprint", _KEY),
    UniqueConstraint("company_id", "external_id"),
    ForeignKeyConstraint(["company_id", "sector_id"], ["sectors.company_id", "sectors.id"]),
    CheckConstraint(
        "held_email_key IS NULL OR (held_email_key = email_key AND state = 'active')", name="holds_address"
    ),
    Index(None, "company_id", "email_key", "id"),
    Index(None, "company_id", "sector_id", "id"),
)


def awaiting_password() -> ColumnElement[bool]:
    """Active and without a password. Spelt out, not bound, or the index below would not be recognised."""
    return and_(employees.c.state == literal_column("'active'"), employees.c.has_password == false())


# Small where people have logged in, and then it saves reading the whole company to find the few who have not.
Index(
    "employees_awaiting_password_idx",
    employees.c.company_id,
    employees.c.id,
    sqlite_where=awaiting_password(),
    postgresql_where=awaiting_password(),
)

temporary_passwords = Table(
    "temporary_passwords",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("employee_id", _KEY, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("salt", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["company_id", "employee_id"], ["employees.company_id", "employees.id"], ondelete="CASCADE"
    ),
)

pending_invitations = Table(
    "pending_invitations",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("employee_id", _KEY, primary_key=True),
    Column("decided_at", BigInteger, nullable=False),
    Column("attempts", BigInteger, nullable=False),
    Column("holder", Text),
    Column("due_at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["company_id", "employee_id"], ["employees.company_id", "employees.id"], ondelete="CASCADE"
    ),
    Index(None, "due_at"),
)

chosen_passwords = Table(
    "chosen_passwords",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("employee_id", _KEY, primary_key=True),
    Column("hash", Text, nullable=False),
    Column("changed_at", BigInteger, nullable=False),
    ForeignKeyConstraint(
        ["company_id", "employee_id"], ["employees.company_id", "employees.id"], ondelete="CASCADE"
    ),
)

# Found by digest before it is known of which company they are.
sessions = Table(
    "sessions",
    metadata,
    Column("digest", _KEY, primary_key=True),
    Column("company_id", _KEY, nullable=False),
    Column("employee_id", _KEY, nullable=False),
    Column("must_choose", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("seen_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("is_sso", Boolean, nullable=False, server_default=false()),
    ForeignKeyConstraint(
        ["company_id", "employee_id"], ["employees.company_id", "employees.id"], ondelete="CASCADE"
    ),
    Index(None, "company_id", "employee_id"),
    Index(None, "company_id", "expires_at", "digest"),
)

campaigns = Table(
    "campaigns",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("id", _KEY, primary_key=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("starts_at", BigInteger),
    Column("ends_at", BigInteger),
    Column("listed_at", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("sent", BigInteger, nullable=False),
    Column("opened", BigInteger, nullable=False),
    Column("clicked", BigInteger, nullable=False),
    Column("submitted", BigInteger, nullable=False),
    Column("reported", BigInteger, nullable=False),
    Column("errors", BigInteger, nullable=False),
    Column("machine", BigInteger, nullable=False),
    Column("external_id", _KEY),
    Column("difficulty", Text),
    Column("sent_by_machine", BigInteger, nullable=False, server_default="0"),
    Column("opened_by_machine", BigInteger, nullable=False, server_default="0"),
    Column("clicked_by_machine", BigInteger, nullable=False, server_default="0"),
    Column("submitted_by_machine", BigInteger, nullable=False, server_default="0"),
    Index(None, "company_id", "listed_at", "id"),
    Index(None, "company_id", "external_id", unique=True),
)

recipients = Table(
    "recipients",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("campaign_id", _KEY, primary_key=True),
    Column("email_key", _KEY, primary_key=True),
    Column("email", Text, nullable=False),
    Column("external_id", Text),
    Column("employee_id", _KEY),
    Column("sector_id", BigInteger),
    Column("sent_at", BigInteger),
    Column("opened_at", BigInteger),
    Column("clicked_at", BigInteger),
    Column("submitted_at", BigInteger),
    Column("reported_at", BigInteger),
    Column("error_at", BigInteger),
    Column("machine", BigInteger, nullable=False),
    Column("with_machine", BigInteger, nullable=False),
    ForeignKeyConstraint(["company_id", "campaign_id"], ["campaigns.company_id", "campaigns.id"]),
    Index(None, "company_id", "employee_id"),
)


def _index_of_untied(name: str, column: Column[str], condition: ColumnElement[bool]) -> None:
    """Of recipients tied to nobody, who are few where results are told of people in the directory."""
    Index(name, recipients.c.company_id, column, sqlite_where=condition, postgresql_where=condition)


_index_of_untied(
    "recipients_untied_email_key_idx", recipients.c.email_key, recipients.c.employee_id.is_(None)
)
_index_of_untied(
    "recipients_untied_external_id_idx",
    recipients.c.external_id,
    and_(recipients.c.employee_id.is_(None), recipients.c.external_id.is_not(None)),
)

campaign_events = Table(
    "campaign_events",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("campaign_id", _KEY, primary_key=True),
    Column("key", _KEY, primary_key=True),
    Column("email_key", _KEY, nullable=False),
    Column("step", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("address", Text),
    Column("user_agent", Text),
    Column("method", Text),
    Column("place", _KEY),
    Column("signs", BigInteger, nullable=False),
    ForeignKeyConstraint(["company_id", "campaign_id"], ["campaigns.company_id", "campaigns.id"]),
    Index(None, "company_id", "campaign_id", "email_key"),
    Index(None, "company_id", "campaign_id", "place"),
)

verdict_rules = Table(
    "verdict_rules",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("soon", BigInteger, nullable=False),
    Column("crowd", BigInteger, nullable=False),
    Column("crowd_window", BigInteger, nullable=False),
    Column("burst", BigInteger, nullable=False),
    Column("burst_window", BigInteger, nullable=False),
    Column("scanner_agents", Text, nullable=False),
)

erasure_secrets = Table(
    "erasure_secrets",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)

erased_addresses = Table(
    "erased_addresses",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("mark", _KEY, primary_key=True),
    Column("until", BigInteger, nullable=False),
)

receipts = Table(
    "receipts",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("id", _KEY, primary_key=True),
    Column("fingerprint", LargeBinary, nullable=False),
    Column("holder", Text, nullable=False),
    Column("stage", Text, nullable=False),
    Column("lease_until", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "company_id", "expires_at", "id"),
)

receipt_parts = Table(
    "receipt_parts",
    metadata,
    Column("company_id", _KEY, primary_key=True),
    Column("receipt_id", _KEY, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
    ForeignKeyConstraint(
        ["company_id", "receipt_id"], ["receipts.company_id", "receipts.id"], ondelete="CASCADE"
    ),
)

sources = Table(
    "sources",
    metadata,
    Column("id", _KEY, primary_key=True),
    Column("company_id", _KEY, ForeignKey("companies.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("name_key", _KEY, nullable=False),
    Column("url", Text, nullable=False),
    Column("api_key_file", Text, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("polled_at", BigInteger),
    Column("ok_at", BigInteger),
    Column("error", Text),
    Column("wanted_at", BigInteger),
    Column("forged", BigInteger, nullable=False),
    Column("holder", Text),
    Column("held_until", BigInteger),
    UniqueConstraint("company_id", "name_key"),
)

source_readings = Table(
    "source_readings",
    metadata,
    Column("company_id", _KEY, nullable=False),
    Column("source_id", _KEY, ForeignKey("sources.id"), primary_key=True),
    Column("told_id", _KEY, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("read_at", BigInteger, nullable=False),
    Column("left_out", BigInteger, nullable=False, server_default="0"),
)

identity_providers = Table(
    "identity_providers",
    metadata,
    Column("company_id", _KEY, ForeignKey("companies.id"), primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("client_id", Text, nullable=False),
    Column("client_secret_file", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

schema_version = Table("alembic_version", MetaData(), Column("version_num", Text, primary_key=True))
"""Alembic's own table; it is no part of `metadata`."""

quota_windows = Table(
    "quota_windows",
    MetaData(),
    Column("subject", LargeBinary, primary_key=True),
    Column("span", BigInteger, primary_key=True, autoincrement=False),
    Column("count", BigInteger, nullable=False),
    Column("ends_at", BigInteger, nullable=False),
    Index("quota_windows_ends_at_idx", "ends_at"),
    prefixes=["UNLOGGED"],
    postgresql_with={"fillfactor": 50},
)
"""On PostgreSQL alone, where several processes count together; see `awareness_sql.postgres.quota`."""

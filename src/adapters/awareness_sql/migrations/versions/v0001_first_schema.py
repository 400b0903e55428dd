"""The first schema: companies, their keys, people, temporary passwords and campaigns.

Spelt out instead of taken from `tables`, which goes on changing; a step that was taken once stays what it was.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "companies",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("sso_domains", sa.Text(), nullable=False),
        sa.Column("invitation_lifetime", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="companies_pkey"),
        sa.UniqueConstraint("name_key", name="companies_name_key_key"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", _KEY, nullable=False),
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("public_id", _KEY, nullable=False),
        sa.Column("secret_digest", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="api_keys_company_id_fkey"),
        sa.PrimaryKeyConstraint("id", name="api_keys_pkey"),
        sa.UniqueConstraint("public_id", name="api_keys_public_id_key"),
    )
    op.create_index("api_keys_company_id_created_at_id_idx", "api_keys", ["company_id", "created_at", "id"])
    op.create_table(
        "sectors",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", _KEY, nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="sectors_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", "id", name="sectors_pkey"),
        sa.UniqueConstraint("company_id", "name_key", name="sectors_company_id_name_key_key"),
    )
    _create_employees()
    op.create_table(
        "temporary_passwords",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("employee_id", _KEY, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["company_id", "employee_id"],
            ["employees.company_id", "employees.id"],
            name="temporary_passwords_company_id_employee_id_fkey",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("company_id", "employee_id", "digest", name="temporary_passwords_pkey"),
    )
    op.create_table(
        "campaigns",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("starts_at", sa.BigInteger(), nullable=True),
        sa.Column("ends_at", sa.BigInteger(), nullable=True),
        sa.Column("listed_at", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("sent", sa.BigInteger(), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("clicked", sa.BigInteger(), nullable=False),
        sa.Column("submitted", sa.BigInteger(), nullable=False),
        sa.Column("reported", sa.BigInteger(), nullable=False),
        sa.Column("errors", sa.BigInteger(), nullable=False),
        sa.Column("machine", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="campaigns_company_id_fkey"),
        sa.PrimaryKeyConstraint("company_id", "id", name="campaigns_pkey"),
    )
    op.create_index("campaigns_company_id_listed_at_id_idx", "campaigns", ["company_id", "listed_at", "id"])


def _create_employees() -> None:
    op.create_table(
        "employees",
        sa.Column("company_id", _KEY, nullable=False),
        sa.Column("id", _KEY, nullable=False),
        sa.Column("external_id", _KEY, nullable=True),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("email_key", _KEY, nullable=False),
        sa.Column("email_domain", _KEY, nullable=False),
        sa.Column("held_email_key", _KEY, nullable=True),
        sa.Column("last_name", sa.Text(), nullable=False),
        sa.Column("first_name", sa.Text(), nullable=False),
        sa.Column("job_title", sa.Text(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("address", sa.Text(), nullable=True),
        sa.Column("sector_id", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("first_login_at", sa.BigInteger(), nullable=True),
        sa.Column("has_password", sa.Boolean(), nullable=False),
        sa.Column("last_attempt_at", sa.BigInteger(), nullable=True),
        sa.Column("last_sent_at", sa.BigInteger(), nullable=True),
        sa.Column("live_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.Column("search_text", sa.Text(), nullable=False),
        sa.Column("fingerprint", _KEY, nullable=True),
        sa.ForeignKeyConstraint(["company_id"], ["companies.id"], name="employees_company_id_fkey"),
        sa.ForeignKeyConstraint(
            ["company_id", "sector_id"],
            ["sectors.company_id", "sectors.id"],
            name="employees_company_id_sector_id_fkey",
        ),
        sa.CheckConstraint(
            "held_email_key IS NULL OR (held_email_key = email_key AND state = 'active')",
            name="employees_holds_address_check",
        ),
        sa.PrimaryKeyConstraint("company_id", "id", name="employees_pkey"),
        sa.UniqueConstraint("company_id", "external_id", name="employees_company_id_external_id_key"),
        sa.UniqueConstraint("held_email_key", name="employees_held_email_key_key"),
    )
    op.create_index("employees_company_id_email_key_id_idx", "employees", ["company_id", "email_key", "id"])
    op.create_index("employees_company_id_sector_id_id_idx", "employees", ["company_id", "sector_id", "id"])
    op.create_index(
        "employees_awaiting_password_idx",
        "employees",
        ["company_id", "id"],
        sqlite_where=sa.text("state = 'active' AND has_password = 0"),
        postgresql_where=sa.text("state = 'active' AND has_password = false"),
    )

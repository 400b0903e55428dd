"""The settings there are: their names, defaults, what they may be, and what they are for.

One flat class; where values come from is `setting_sources`' business. Settings that may hold a password are secret:
they are not shown in a repr, an error, a log or `config show`. docs/reference/settings.md tells users the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import typed_settings as ts

from awareness_core.quota import LOGIN_ADDRESS_POLICY
from awareness_core.use_cases.purge_archived import MAX_DAYS
from awareness_server import setting_checks as checks
from awareness_server.setting_checks import Check

_CHECK = "check"
_HIDDEN = "is_secret"
DEFAULT_DATABASE = "sqlite:///awareness.db"
LONGEST_MAIL_SECONDS = 60
"""A call that mails for longer would be taken for one that died, and its people be mailed by another process."""


def _setting(default: object, check: Check, meaning: str) -> Any:  # noqa: ANN401 (as attrs.field)
    return ts.option(default=default, help=meaning, metadata={_CHECK: check, _HIDDEN: False})


def _secret(default: object, check: Check, meaning: str) -> Any:  # noqa: ANN401 (as attrs.field)
    return ts.secret(default=default, help=meaning, metadata={_CHECK: check, _HIDDEN: True})


@attrs.frozen(kw_only=True)
class Settings:
    """All that can be set. A setting `x` is `x` in awareness.toml and `AWARENESS_X` in the environment."""

    database_url: str = _secret(DEFAULT_DATABASE, checks.database_url, "where the data is kept")
    smtp_url: str | None = _secret(None, checks.mail_url, "the mail server; without it no mail leaves")
    mail_from: str | None = _setting(None, checks.sender, "the sender of mails; needed with smtp_url")
    mail_folder: Path | None = _setting(  # noqa: RUF009 (makes a field, as attrs.field does)
        None, checks.folder, "a folder to write mails to instead of sending them, for development"
    )
    dkim_key: str | None = _secret(None, checks.dkim_key, "the RSA key, in PEM, that mails are signed with")
    dkim_selector: str | None = _setting(
        None,
        checks.dkim_selector,
        "the name of that key in the DNS of the sender's domain; needed with dkim_key",
    )
    smtp_connections: int = _setting(
        8, checks.whole_number(1, 50), "how many connections to the mail server each process opens at most"
    )
    mail_seconds: int = _setting(
        20,
        checks.whole_number(1, LONGEST_MAIL_SECONDS),
        "how long a call waits for its mails; who is not reached then has failed",
    )
    limits_url: str | None = _secret(
        None, checks.limits_url, "a Redis or Valkey that counts the quota for all processes"
    )
    public_url: str | None = _setting(
        None, checks.web_url, "where people reach this service; mails lead to its /login"
    )
    portal: bool = _setting(True, checks.switch, "whether people can log in at /login")
    session_idle_minutes: int = _setting(
        60, checks.whole_number(1, 1440), "minutes without a request after which somebody is logged out"
    )
    session_hours: int = _setting(
        12, checks.whole_number(1, 720), "hours after which somebody has to log in again in any case"
    )
    login_failures: int = _setting(
        LOGIN_ADDRESS_POLICY.limit,
        checks.whole_number(10, 100_000),
        "failed logins in a quarter of an hour after which their address has to wait",
    )
    host: str = _setting("127.0.0.1", checks.text, "the address to listen on; 0.0.0.0 for all networks")
    port: int = _setting(8000, checks.whole_number(0, 65535), "the port to listen on; 0 takes a free one")
    workers: int = _setting(
        1, checks.whole_number(1, 64), "processes that answer; more than one needs PostgreSQL or limits_url"
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), checks.networks, "the proxies whose X-Forwarded-For is believed"
    )
    cors_origins: tuple[str, ...] = _setting(
        (), checks.origins, "web pages that may call the API from a browser"
    )
    sources_poll_seconds: int = _setting(
        300,
        checks.whole_number(0, 86_400),
        "seconds between two polls of each source; 0: only when a webhook asks",
    )
    serve_does_chores: bool = _setting(
        True, checks.switch, "whether serve also does what worker does: polls, and mails what a crash left"
    )
    retention_archived_days: int = _setting(
        0, checks.whole_number(0, MAX_DAYS), "days after which archived people are erased; 0 erases nobody"
    )
    metrics: bool = _setting(True, checks.switch, "whether GET /metrics answers")
    metrics_token: str | None = _secret(None, checks.token, "the bearer token that GET /metrics asks for")
    worker_metrics_port: int = _setting(
        0, checks.whole_number(0, 65535), "the port on which worker answers GET /metrics; 0: it does not"
    )
    log_format: str = _setting("console", checks.one_of("console", "json"), "how log lines look")
    log_level: str = _setting(
        "info", checks.one_of("debug", "info", "warning", "error"), "the least important line that is logged"
    )


def setting_names() -> tuple[str, ...]:
    """All of them, in the order of the documentation."""
    return tuple(field.name for field in attrs.fields(Settings))


def check_of(name: str) -> Check:
    """What the value of that setting has to pass."""
    check: Check = attrs.fields_dict(Settings)[name].metadata[_CHECK]
    return check


def is_secret(name: str) -> bool:
    """Whether it may hold a password; such a one can also be read from a file named by `<name>_file`."""
    return bool(attrs.fields_dict(Settings)[name].metadata[_HIDDEN])


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """The secret values in force, for what keeps them out of logs."""
    values = (getattr(settings, name) for name in setting_names() if is_secret(name))
    return tuple(str(value) for value in values if value)

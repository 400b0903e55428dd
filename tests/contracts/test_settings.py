"""Settings: which source wins, what is refused and how it is told, and that no secret is ever shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from awareness_core.outbox import LEASE
from awareness_core.receipts import MAILING_LEASE
from awareness_server.redaction import Scrubber, shown_url
from awareness_server.setting_sources import (
    Configuration,
    SettingsInvalid,
    load_settings,
    read_settings,
)
from awareness_server.settings import LONGEST_MAIL_SECONDS, Settings, is_secret, setting_names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(text: str, name: str = "awareness.toml") -> Path:
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


def faults(**environment: str) -> list[str]:
    return faults_with({}, **environment)


def faults_with(flags: Mapping[str, object], **environment: str) -> list[str]:
    with pytest.raises(SettingsInvalid) as refused:
        load_settings(flags=flags, environment=environment)
    return list(refused.value.details)


def test_without_any_source_the_defaults_are_in_force() -> None:
    read = read_settings(environment={})

    assert Configuration(settings=Settings(), origins={}) == read
    assert "sqlite:///awareness.db" == read.settings.database_url


def test_flags_outrank_the_environment_which_outranks_the_file() -> None:
    write('host = "10.0.0.1"\nport = 1\nlog_level = "error"\n')
    read = read_settings(
        flags={"port": 3}, environment={"AWARENESS_PORT": "2", "AWARENESS_LOG_LEVEL": "debug"}
    )

    assert ("10.0.0.1", "debug", 3) == (read.settings.host, read.settings.log_level, read.settings.port)
    assert {
        "host": "awareness.toml",
        "log_level": "environment variable AWARENESS_LOG_LEVEL",
        "port": "--port",
    } == read.origins


def test_a_named_file_is_read_instead_of_the_one_in_the_working_folder() -> None:
    write("port = 1")
    named = write("workers = 1", "other.toml")
    by_flag = load_settings(config=named, environment={})
    by_variable = load_settings(environment={"AWARENESS_CONFIG": "other.toml"})

    assert by_flag == by_variable
    assert 8000 == by_flag.port


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_named_file_that_is_no_file_is_refused(name: str) -> None:
    (fault,) = faults(AWARENESS_CONFIG=name)

    assert f"{name}: the settings file is not there, or is no file; see --config, AWARENESS_CONFIG" == fault


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"port = \n", "Invalid value (at line 1, column 8)"),
        (b'host = "\xe9"\n', "it is no UTF-8 text"),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_the_place(content: bytes, reason: str) -> None:
    Path("awareness.toml").write_bytes(content)

    assert [f"awareness.toml: cannot be read as TOML: {reason}"] == faults()


def test_everything_wrong_anywhere_is_told_at_once() -> None:
    write('port = true\nsmtpurl = "x"\n')
    found = faults_with(
        {"workers": 99},
        AWARENESS_LOG_LEVEL="loud",
        AWARENESS_METRICS_TOKEN="short",
        AWARENESS_SMPT_URL="smtp://mail",
    )

    assert [
        "smtpurl: unknown setting; did you mean smtp_url? (awareness.toml)",
        "AWARENESS_SMPT_URL: unknown setting; did you mean AWARENESS_SMTP_URL?",
        "port: must be a whole number from 0 to 65535, not True (awareness.toml)",
        "workers: must be a whole number from 1 to 64, not 99 (--workers)",
        "metrics_token: must have at least 16 printable ASCII characters and no blanks (env)",
        "log_level: must be one of debug, info, warning, error, not 'loud' (env)",
    ] == [re.sub(r"environment variable AWARENESS_\w+", "env", fault) for fault in found]


def test_an_unknown_name_that_resembles_none_leads_to_the_list() -> None:
    assert ["AWARENESS_XYZZY: unknown setting; awareness config show lists those there are"] == faults(
        AWARENESS_XYZZY="1"
    )


def test_a_variable_of_kubernetes_is_told_apart_from_a_misspelt_one() -> None:
    (fault,) = faults(AWARENESS_SERVICE_HOST="10.0.0.1")

    assert "enableServiceLinks: false" in fault


def test_an_empty_variable_is_as_if_it_were_not_there() -> None:
    assert Settings() == load_settings(environment={"AWARENESS_SMTP_URL": "", "AWARENESS_CONFIG": ""})


def test_a_secret_can_come_from_a_file() -> None:
    write("smtps://u:p@mail.example.com\n", "secret")
    read = read_settings(
        environment={"AWARENESS_SMTP_URL_FILE": "secret", "AWARENESS_MAIL_FROM": "a@example.com"}
    )

    assert "smtps://u:p@mail.example.com" == read.settings.smtp_url
    assert "file secret (environment variable AWARENESS_SMTP_URL_FILE)" == read.origins["smtp_url"]


def test_a_secret_file_named_in_toml_is_outranked_by_the_environment() -> None:
    write("0123456789abcdef", "secret")
    write('metrics_token_file = "secret"')
    from_file = load_settings(environment={})
    from_environment = load_settings(environment={"AWARENESS_METRICS_TOKEN": "fedcba9876543210"})

    assert ("0123456789abcdef", "fedcba9876543210") == (
        from_file.metrics_token,
        from_environment.metrics_token,
    )


def test_a_secret_file_that_cannot_be_read_is_refused() -> None:
    (fault,) = faults(AWARENESS_LIMITS_URL_FILE="gone")

    assert fault == (
        "limits_url: the file 'gone' cannot be read: No such file or directory"
        " (environment variable AWARENESS_LIMITS_URL_FILE)"
    )


def test_a_secret_given_twice_in_one_place_is_refused() -> None:
    assert [
        "limits_url: is given twice, as AWARENESS_LIMITS_URL and AWARENESS_LIMITS_URL_FILE; leave one out"
    ] == faults(AWARENESS_LIMITS_URL="redis://h", AWARENESS_LIMITS_URL_FILE="gone")


def test_only_secrets_have_a_file_variant() -> None:
    assert ["AWARENESS_PORT_FILE: unknown setting; did you mean AWARENESS_PORT?"] == faults(
        AWARENESS_PORT_FILE="x"
    )


def test_a_key_to_sign_with_needs_a_selector() -> None:
    (fault,) = faults(AWARENESS_DKIM_KEY=SECRETS["dkim_key"])

    assert fault.startswith("dkim_selector: is needed with dkim_key;")


def test_a_selector_without_a_key_to_sign_with_is_refused() -> None:
    (fault,) = faults(AWARENESS_DKIM_SELECTOR="awareness2026")

    assert fault.startswith("dkim_key: is needed with dkim_selector, or mails are not signed;")


def test_a_selector_that_cannot_be_used_is_told_once() -> None:
    (fault,) = faults(AWARENESS_DKIM_KEY=SECRETS["dkim_key"], AWARENESS_DKIM_SELECTOR="a b;")

    assert fault.startswith("dkim_selector: cannot be used: ")


def test_a_call_that_mails_ends_long_before_it_counts_as_dead() -> None:
    (fault,) = faults(AWARENESS_MAIL_SECONDS=str(LONGEST_MAIL_SECONDS + 1))

    assert fault.startswith("mail_seconds: must be a whole number from 1 to 60")
    assert timedelta(seconds=LONGEST_MAIL_SECONDS) <= min(LEASE, MAILING_LEASE) / 2


def test_a_mail_server_needs_a_sender() -> None:
    assert ["mail_from: is needed with smtp_url; give an address like no-reply@example.com"] == faults(
        AWARENESS_SMTP_URL="smtp://mail"
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database_url", "sqlite:///awareness.db"),
        ("database_url", "sqlite:////var/lib/awareness.db"),
        ("database_url", "postgresql://u:p@h:5432/d"),
        ("database_url", "postgres://u:p@one,two:5433/d?sslmode=verify-full&pool_size=20"),
        ("limits_url", "redis://:p@cache.example.com:6379/0"),
        ("limits_url", "memory://"),
        ("public_url", "https://awareness.example.com/login"),
        ("mail_from", "Sécurité <no-reply@example.com>"),
        ("port", "0"),
        ("port", "65535"),
        ("metrics", "off"),
        ("cors_origins", "https://a.example.com, http://localhost:3000"),
        ("trusted_proxies", "10.0.0.5, 192.168.0.0/16, ::1"),
    ],
)
def test_a_value_that_fits_is_taken(name: str, value: str) -> None:
    read = read_settings(environment={f"AWARENESS_{name.upper()}": value})

    assert [name] == list(read.origins)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("database_url", "awareness.db"),
        ("database_url", "sqlite://awareness.db"),
        ("database_url", "sqlite://"),
        ("database_url", "sqlite:///:memory:"),
        ("database_url", "mysql://u:p@h/d"),
        ("database_url", "postgresql://u:p@h:5432/"),
        ("database_url", "postgresql://u:p@h:0/d"),
        ("database_url", "postgresql://u:p@h/d?sslmode=maybe"),
        ("database_url", "postgresql://u:p@h/d?pool_size=0"),
        ("database_url", "postgresql+asyncpg://u:p@h/d"),
        ("database_url", "sqlite:///a.db?mode=ro"),
        ("smtp_url", "mail.example.com:25"),
        ("smtp_url", "http://mail.example.com"),
        ("limits_url", "memcached://h"),
        ("public_url", "awareness.example.com"),
        ("public_url", "https://awareness.example.com/?a=b"),
        ("mail_from", "nobody"),
        ("mail_from", "a@example.com, b@example.com"),
        ("mail_from", "a@example.com\nBcc: b@example.com"),
        ("port", "-1"),
        ("port", "65536"),
        ("port", "80.0"),
        ("port", "٨٠"),
        ("port", "9" * 5000),
        ("workers", "0"),
        ("metrics", "maybe"),
        ("cors_origins", "*"),
        ("cors_origins", "https://a.example.com/path"),
        ("trusted_proxies", "proxy.example.com"),
        ("trusted_proxies", "10.0.0.0/33"),
        ("log_format", "xml"),
        ("metrics_token", "with a blank in it ok"),
        ("host", " "),
    ],
)
def test_a_value_that_does_not_fit_is_refused_naming_setting_and_place(name: str, value: str) -> None:
    variable = f"AWARENESS_{name.upper()}"
    (fault,) = [fault for fault in faults(**{variable: value}) if fault.startswith(f"{name}: ")]

    assert fault.endswith(f"(environment variable {variable})")
    assert len(fault) < 300


@pytest.mark.parametrize("value", ['["a"]', "1.5", "{ a = 1 }", "1979-05-27"])
@pytest.mark.parametrize("name", setting_names())
def test_a_toml_value_of_the_wrong_type_is_refused_by_name(name: str, value: str) -> None:
    write(f"{name} = {value}")

    assert [name] == [fault.partition(":")[0] for fault in faults()]


SECRETS = {
    "database_url": "sqlite:////srv/hunter2secret.db",
    "smtp_url": "smtp://user:hunter2secret@mail",
    "limits_url": "redis://:hunter2secret@cache",
    "metrics_token": "hunter2secret-token",
    "dkim_key": f"hunter2secret\n{Path(__file__).with_name('dkim.pem').read_text()}",
}
WITH_THEM = {"AWARENESS_MAIL_FROM": "a@example.com", "AWARENESS_DKIM_SELECTOR": "sel"}


def test_the_secret_settings_are_those_that_may_hold_a_password() -> None:
    assert set(SECRETS) == {name for name in setting_names() if is_secret(name)}


def test_no_secret_stands_in_a_repr() -> None:
    environment = {f"AWARENESS_{name.upper()}": value for name, value in SECRETS.items()}
    read = read_settings(environment={**environment, **WITH_THEM})

    assert "hunter2" not in repr(read)


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_stands_in_a_refusal(name: str) -> None:
    write(f"{name} = 'hunter2secret with blank'")
    found = faults_with({"port": "x"}, **{f"AWARENESS_{name.upper()}": "hunter2 secret"})

    assert 2 <= len(found)
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///awareness.db", "sqlite:///awareness.db"),
        ("sqlite:////var/lib/a.db", "sqlite:////var/lib/a.db"),
        ("postgresql://u:p@h:5432/d", "postgresql://u:***@h:5432/d"),
        (
            "postgresql://u:p@h/d?sslmode=require&password=p",
            "postgresql://u:***@h/d?sslmode=require&password=***",
        ),
        (
            "postgresql://u:p@h/d?pool_size=5&options=-cx&sslmode=a%20b",
            "postgresql://u:***@h/d?pool_size=5&options=***&sslmode=***",
        ),
        ("smtp://u:p@mail?starttls=never", "smtp://u:***@mail?starttls=never"),
        ("smtp://u:p?starttls=never@mail", "***"),
        ("redis://h?x&y=z", "redis://h?***&y=***"),
        ("redis://h?hunter2", "redis://h?***"),
        ("redis://:p@[::1]:6379/0", "redis://:***@[::1]:6379/0"),
        ("smtp://token@mail", "smtp://***@mail"),
        ("postgresql://u:p@one:5432,two/d", "postgresql://u:***@one:5432,two/d"),
        ("postgresql://u:p,w:x@one/d", "postgresql://u:***@one/d"),
        ("postgresql://u:p/w@h/d", "***"),
        ("postgresql://u:80#w@h/d", "postgresql://***"),
        ("redis://h:notaport", "***"),
        ("secret", "***"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert shown == shown_url(url)


def test_a_log_line_loses_keys_credentials_and_known_secrets() -> None:
    scrub = Scrubber(["smtp://u:s3cr%40et@h", "smtp://u:a/b@c#d@h", "0123456789abcdef"])
    key = "awk_0123456789A_" + "x" * 49

    assert "awk_0123456789A_*** redis://***@h *** *** *** *** plain" == scrub(
        f"{key} redis://u:p@h s3cr@et s3cr%40et a/b@c#d 0123456789abcdef plain"
    )

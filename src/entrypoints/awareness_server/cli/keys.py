"""`awareness keys`: API keys of companies. The text of a key is shown once, when it is created, and kept nowhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Annotated

from cyclopts import App, Parameter

from awareness_core.api_keys import ApiKey, ApiKeyState, Scope
from awareness_core.periods import InvalidMoment, parse_moment
from awareness_core.ports import Ports
from awareness_core.use_cases.issue_api_key import issue_api_key
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import AsJson, JsonValue, moment, say, shown_moment, write_json, write_table
from awareness_server.exit_codes import CommandFailed, ExitCode

app = App(name="keys", help="Create, list and revoke API keys.")

_MAX_DAYS = 36_500
_SCOPE_HELP = f"What the key may do: {', '.join(scope.value for scope in Scope)}. Repeat it for more."


@app.command
async def create(
    *,
    company: str,
    name: str,
    scope: Annotated[list[str], Parameter(negative=(), help=_SCOPE_HELP)],
    expires: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Create an API key and show it, this once.

    Parameters
    ----------
    company
        The company's id or name.
    name
        What the key is for, such as "HR nightly sync".
    expires
        When it stops working: a date (through its end, in UTC), a date-time with offset, or days from now like 90d.
    as_json
        Print JSON instead of text.
    """
    scopes = frozenset(_scope(text) for text in scope)
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        expires_at = None if expires is None else _expiry(expires, now=ports.clock.now())
        issued = await issue_api_key(ports, owner.id, name=name, scopes=scopes, expires_at=expires_at)
        now = ports.clock.now()
    if as_json:
        write_json({**_as_json(issued.key, now=now), "key": issued.text})
    else:
        write_table(("ID", "KEY"), [(issued.key.id, issued.text)])
    say("Keep the key now: it is stored nowhere and cannot be shown again.")


@app.command(name="list")
async def list_(*, company: str | None = None, as_json: AsJson = False) -> None:
    """List API keys, oldest first; never their texts.

    Parameters
    ----------
    company
        Only this company's, by id or name.
    as_json
        Print JSON instead of a table.
    """
    async with open_ports() as ports:
        owner = None if company is None else await find_company(ports, company)
        keys = await ports.api_keys.list_api_keys(None if owner is None else owner.id)
        names = {one.id: one.name for one in await ports.companies.list_companies()}
        now = ports.clock.now()
    if as_json:
        write_json({"data": [_as_json(key, now=now) for key in keys]})
        return
    rows = [
        (
            key.id,
            _beginning(key),
            names.get(key.company_id, key.company_id),
            key.name,
            " ".join(_spelt(key)),
            key.state(now).value,
            shown_moment(key.expires_at),
            shown_moment(key.last_used_at),
        )
        for key in keys
    ]
    write_table(("ID", "BEGINS WITH", "COMPANY", "NAME", "SCOPES", "STATE", "EXPIRES", "LAST USED"), rows)
    if not keys:
        say("There is no API key: awareness keys create --company COMPANY --name NAME --scope SCOPE")


@app.command
async def revoke(key: str, /, *, as_json: AsJson = False) -> None:
    """Revoke an API key, for good and from the very next request on.

    Parameters
    ----------
    key
        Its id, or the part it begins with (awk_ and 11 characters), as `awareness keys list` shows them.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        found = await _find(ports, key)
        was_revoked = found.revoked_at is not None
        await ports.api_keys.revoke_api_key(found.id, at=ports.clock.now())
        revoked = await _find(ports, found.id)
        now = ports.clock.now()
    if as_json:
        write_json(_as_json(revoked, now=now))
    elif was_revoked:
        say(f"'{revoked.name}' ({revoked.id}) was revoked already, at {moment(revoked.revoked_at)}.")
    else:
        say(f"Revoked '{revoked.name}' ({revoked.id}); it is refused from now on.")


async def _find(ports: Ports, wanted: str) -> ApiKey:
    beginning = "_".join(wanted.strip().split("_")[:2])
    for key in await ports.api_keys.list_api_keys():
        if key.id == wanted.strip().lower() or _beginning(key) == beginning:
            return key
    # What was typed may be a whole key: it is not repeated.
    raise CommandFailed("there is no such API key; awareness keys list shows the ids")


def _scope(text: str) -> Scope:
    known = [scope.value for scope in Scope]
    if text in known:
        return Scope(text)
    close = get_close_matches(text, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
    raise CommandFailed(f"--scope '{text}' is unknown; {hint}", ExitCode.USAGE)


def _expiry(text: str, *, now: datetime) -> datetime:
    days = text[:-1]
    if text.endswith("d") and days.isascii() and days.isdigit() and 0 < int(days[:6]) <= _MAX_DAYS:
        return now + timedelta(days=int(days))
    try:
        return parse_moment(text, end_of_day=True)
    except InvalidMoment as error:
        raise CommandFailed(
            f"--expires '{text}': {error}; or days from now, like 90d", ExitCode.USAGE
        ) from error


def _spelt(key: ApiKey) -> Sequence[str]:
    return [scope.value for scope in Scope if scope in key.scopes]


def _beginning(key: ApiKey) -> str:
    return f"awk_{key.public_id}"


def _as_json(key: ApiKey, *, now: datetime) -> dict[str, JsonValue]:
    state: ApiKeyState = key.state(now)
    return {
        "id": key.id,
        "begins_with": _beginning(key),
        "company_id": key.company_id,
        "name": key.name,
        "scopes": _spelt(key),
        "state": state.value,
        "created_at": moment(key.created_at),
        "expires_at": moment(key.expires_at),
        "revoked_at": moment(key.revoked_at),
        "last_used_at": moment(key.last_used_at),
    }

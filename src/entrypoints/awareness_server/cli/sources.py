"""`awareness sources`: where campaign results come from by themselves. A webhook's secret is shown once."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from awareness_core.errors import Conflict, NotFound, SourceUnavailable
from awareness_core.ports import Ports
from awareness_core.sources import LEASE, Source, SourceKind
from awareness_core.texts import folded_name
from awareness_core.use_cases.add_source import AddedSource, add_source, renew_webhook_secret
from awareness_core.use_cases.sync_source import MAX_LEFT_OUT, SyncedSource, SyncProgress, sync_source
from awareness_server.cli.invocation import find_company, open_ports
from awareness_server.cli.output import (
    AsJson,
    JsonValue,
    moment,
    progress_bar,
    say,
    shown_moment,
    write_json,
    write_table,
)
from awareness_server.cli.plain_text import count_of, shown
from awareness_server.exit_codes import CommandFailed, ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

app = App(name="sources", help="Connect the tools that campaigns are run with.")

_ADD = "awareness sources add gophish --company COMPANY --name NAME --url URL --api-key-file FILE"
_KEEP = "Keep the secret now, for the webhook in GoPhish: it is stored nowhere and cannot be shown again."


@app.command
async def add(
    kind: Literal["gophish"],
    /,
    *,
    company: str,
    name: str,
    url: str,
    api_key_file: Path,
    as_json: AsJson = False,
) -> None:
    """Connect a tool and show the secret of its webhook, this once.

    Parameters
    ----------
    kind
        Which tool it is.
    company
        The company's id or name.
    name
        What to call the source, such as "GoPhish Paris".
    url
        The address of the tool's administration, like https://gophish.example:3333.
    api_key_file
        The file that holds the API key and nothing else. It is read again at each poll, by the server too.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        owner = await find_company(ports, company)
        added = await add_source(
            ports,
            owner.id,
            kind=SourceKind(kind),
            name=name,
            url=url,
            api_key_file=_absolute(api_key_file),
        )
    _show(added, as_json=as_json)
    if url.lower().startswith("http:"):
        say("The address is not https: whoever is on the way to it can read the API key.")


@app.command(name="list")
async def list_(*, company: str | None = None, as_json: AsJson = False) -> None:
    """List sources and how they are, oldest first; never their keys or secrets.

    Parameters
    ----------
    company
        Only this company's, by id or name.
    as_json
        Print JSON instead of a table.
    """
    async with open_ports() as ports:
        owner = None if company is None else await find_company(ports, company)
        sources = await ports.sources.list_sources(None if owner is None else owner.id)
        names = {one.id: one.name for one in await ports.companies.list_companies()}
        left_out = {one.id: await _left_out(ports, one) for one in sources}
        now = ports.clock.now()
    if as_json:
        write_json({"data": [{**_as_json(one, now), "left_out": left_out[one.id]} for one in sources]})
        return
    rows = [
        (
            source.id,
            names.get(source.company_id, source.company_id),
            source.name,
            source.url,
            source.state_at(now).value,
            shown_moment(source.polled_at),
            shown_moment(source.ok_at),
            str(left_out[source.id]),
            str(source.forged),
            source.error or "",
        )
        for source in sources
    ]
    columns = ("ID", "COMPANY", "NAME", "URL", "STATE", "POLLED", "LAST OK", "LEFT OUT", "FORGED", "ERROR")
    write_table(columns, rows, right=("LEFT OUT", "FORGED"))
    for source in sources:
        _say_being_polled(source, now)
    if not sources:
        say(f"There is no source: {_ADD}")


@app.command
async def sync(
    name: str | None = None,
    /,
    *,
    company: str | None = None,
    everything: Annotated[bool, Parameter(negative=())] = False,
    as_json: AsJson = False,
) -> None:
    """Read what is new, of one source or of all. Fails when one of them cannot be read.

    Parameters
    ----------
    name
        The source's id or name. By default all sources.
    company
        Only this company's, by id or name.
    everything
        Read every campaign again, also those that have not changed.
    as_json
        Print JSON instead of a table.
    """
    async with open_ports() as ports:
        wanted = await _wanted(ports, name, company)
        outcomes = [(source, await _sync(ports, source, everything=everything)) for source in wanted]
    if as_json:
        write_json({"data": [_outcome_as_json(source, outcome) for source, outcome in outcomes]})
    else:
        _write_outcomes(outcomes)
    if not wanted:
        say(f"There is no source: {_ADD}")
    for source, outcome in outcomes:
        _say_left_out(source, outcome)
    failing = [source.name for source, outcome in outcomes if not outcome.is_ok]
    if failing:
        for source, outcome in outcomes:
            for error in outcome.errors:
                say(f"{source.name}: {error}")
        raise CommandFailed(
            f"{len(failing)} of {len(outcomes)} sources could not be read whole", ExitCode.UNAVAILABLE
        )


@app.command
async def renew(name: str, /, *, company: str | None = None, as_json: AsJson = False) -> None:
    """Make another secret for a source's webhook and show it, this once. The old one stops working.

    Needed as well when another API key stands in the source's file, since the secret is made from that.

    Parameters
    ----------
    name
        The source's id or name.
    company
        Only this company's, by id or name.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        (source,) = await _wanted(ports, name, company)
        try:
            renewed = await renew_webhook_secret(ports, source)
        except (SourceUnavailable, NotFound) as error:
            raise CommandFailed(error.message) from error
    _show(renewed, as_json=as_json)


@app.command
async def remove(name: str, /, *, company: str | None = None, as_json: AsJson = False) -> None:
    """Disconnect a source, for good. Its campaigns stay; connected again, they would be others.

    Parameters
    ----------
    name
        The source's id or name.
    company
        Only this company's, by id or name.
    as_json
        Print JSON instead of text.
    """
    async with open_ports() as ports:
        (source,) = await _wanted(ports, name, company)
        removed = await ports.sources.remove_source(source.id)
    if as_json:
        write_json({"id": source.id, "removed": removed})
    else:
        say(f"Removed '{source.name}'." if removed else f"'{source.name}' was removed already.")


async def _wanted(ports: Ports, name: str | None, company: str | None) -> Sequence[Source]:
    """The sources that are meant; exactly one when a name is given."""
    owner = None if company is None else await find_company(ports, company)
    sources = await ports.sources.list_sources(None if owner is None else owner.id)
    if name is None:
        return sources
    found = [
        one for one in sources if one.id == name.strip().lower() or folded_name(one.name) == folded_name(name)
    ]
    if len(found) > 1:
        raise CommandFailed(f"{len(found)} companies have a source '{name}'; say which with --company")
    if not found:
        known = ", ".join(f"'{one.name}'" for one in sources) or "none"
        raise CommandFailed(f"there is no source '{name}'; there are: {known}")
    return found


async def _sync(ports: Ports, source: Source, *, everything: bool) -> SyncedSource:
    with progress_bar(source.name, total=None) as progress:

        def show(reached: SyncProgress) -> None:
            progress.update(progress.task_ids[0], completed=reached.done, total=reached.total)

        try:
            return await sync_source(ports, source, everything=everything, on_progress=show)
        except Conflict as error:
            return SyncedSource(errors=[error.message])


async def _left_out(ports: Ports, source: Source) -> int:
    """Lines that could not be read, of each campaign when it was last read."""
    return sum(one.left_out for one in (await ports.sources.campaign_readings(source.id)).values())


def _say_being_polled(source: Source, now: datetime) -> None:
    alive_at = source.alive_at(now)
    if alive_at is not None:
        say(
            f"{source.name}: being polled, and alive at {shown_moment(alive_at)}. If that poll was killed, the "
            f"next one can begin {LEASE.total_seconds() / 60:g} minutes after that."
        )


def _say_left_out(source: Source, outcome: SyncedSource) -> None:
    for one in outcome.left_out:
        place = f"campaign {one.told_id} '{one.campaign}', {one.fault.field}"
        say(shown(f"{source.name}: left out: {place}: {one.fault.message}"))
    if outcome.failed_lines > MAX_LEFT_OUT:
        say(f"{source.name}: {count_of(outcome.failed_lines, 'line was', 'lines were')} left out in all")


def _absolute(path: Path) -> str:
    # The server, which reads it too, runs somewhere else.
    return str(path.expanduser().absolute())


def _show(added: AddedSource, *, as_json: bool) -> None:
    source = added.source
    path = webhook_path(source)
    if as_json:
        write_json({**_as_json(source, source.created_at), "webhook_secret": added.webhook_secret})
    else:
        write_table(("ID", "WEBHOOK", "SECRET"), [(source.id, path, added.webhook_secret)])
    say(_KEEP)


def webhook_path(source: Source) -> str:
    """Where on this service the tool sends its notices."""
    return f"/api/v1/sources/{source.id}/{source.kind.value}"


def _as_json(source: Source, now: datetime) -> dict[str, JsonValue]:
    return {
        "id": source.id,
        "company_id": source.company_id,
        "kind": source.kind.value,
        "name": source.name,
        "url": source.url,
        "api_key_file": source.api_key_file,
        "webhook_path": webhook_path(source),
        "state": source.state_at(now).value,
        "alive_at": moment(source.alive_at(now)),
        "error": source.error,
        "created_at": moment(source.created_at),
        "polled_at": moment(source.polled_at),
        "ok_at": moment(source.ok_at),
        "forged": source.forged,
    }


def _outcome_as_json(source: Source, outcome: SyncedSource) -> JsonValue:
    return {
        "id": source.id,
        "name": source.name,
        "ok": outcome.is_ok,
        "campaigns": outcome.campaigns,
        "read": outcome.read,
        "new_events": outcome.new_events,
        "failed_lines": outcome.failed_lines,
        "left_out": [
            {
                "campaign": one.told_id,
                "name": one.campaign,
                "place": one.fault.field,
                "message": one.fault.message,
                "code": one.fault.code,
            }
            for one in outcome.left_out
        ],
        "errors": list(outcome.errors),
    }


def _write_outcomes(outcomes: Sequence[tuple[Source, SyncedSource]]) -> None:
    figures = ("CAMPAIGNS", "READ", "NEW EVENTS", "FAILED LINES")
    rows = [
        (
            source.name,
            "ok" if outcome.is_ok else "failing",
            str(outcome.campaigns),
            str(outcome.read),
            str(outcome.new_events),
            str(outcome.failed_lines),
        )
        for source, outcome in outcomes
    ]
    write_table(("NAME", "STATE", *figures), rows, right=figures)

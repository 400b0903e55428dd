"""`awareness employees`: bring people in from a file, list them, invite them to log in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from awareness_core.pages import DEFAULT_LIMIT, MAX_LIMIT, MAX_PAGE
from awareness_core.use_cases.purge_archived import MAX_DAYS
from awareness_server.cli.output import AsJson

app = App(name="employees", help="Import, list, invite and erase people.")

_Flag = Parameter(negative=(), show_default=False)


@app.command(name="import")
async def import_(
    file: Path,
    /,
    *,
    company: str,
    dry_run: Annotated[bool, _Flag] = False,
    deactivate_missing: Annotated[bool, _Flag] = False,
    confirm_deactivations: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    map_: Annotated[list[str] | None, Parameter(name="--map", negative=())] = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    verbose: Annotated[bool, _Flag] = False,
    as_json: AsJson = False,
) -> int:
    """Create, update and archive people as a CSV, JSON or NDJSON file says.

    The content tells the format, never the file's name. Headers are recognised in French and English. A line that
    cannot be read fails by itself; the others are imported, and the command ends with 3.

    Parameters
    ----------
    file
        The roster: a CSV with a header line, a JSON array of objects, or one JSON object a line.
    company
        The company's id or name.
    dry_run
        Show what would happen and write nothing.
    deactivate_missing
        Archive those who carry an external id and are not in the file.
    confirm_deactivations
        The exact number of people whom the file leaves out, asked for when they are many.
    map_
        COLUMN=FIELD for a column that is not recognised; FIELD is email, last_name, first_name, external_id,
        job_title, phone, address, sector, sector_id, active or ignore. Repeat it for more.
    encoding
        The file's encoding, such as cp1252. By default UTF-8, UTF-16 with its mark, or else Windows-1252.
    delimiter
        The character between a CSV's cells. By default the one of ; , tab | that fits the header.
    verbose
        List every line, unchanged ones included.
    as_json
        Print JSON instead of a table.
    """
    from awareness_server.cli.employee_import import ImportOptions, import_roster

    return await import_roster(
        file,
        ImportOptions(
            company=company,
            dry_run=dry_run,
            deactivate_missing=deactivate_missing,
            confirm_deactivations=confirm_deactivations,
            mappings=tuple(map_ or ()),
            encoding=encoding,
            delimiter=delimiter,
            verbose=verbose,
            as_json=as_json,
        ),
    )


@app.command(name="list")
async def list_(
    *,
    company: str,
    state: Literal["active", "archived"] | None = None,
    access: Literal["awaiting_access", "logged_in", "sso"] | None = None,
    sector: str | None = None,
    search: str | None = None,
    email: str | None = None,
    external_id: str | None = None,
    page: Annotated[int, Parameter(validator=Number(gte=1, lte=MAX_PAGE))] = 1,
    limit: Annotated[int, Parameter(validator=Number(gte=1, lte=MAX_LIMIT))] = DEFAULT_LIMIT,
    as_json: AsJson = False,
) -> None:
    """List people, in the order in which they were created.

    Parameters
    ----------
    company
        The company's id or name.
    state
        Only people in this state.
    access
        Only people who get in this way, or wait to.
    sector
        Only this sector, by name or number.
    search
        Only people whose name or e-mail contains this text.
    email
        Only the person with this address.
    external_id
        Only the person with this identifier of your own system.
    page
        Which page.
    limit
        How many on a page.
    as_json
        Print JSON instead of a table.
    """
    from awareness_server.cli.employee_list import Filters, show_employees

    filters = Filters(
        state=state, access=access, sector=sector, search=search, email=email, external_id=external_id
    )
    await show_employees(company, filters, page=page, limit=limit, as_json=as_json)


@app.command
async def invite(
    *ids: str,
    company: str,
    everyone: Annotated[bool, Parameter(name="--all", negative=(), show_default=False)] = False,
    until_done: Annotated[bool, _Flag] = False,
    force: Annotated[bool, _Flag] = False,
    as_json: AsJson = False,
) -> int:
    """Mail a temporary password to people who have none of their own yet, to at most 100 a call.

    People who logged in already, use single sign-on or are archived are skipped.

    Parameters
    ----------
    ids
        Whom to invite, by the ids that `awareness employees list` shows.
    company
        The company's id or name.
    everyone
        Invite everyone awaiting access instead.
    until_done
        With --all: go on until nobody is left.
    force
        Invite again those whose invitation is still good.
    as_json
        Print JSON instead of a table.
    """
    from awareness_server.cli.employee_invite import invite_employees

    return await invite_employees(
        company, ids, everyone=everyone, until_done=until_done, force=force, as_json=as_json
    )


@app.command
async def reset_access(
    employee_id: str | None = None,
    /,
    *,
    company: str,
    email: str | None = None,
    external_id: str | None = None,
    invite: Annotated[bool, _Flag] = False,
    as_json: AsJson = False,
) -> int:
    """Let somebody who forgot their password begin anew: it is forgotten, and they are logged out everywhere.

    They await access again, and can be invited. Make sure that whoever asks is who they say.

    Parameters
    ----------
    employee_id
        The person's id, as `awareness employees list` shows it.
    company
        The company's id or name.
    email
        The active person with this address instead.
    external_id
        The person with this identifier of your own system instead.
    invite
        Mail them a temporary password at once.
    as_json
        Print JSON instead of text.
    """
    from awareness_server.cli.employee_reset import Whom, reset_employee

    whom = Whom(id=employee_id, email=email, external_id=external_id)
    return await reset_employee(company, whom, then_invite=invite, as_json=as_json)


@app.command
async def erase(
    employee_id: str,
    /,
    *,
    company: str,
    yes: Annotated[bool, _Flag] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a person for good: nothing says any more who they were, and every figure stays as it is.

    Parameters
    ----------
    employee_id
        The person's id, as `awareness employees list` shows it.
    company
        The company's id or name.
    yes
        Do it without asking; needed where there is no terminal.
    as_json
        Print JSON instead of text.
    """
    from awareness_server.cli.employee_erase import erase_employee

    await erase_employee(employee_id, company=company, is_sure=yes, as_json=as_json)


@app.command
async def purge(
    *,
    company: str | None = None,
    everywhere: Annotated[bool, Parameter(name="--all", negative=(), show_default=False)] = False,
    days: Annotated[int | None, Parameter(validator=Number(gte=1, lte=MAX_DAYS))] = None,
    dry_run: Annotated[bool, _Flag] = False,
    yes: Annotated[bool, _Flag] = False,
    as_json: AsJson = False,
) -> None:
    """Erase everybody who was archived long ago, as `erase` does one person.

    `serve` and `worker` do so by themselves once the setting retention_archived_days says after how many days.

    Parameters
    ----------
    company
        The company's id or name.
    everywhere
        All companies instead.
    days
        How many days ago they were archived at least. By default the setting retention_archived_days.
    dry_run
        Show how many there are and erase nobody.
    yes
        Do it without asking; needed where there is no terminal.
    as_json
        Print JSON instead of a table.
    """
    from awareness_server.cli.employee_purge import purge_employees

    await purge_employees(
        company, everywhere=everywhere, days=days, dry_run=dry_run, is_sure=yes, as_json=as_json
    )

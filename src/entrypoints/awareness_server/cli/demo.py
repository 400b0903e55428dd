"""`awareness demo`: a whole fictional company to look at and to send requests to; nothing to configure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from awareness_server.cli.output import AsJson, say, write_json

if TYPE_CHECKING:
    from awareness_server.demo import DemoSite

_FEWEST, _MOST = 20, 5000


def demo(
    *,
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 8000,
    seed: int = 1,
    employees: Annotated[int, Parameter(validator=Number(gte=_FEWEST, lte=_MOST))] = 250,
    as_json: AsJson = False,
) -> None:
    """Run a whole fictional company in memory until Ctrl-C: people, a year of campaigns, two API keys.

    It listens on this machine only, reads no settings and touches no database. Mails are written to a folder.

    Parameters
    ----------
    port
        The port to listen on; 0 takes a free one.
    seed
        Another number makes another company; the same number the same people, campaigns and figures.
    employees
        How many people work there, from 20 to 5000.
    as_json
        Print the addresses, keys and requests to try as one JSON object, once it answers.
    """
    from awareness_server.cli.demo_welcome import spell_site, welcome
    from awareness_server.demo import run_demo

    def announce(site: DemoSite) -> None:
        if as_json:
            write_json(spell_site(site))
        else:
            welcome(site)

    kept = run_demo(port=port, employees=employees, seed=seed, announce=announce)
    if kept is not None:
        say(f"The mails stay in {kept}")

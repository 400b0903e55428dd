"""What the demo says once it answers: where to look, the keys, and requests that work when pasted.

Whatever is there to be copied stands on a line of its own and is never wrapped by us, so that a terminal copies it
whole.
"""

from __future__ import annotations

import sys

from awareness_core.use_cases.issue_api_key import IssuedKey
from awareness_server.cli.output import JsonValue, write_text
from awareness_server.demo import DemoSite

_ANY_WIDTH = 10_000
_TITLE_WIDTH = 13


def welcome(site: DemoSite) -> None:
    """Print it for people. Raises `OutputClosed`."""
    from rich.console import Console
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _ANY_WIDTH, highlight=False)

    def tell(text: str, style: str = "") -> None:
        console.print(Text(text, style=style))

    def give(*texts: str, style: str = "") -> None:
        console.print(Text.assemble(*texts[:-1], (texts[-1], style)), soft_wrap=True)

    with console.capture() as captured:
        tell(f"{site.demo.company.name}, a company that does not exist", "bold")
        tell(
            f"{site.employees:,} people and a year of phishing campaigns, drawn from seed {site.seed}. "
            "All of it is in memory and gone when this ends."
        )
        tell("")
        for title, place in _places(site):
            give(f"{title:<{_TITLE_WIDTH}}", place, style="cyan")
        tell("")
        for title, key in _keys(site):
            give(f"{title:<{_TITLE_WIDTH}}", key.text)
        for request in site.tries:
            tell(f"\n{request.purpose}", "bold")
            give(request.command)
        tell("\nCtrl-C ends it.", "dim")
    write_text(captured.get().rstrip("\n"))


def spell_site(site: DemoSite) -> JsonValue:
    """The same for programs."""
    return {
        "url": site.url,
        "api_url": f"{site.url}/api/v1",
        "portal_url": f"{site.url}/login",
        "docs_url": f"{site.url}/docs",
        "health_url": f"{site.url}/health/ready",
        "mail_folder": str(site.mail_folder),
        "company": {"id": site.demo.company.id, "name": site.demo.company.name},
        "employees": site.employees,
        "seed": site.seed,
        "keys": [_spell_key(key) for _, key in _keys(site)],
        "try": [{"purpose": request.purpose, "command": request.command} for request in site.tries],
    }


def _places(site: DemoSite) -> tuple[tuple[str, str], ...]:
    return (
        ("API", f"{site.url}/api/v1"),
        ("Portal", f"{site.url}/login"),
        ("Reference", f"{site.url}/docs"),
        ("Health", f"{site.url}/health/ready"),
        ("Mails", str(site.mail_folder)),
    )


def _keys(site: DemoSite) -> tuple[tuple[str, IssuedKey], ...]:
    return (("Full key", site.demo.full_key), ("Reading key", site.demo.reading_key))


def _spell_key(issued: IssuedKey) -> JsonValue:
    return {
        "id": issued.key.id,
        "name": issued.key.name,
        "scopes": sorted(scope.value for scope in issued.key.scopes),
        "key": issued.text,
    }

"""Pages from templates. Whatever is put into one is escaped; a value that is missing is an error and not a blank."""

from __future__ import annotations

import functools
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from awareness_core.tenants import Company, Language
from awareness_web import paths
from awareness_web.answers import Answer, HeaderPairs
from awareness_web.languages import spell_date, texts_in

_HTML: Final = b"text/html; charset=utf-8"


def page(
    name: str,
    language: Language,
    *,
    status: int = 200,
    headers: HeaderPairs = (),
    company: Company | None = None,
    **values: object,
) -> Answer:
    """The page of that template in that language, for somebody of that company once it is known."""
    rendered = (
        _environment()
        .get_template(f"{name}.html.j2")
        .render(
            t=texts_in(language),
            language=language.value,
            paths=_PATHS,
            date=functools.partial(spell_date, language=language),
            company=company,
            **values,
        )
    )
    return Answer(rendered.encode(), status=status, content_type=_HTML, headers=headers)


_PATHS = {name.lower(): value for name, value in vars(paths).items() if name.isupper()}


@functools.cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("awareness_web"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""What a tool's webhook is answered (Choice: decisions/026)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Final

import attrs
from msgspec import Meta

from awareness_core.use_cases.receive_notice import NoticeOutcome


class NoticeSuite(enum.Enum):
    """What became of a notice."""

    ESSAI = "essai"
    ENREGISTRE = "enregistre"
    DEJA_CONNU = "deja_connu"
    ATTENDU = "attendu"
    IGNORE = "ignore"


@attrs.frozen(kw_only=True, slots=False)
class NoticeAnswer:
    """What `POST /sources/{source_id}/gophish` answers."""

    ok: Annotated[bool, Meta(description="Always true: a notice that is not genuine is answered with 401.")]
    suite: Annotated[
        NoticeSuite,
        Meta(
            description="`enregistre`: stored; `deja_connu`: it was stored before; `attendu`: its campaign is not "
            "known yet, or GoPhish keeps it at another moment, "
            "so a poll was asked for, which brings it; `ignore`: it tells of nobody, or cannot be read; "
            "`essai`: GoPhish tried whether somebody listens."
        ),
    ]


_SUITES: Final[Mapping[NoticeOutcome, NoticeSuite]] = MappingProxyType(
    {
        NoticeOutcome.TEST: NoticeSuite.ESSAI,
        NoticeOutcome.STORED: NoticeSuite.ENREGISTRE,
        NoticeOutcome.KNOWN: NoticeSuite.DEJA_CONNU,
        NoticeOutcome.AWAITED: NoticeSuite.ATTENDU,
        NoticeOutcome.IGNORED: NoticeSuite.IGNORE,
    }
)

STORED: Final = NoticeAnswer(ok=True, suite=NoticeSuite.ENREGISTRE)
"""An example."""


def spell_notice(outcome: NoticeOutcome) -> NoticeAnswer:
    """The answer to a genuine notice."""
    return NoticeAnswer(ok=True, suite=_SUITES[outcome])

"""Moments as people read them in French and in English, in UTC and said so. No locale of the machine is involved."""

from __future__ import annotations

from datetime import UTC, datetime

from awareness_core.tenants import Language


def spell_moment(moment: datetime, language: Language) -> str:
    """Day and minute of an aware moment, cut rather than rounded: `Friday 4 December 2026 at 07:45 (UTC)`.

    Blanks that must not end a line are no-break spaces.
    """
    utc = moment.astimezone(UTC)
    if language is Language.FRENCH:
        day = "1er" if utc.day == 1 else str(utc.day)
        month, weekday = _MOIS[utc.month - 1], _JOURS[utc.weekday()]
        return f"{weekday} {day}{_NBSP}{month} {utc.year} à{_NBSP}{utc.hour}{_NBSP}h{_NBSP}{utc.minute:02}{_NBSP}(UTC)"
    month, weekday = _MONTHS[utc.month - 1], _DAYS[utc.weekday()]
    return f"{weekday} {utc.day}{_NBSP}{month} {utc.year} at{_NBSP}{utc.hour:02}:{utc.minute:02}{_NBSP}(UTC)"


_NBSP = "\N{NO-BREAK SPACE}"
_JOURS = ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche")
_MOIS = (
    *("janvier", "février", "mars", "avril", "mai", "juin"),
    *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

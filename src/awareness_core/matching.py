"""Whom a record means: the person with its external id, else the person with its e-mail address.

An index over the people of one company answers in constant time per record, and its answers do not depend on the order
in which people were loaded. What is done about a person found is `sync`'s business. Rules: docs/explanation/sync.md;
Choice: decisions/007.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

import attrs

from awareness_core.emails import EmailKey, InvalidEmail, parse_email
from awareness_core.employees import Employee, EmployeeRecord
from awareness_core.records import InvalidRecord
from awareness_core.texts import normal_text

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@attrs.frozen(kw_only=True)
class Match:
    """Whom a record means, and who is in the way.

    `person` is None when the record means somebody new. `rival` is another person of the company who has the record's
    address, active or archived. `linked` says that the person was found by address and takes the record's external id.
    """

    person: Employee | None = None
    rival: Employee | None = None
    linked: bool = False


class PeopleIndex:
    """The people of one company by external id and by address."""

    def __init__(self, employees: Iterable[Employee]) -> None:
        self._by_external_id: dict[str, Employee] = {}
        self._active_by_email: dict[EmailKey, Employee] = {}
        self._archived_by_email: dict[EmailKey, Employee] = {}
        for person in employees:
            if person.external_id is not None:
                self._by_external_id[person.external_id] = person
            if person.is_active:
                self._active_by_email[person.email.key] = person
            else:
                earlier = self._archived_by_email.get(person.email.key)
                if earlier is None or _recency(person) > _recency(earlier):
                    self._archived_by_email[person.email.key] = person

    def match(self, record: EmployeeRecord) -> Match:
        """Whom `record` means. Total: every record means somebody known or somebody new."""
        with_id = None if record.external_id is None else self._by_external_id.get(record.external_id)
        with_email = self._active_by_email.get(record.email.key) or self._archived_by_email.get(
            record.email.key
        )
        if with_id is not None:
            if with_email is None or self._has_address(with_id, record.email.key, with_email):
                return Match(person=with_id)
            return Match(person=with_id, rival=with_email)
        if with_email is None:
            return Match()
        if record.external_id is None:
            return Match(person=with_email)
        if with_email.external_id is None:
            return Match(person=with_email, linked=True)
        return Match(rival=with_email)

    @staticmethod
    def _has_address(person: Employee, key: EmailKey, holder: Employee) -> bool:
        # An archived namesake of the same address is in nobody's way who has that address already.
        return person.id == holder.id or (person.email.key == key and not holder.is_active)


def mentioned_external_ids(records: Iterable[EmployeeRecord | InvalidRecord]) -> frozenset[str]:
    """Every external id that a payload names, those of invalid records included."""
    return frozenset(
        normal_text(record.external_id) if isinstance(record, InvalidRecord) else record.external_id
        for record in records
        if record.external_id
    )


def mentioned_email_keys(records: Iterable[EmployeeRecord | InvalidRecord]) -> frozenset[EmailKey]:
    """Every address that a payload names, those of invalid records included where they can be read."""
    keys = set()
    for record in records:
        if isinstance(record, EmployeeRecord):
            keys.add(record.email.key)
            continue
        try:
            keys.add(parse_email(record.email).key)
        except InvalidEmail:
            continue
    return frozenset(keys)


def missing(
    rostered: Iterable[Employee], *, external_ids: AbstractSet[str], email_keys: AbstractSet[EmailKey]
) -> tuple[Employee, ...]:
    """Those of `rostered` whom a payload mentions neither by external id nor by address; by id."""
    return tuple(
        sorted(
            (
                person
                for person in rostered
                if person.external_id not in external_ids and person.email.key not in email_keys
            ),
            key=lambda person: person.id,
        )
    )


def _recency(person: Employee) -> tuple[datetime, str]:
    return (person.archived_at or _LONG_AGO, person.id)

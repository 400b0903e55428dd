"""Whom a record means: the person with its external id, else the person with its e-mail address.

An index over the people of one company answers in constant time per record, and its answers do not depend on the order
in which people were loaded. What is done about a person found is `sync`'s business. Rules: docs/explanation/sync.md;
Choice: decisions/007.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from awareness_core.emails import EmailKey, InvalidEmail, parse_email
from awareness_core.employees import Employee, EmployeeId, EmployeeRecord, address_precedence
from awareness_core.records import InvalidRecord
from awareness_core.rollcall import Rollcall
from awareness_core.texts import normal_text


@attrs.frozen(kw_only=True)
class Match:
    """Whom a record means, and who is in the way.

    `person` is None when the record means somebody new. `rival` is another person of the company who has the record's
    address, active or archived. `linked` says that the person was found by address and takes the record's external id.
    """

    person: Employee | None = None
    rival: Employee | None = None
    linked: bool = False


NOBODY = Match()
"""What nearly every record of a first load means."""


class PeopleIndex:
    """The people of one company by external id and by address, as they were before the payload.

    `employees` are they as they are now; `rollcall` knows what the payload has changed so far.
    """

    def __init__(self, employees: Iterable[Employee], rollcall: Rollcall) -> None:
        self._rollcall = rollcall
        self._by_external_id: dict[str, Employee] = {}
        self._by_email: dict[EmailKey, Employee] = {}
        self._holders: dict[EmailKey, EmployeeId] = {}
        for person in employees:
            if person.external_id is not None:
                self._by_external_id[person.external_id] = person
            if person.is_active:
                self._holders[person.email.key] = person.id
            if not rollcall.is_mover(person.id):
                other = self._by_email.get(person.email.key)
                if other is None or address_precedence(person) > address_precedence(other):
                    self._by_email[person.email.key] = person

    def match(self, record: EmployeeRecord) -> Match:
        """Whom `record` means. Total: every record means somebody known or somebody new."""
        with_id = None if record.external_id is None else self._by_external_id.get(record.external_id)
        with_email = self._meant_by_email(record.email.key)
        if with_id is not None:
            if with_email is None or self._has_address(with_id, record.email.key, with_email):
                return Match(person=with_id)
            return Match(person=with_id, rival=with_email)
        if with_email is None:
            return NOBODY
        if record.external_id is None:
            return Match(person=with_email)
        if with_email.external_id is None or self._rollcall.is_linked(with_email.id):
            return Match(person=with_email, linked=True)
        return Match(rival=with_email)

    def holds(self, person: Employee) -> bool:
        """Whether `person`, given as they were, is active and holds that address to this moment."""
        return self._holders.get(person.email.key) == person.id

    def _meant_by_email(self, email_key: EmailKey) -> Employee | None:
        # Who was created with it by an earlier chunk was nobody before the payload.
        is_new = self._rollcall.is_newcomers(email_key)
        found = None if is_new else self._by_email.get(email_key)
        moved = self._rollcall.former_holder(email_key)
        if found is None or moved is None:
            return found or moved
        return max(found, moved, key=address_precedence)

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

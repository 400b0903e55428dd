"""What the records seen so far of one payload have claimed, so that a payload can be planned in chunks.

A payload of any length is planned as if it were seen at once: later chunks meet the directory as earlier ones left it,
and this is what they must know beyond that. It grows with the identities in the payload, not with the records.
"""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.emails import EmailKey, InvalidEmail, parse_email
from awareness_core.employees import Employee, EmployeeId, EmployeeRecord, Presence, address_precedence
from awareness_core.records import InvalidRecord, UnchangedPerson
from awareness_core.texts import normal_text

_LEAVING = Presence.LEAVING


class Rollcall:
    """The identities of one payload. Lives as long as the planning of it."""

    def __init__(self) -> None:
        self._claimed_external_ids: set[str] = set()
        # By address: whether it went to somebody whom this payload created.
        self._claimed_email_keys: dict[EmailKey, bool] = {}
        self._mentioned_external_ids: set[str] = set()
        self._mentioned_email_keys: set[EmailKey] = set()
        self._movers: dict[EmployeeId, Employee] = {}
        self._mover_of: dict[EmailKey, Employee] = {}
        self._nameless_newcomers: set[EmailKey] = set()
        self._unknown_leavers: set[EmailKey] = set()
        self._linked: set[EmployeeId] = set()

    def mention(self, record: EmployeeRecord | InvalidRecord) -> None:
        """Note whom a record names that does not count. A person named by anything is not missing."""
        if record.external_id:
            self._mentioned_external_ids.add(normal_text(record.external_id))
        try:
            email = parse_email(record.email) if isinstance(record, InvalidRecord) else record.email
        except InvalidEmail:
            return
        self._mentioned_email_keys.add(email.key)

    def mention_unchanged(self, person: UnchangedPerson) -> None:
        """As `mention`, for a record known to say nothing new of `person`."""
        if person.external_id is not None:
            self._mentioned_external_ids.add(person.external_id)
        self._mentioned_email_keys.add(person.email_key)

    def claim(self, record: EmployeeRecord, person: Employee | None) -> bool:
        """Let a record count, or answer False when an earlier one of the payload means the same person.

        A record that does not count claims nothing: later ones are compared with the first alone.
        """
        email_key, external_id = record.email.key, record.external_id
        asks = asks_for_address(record, person)
        if (
            (asks and email_key in self._claimed_email_keys)
            or (external_id is not None and external_id in self._claimed_external_ids)
            or (person is not None and self.is_mover(person.id))
            or (person is not None and person.external_id in self._claimed_external_ids)
            or (person is None and self._is_unknown_again(record))
        ):
            return False
        if asks:
            self._claimed_email_keys[email_key] = False
        else:
            self._mentioned_email_keys.add(email_key)
        if external_id is not None:
            self._claimed_external_ids.add(external_id)
        if person is None:
            self._note_unknown(record)
        else:
            if person.external_id is not None:
                self._claimed_external_ids.add(person.external_id)
            if person.email.key != email_key or not asks:
                self._move(person)
        return True

    def claim_unchanged(self, people: Sequence[UnchangedPerson]) -> bool:
        """As `claim`, for records known to say nothing new of `people`: all of them count, or none and it is False."""
        ids, external_ids, _, email_keys = zip(*people, strict=True)
        asked, named = dict.fromkeys(email_keys, False), set(external_ids) - {None}
        if (
            len(asked) < len(people)
            or len(named) < len(people) - external_ids.count(None)
            or not self._claimed_email_keys.keys().isdisjoint(asked)
            or not self._claimed_external_ids.isdisjoint(named)
            or not self._movers.keys().isdisjoint(ids)
        ):
            return False
        self._claimed_email_keys |= asked
        self._claimed_external_ids |= named
        return True

    def is_named(self, person: Employee) -> bool:
        """Whether a record that counts is about this person, who has an external id."""
        return person.external_id in self._claimed_external_ids

    def is_claimed(self, email_key: EmailKey) -> bool:
        """Whether a record so far asks for this address."""
        return email_key in self._claimed_email_keys

    def note_newcomer(self, email_key: EmailKey) -> None:
        """Remember that somebody was created with this address, who was nobody before the payload."""
        self._claimed_email_keys[email_key] = True

    def is_newcomers(self, email_key: EmailKey) -> bool:
        """Whether somebody was created with this address."""
        return self._claimed_email_keys.get(email_key, False)

    def note_link(self, employee_id: EmployeeId) -> None:
        """Remember that the payload gave this person, who had none, an external id."""
        self._linked.add(employee_id)

    def is_linked(self, employee_id: EmployeeId) -> bool:
        """Whether the external id of this person comes from the payload."""
        return employee_id in self._linked

    def is_mover(self, employee_id: EmployeeId) -> bool:
        """Whether an earlier record meant this person and asked them away from the address they had."""
        return employee_id in self._movers

    def former_holder(self, email_key: EmailKey) -> Employee | None:
        """Who had this address before this payload and was asked away from it, as they were before."""
        return self._mover_of.get(email_key)

    def is_mentioned(self, *, external_id: str | None, email_key: EmailKey | None = None) -> bool:
        """Whether any record so far names this external id or this address."""
        return (
            external_id in self._claimed_external_ids
            or external_id in self._mentioned_external_ids
            or email_key in self._claimed_email_keys
            or email_key in self._mentioned_email_keys
        )

    def _is_unknown_again(self, record: EmployeeRecord) -> bool:
        # An address is all that a newcomer without external id has to be known by: whoever left it under an external
        # id that nobody knows is the same person, as they will be when the payload is sent again.
        if record.external_id is None:
            return record.email.key in self._unknown_leavers
        return record.presence is _LEAVING and record.email.key in self._nameless_newcomers

    def _note_unknown(self, record: EmployeeRecord) -> None:
        if record.external_id is None:
            self._nameless_newcomers.add(record.email.key)
        elif record.presence is _LEAVING:
            self._unknown_leavers.add(record.email.key)

    def _move(self, person: Employee) -> None:
        self._movers[person.id] = person
        other = self._mover_of.get(person.email.key)
        if other is None or address_precedence(person) > address_precedence(other):
            self._mover_of[person.email.key] = person


def asks_for_address(record: EmployeeRecord, person: Employee | None) -> bool:
    """Whether a record wants its address for the person it means.

    One of somebody who leaves, known by external id or not at all, names the address but has no use for it: the same
    payload may give it to a successor (Choice: decisions/007).
    """
    if record.presence is not _LEAVING or record.external_id is None:
        return True
    return person is not None and person.external_id != record.external_id

"""A mailer that keeps its letters instead of sending them, and refuses the addresses it is told to refuse."""

from __future__ import annotations

from collections.abc import Sequence

from awareness_core.ports import Delivery, InvitationLetter, refuse_inside_transaction


class MemoryMailer:
    """Everybody's mailbox.

    `letters` holds what was accepted, in the order of sending, passwords included: the list is the only place where a
    demo or a test can read them.
    """

    def __init__(self) -> None:
        self.letters: list[InvitationLetter] = []
        self._refusals: dict[str, Delivery] = {}

    def refuse(self, email: str, *, permanent: bool = False) -> None:
        """From now on refuse letters to `email`: for good like an unknown mailbox, or for now like a full one."""
        detail = "550 no such mailbox" if permanent else "451 try again later"
        self._refusals[email] = Delivery(accepted=False, permanent=permanent, detail=detail)

    def accept(self, email: str) -> None:
        """Take back `refuse`."""
        self._refusals.pop(email, None)

    async def send_invitations(self, letters: Sequence[InvitationLetter]) -> Sequence[Delivery]:
        """One outcome a letter, in order. Raises `RuntimeError` inside a store's transaction."""
        refuse_inside_transaction()
        return [self._deliver(letter) for letter in letters]

    def _deliver(self, letter: InvitationLetter) -> Delivery:
        refusal = self._refusals.get(letter.email)
        if refusal is not None:
            return refusal
        self.letters.append(letter)
        return Delivery(accepted=True)

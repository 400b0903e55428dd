"""What the portal does not do, as exceptions: one for each page that says so."""

from __future__ import annotations

from awareness_web.answers import HeaderPairs
from awareness_web.cookies import ERRAND, drop_cookie


class Refused(Exception):
    """Answered by a page with that status. `reason` names its texts."""

    status = 400
    reason = "bad_request"
    headers: HeaderPairs = ()
    ends_connection = False


class NothingHere(Refused):
    """No page has that path."""

    status = 404
    reason = "not_found"


class WrongMethod(Refused):
    """The page exists, but not for this method."""

    status = 405
    reason = "wrong_method"

    def __init__(self, allowed: str) -> None:
        super().__init__(allowed)
        self.headers = ((b"allow", allowed.encode("ascii")),)


class NotFromHere(Refused):
    """The form was sent by a page that is not ours, or by one that is too old."""

    status = 403
    reason = "foreign_form"


class UnreadableForm(Refused):
    """What was sent is no form."""


class FormTooLarge(Refused):
    """No form of ours is so large."""

    status = 413
    reason = "too_large"
    ends_connection = True


class FormTooSlow(Refused):
    """The form did not arrive."""

    status = 408
    reason = "too_slow"
    ends_connection = True


class NotAdmitted(Refused):
    """Whoever the provider sent is nobody whom we let in; why, the log alone says."""

    status = 403
    reason = "not_admitted"
    headers: HeaderPairs = (drop_cookie(ERRAND),)


class NotConfirmed(Refused):
    """The provider answered, and nothing came of it that can be believed.

    No 502: proxies show pages of their own in its place, and who sent a code that is spent is to start again.
    """

    status = 403
    reason = "not_confirmed"
    headers: HeaderPairs = (drop_cookie(ERRAND),)


class ErrandOver(Refused):
    """Who came back from a provider did not set out here, or too long ago, or has been back before."""

    reason = "errand_over"
    headers: HeaderPairs = (drop_cookie(ERRAND),)


class ProviderAway(Refused):
    """The company's identity provider cannot be used at the moment."""

    status = 503
    reason = "provider_away"
    headers: HeaderPairs = (drop_cookie(ERRAND), (b"retry-after", b"30"))

"""Sources: where a company's campaign results come from by themselves, and when which campaign is read again.

A source belongs to one company and keeps no secret. Its API key stays in a file that the operator names; the secret of
its webhook is made from that key and a salt, so that whoever reads the database can forge nothing (Choice:
decisions/026). How a tool is spoken to is an adapter's business.
"""

from __future__ import annotations

import enum
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NewType

import attrs

from awareness_core.api_keys import base62
from awareness_core.campaigns import Campaign, CampaignTelling
from awareness_core.errors import Fault, ValidationFailed
from awareness_core.tenants import CompanyId
from awareness_core.texts import normal_text, text_problem
from awareness_core.web_addresses import is_web_url

SourceId = NewType("SourceId", str)
"""UUIDv7 text. It stands in the path of the webhook and is no secret."""

MAX_SOURCE_NAME = 100
MAX_SOURCE_URL = 500
MAX_PATH = 4096
SALT_BYTES = 16

READ_AGAIN_AFTER = timedelta(hours=1)
"""How long a campaign that is not over is trusted to be as it was while its summary stays the same.

A summary counts people: somebody's second click changes nothing in it (Choice: decisions/026).
"""

LEASE = timedelta(minutes=7)
"""How long a source is one process' to poll without a sign of life. Reading one campaign takes less."""

MAX_DOUBTFUL = 2
"""After so many answers that did not come, a poll ends: mostly because the tool is going down."""

UNREADABLE = ""
"""The digest of no glance."""

WANTED_PAUSE = timedelta(seconds=15)
"""At least so long lies between two polls, however often one is asked for."""

_PLAIN_PATH = re.compile(r"https?://[^/]+(?:/[a-z0-9._~/%-]*)?", re.ASCII | re.IGNORECASE)
"""Of what a path may hold, as much as a tool is ever put behind."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_SIGNATURE = re.compile(r"sha256=([0-9a-fA-F]{64})")
_SECRET_PREFIX = "whs_"  # noqa: S105 (says what kind of secret follows)
_SECRET_LENGTH = 43


class SourceKind(enum.Enum):
    """The tools whose results can be read."""

    GOPHISH = "gophish"


class SourceState(enum.Enum):
    """Derived, never stored."""

    NEW = "new"
    OK = "ok"
    FAILING = "failing"
    POLLING = "polling"


@attrs.frozen(kw_only=True)
class Source:
    """One source. `url` has no slash at its end; `api_key_file` is the path of the file that holds the API key.

    `polled_at` is the end of the last poll, `ok_at` of the last that failed in nothing; `error` says what went wrong
    since. `wanted_at` is when a poll was last asked for. `forged` counts notices with a bad signature. `held_until` is
    the end of the lease of a poll that has not ended.
    """

    id: SourceId
    company_id: CompanyId
    kind: SourceKind
    name: str
    url: str
    api_key_file: str
    salt: bytes = attrs.field(repr=False)
    created_at: datetime
    polled_at: datetime | None = None
    ok_at: datetime | None = None
    error: str | None = None
    wanted_at: datetime | None = None
    forged: int = 0
    held_until: datetime | None = None

    def alive_at(self, now: datetime) -> datetime | None:
        """When the poll that is under way last showed that it is alive; None when there is none."""
        return self.held_until - LEASE if self.held_until is not None and self.held_until > now else None

    def state_at(self, now: datetime) -> SourceState:
        """Whether it is being polled, or else whether the last poll went well, if there was one."""
        if self.alive_at(now) is not None:
            return SourceState.POLLING
        if self.error is not None:
            return SourceState.FAILING
        return SourceState.NEW if self.ok_at is None else SourceState.OK


@attrs.frozen(kw_only=True)
class CampaignGlance:
    """What a tool's listing says of one campaign. `told_id` is the tool's own, `digest` of all that is listed of it.

    `faults` says, by the tool's own names, what of the listing cannot be and is not in `telling`.
    """

    told_id: str
    digest: str
    is_over: bool
    telling: CampaignTelling
    faults: Sequence[Fault] = ()


@attrs.frozen(kw_only=True)
class CampaignReading:
    """When a campaign's results were last read, the digest of its glance before that, how many lines were left out.

    Or when that failed: then the digest is `UNREADABLE`.
    """

    digest: str
    read_at: datetime
    left_out: int = 0

    @property
    def failed_at(self) -> datetime | None:
        """When it could last not be read, if it could not."""
        return self.read_at if self.digest == UNREADABLE else None


def campaign_external_id(source: Source, told_id: str) -> str:
    """What the campaign is called here: two tools, or two of one kind, count from 1 alike."""
    return f"{source.kind.value}:{source.id}:{told_id}"


def is_another(known: Campaign, telling: CampaignTelling) -> bool:
    """Whether what a source tells cannot be of `known`, though it has its number: it was made after that ended.

    So it is when a tool was set up anew and counts from 1 again. A `known` that ended before it was made itself was
    told wrongly, and says nothing.
    """
    if known.ends_at is None or telling.created_at is None:
        return False
    return known.created_at <= known.ends_at < telling.created_at


def unread(
    glances: Iterable[CampaignGlance],
    readings: Mapping[str, CampaignReading],
    *,
    now: datetime,
    everything: bool = False,
) -> Sequence[CampaignGlance]:
    """Those of `glances` whose results may differ from what was read, or with `everything` all, in their order.

    Those that could not be read last time come last, so that they keep none of the others from its turn; among them the
    one first that has waited longest.
    """

    def may_differ(glance: CampaignGlance) -> bool:
        known = readings.get(glance.told_id)
        if everything or known is None or known.digest != glance.digest:
            return True
        return not glance.is_over and now - known.read_at >= READ_AGAIN_AFTER

    def failed_at(glance: CampaignGlance) -> datetime:
        known = readings.get(glance.told_id)
        return (known.failed_at if known is not None else None) or _LONG_AGO

    return sorted((glance for glance in glances if may_differ(glance)), key=failed_at)


def is_kept_as_told(at: datetime, *, created_at: datetime) -> bool:
    """Whether a tool tells of an event at the same moment when it is polled as when it happens.

    `created_at` is when it says that the event's campaign was made. Some databases keep whole seconds, of which some
    round and some cut off: nothing makes one moment of both. A campaign that was made at a full second is of such a
    tool, or by chance of another, about which it is wrong to be wary and does no harm (Choice: decisions/026).
    """
    return at.microsecond == 0 or created_at.microsecond != 0


def is_due(source: Source, *, now: datetime, every: timedelta) -> bool:
    """Whether it is time to poll `source`, which is polled at intervals of `every`, or sooner when asked for.

    With intervals of zero it is polled only when asked for.
    """
    if source.polled_at is None:
        return bool(every) or source.wanted_at is not None
    since = now - source.polled_at
    is_wanted = source.wanted_at is not None and source.wanted_at >= source.polled_at
    return bool(every and since >= every) or (is_wanted and since >= WANTED_PAUSE)


def check_source(*, name: str, url: str, api_key_file: str) -> tuple[str, str]:
    """The normal forms of `name` and `url`. Raises `ValidationFailed` with every fault."""
    faults: list[Fault] = []
    normal_name, normal_url = normal_text(name), normal_text(url).rstrip("/")
    for field, text, longest in (
        ("name", normal_name, MAX_SOURCE_NAME),
        ("url", normal_url, MAX_SOURCE_URL),
        ("api_key_file", api_key_file, MAX_PATH),
    ):
        problem = text_problem(text, min_length=1, max_length=longest)
        if problem is not None:
            faults.append(Fault(field=field, code=problem.code, message=problem.message))
    if not (is_web_url(normal_url) and _PLAIN_PATH.fullmatch(normal_url)):
        message = (
            "must be the address of the tool's own administration, like https://gophish.example:3333, without user, "
            "query or fragment"
        )
        faults.append(Fault(field="url", code="invalid_url", message=message))
    if faults:
        raise ValidationFailed(faults)
    return normal_name, normal_url


def webhook_secret(api_key: str, salt: bytes) -> str:
    """The secret that signs the notices of a source. It is as hard to guess as the API key, and tells nothing of it."""
    digest = hmac.digest(api_key.encode("utf-8", "surrogatepass"), b"awareness webhook\n" + salt, "sha256")
    return _SECRET_PREFIX + base62(int.from_bytes(digest), length=_SECRET_LENGTH)


def is_signed(body: bytes, signature: str | None, secret: str) -> bool:
    """Whether `signature`, `sha256=` and hexadecimal digits, is `body`'s HMAC under `secret`. Constant time."""
    given = _SIGNATURE.fullmatch(signature or "")
    expected = hmac.digest(secret.encode("utf-8"), body, "sha256")
    return hmac.compare_digest(
        expected, bytes.fromhex(given[1]) if given is not None else bytes(len(expected))
    )

"""A new source of campaign results, and its webhook's secret, which is shown once; or another secret for it."""

from __future__ import annotations

import attrs

from awareness_core.errors import ConstraintViolated, Fault, NotFound, SourceUnavailable, ValidationFailed
from awareness_core.identifiers import UUID7_ENTROPY_BYTES, uuid7
from awareness_core.ports import Ports
from awareness_core.sources import SALT_BYTES, Source, SourceId, SourceKind, check_source, webhook_secret
from awareness_core.tenants import CompanyId


@attrs.frozen(kw_only=True)
class AddedSource:
    """What is stored of a source, and the secret of its webhook: to be shown once and kept nowhere."""

    source: Source
    webhook_secret: str = attrs.field(repr=False)


async def add_source(
    ports: Ports, company_id: CompanyId, *, kind: SourceKind, name: str, url: str, api_key_file: str
) -> AddedSource:
    """Make and store a source for that company. Asks the tool nothing: it may be away.

    Raises `ValidationFailed` for a name, an address or a key file that cannot be, or a name or an address that another
    source of the company has; `NotFound` for an unknown company.
    """
    normal_name, normal_url = check_source(name=name, url=url, api_key_file=api_key_file)
    for known in await ports.sources.list_sources(company_id):
        if (known.kind, known.url.lower()) == (kind, normal_url.lower()):
            # Its campaigns would be there twice.
            message = f"is polled by the source '{known.name}' already"
            raise ValidationFailed([Fault(field="url", code="taken", message=message)])
    now = ports.clock.now()
    source = Source(
        id=SourceId(uuid7(at=now, entropy=ports.entropy.take(UUID7_ENTROPY_BYTES))),
        company_id=company_id,
        kind=kind,
        name=normal_name,
        url=normal_url,
        api_key_file=api_key_file,
        salt=ports.entropy.take(SALT_BYTES),
        created_at=now,
    )
    try:
        api_key = await ports.tools[kind].api_key(source)
    except SourceUnavailable as error:
        raise ValidationFailed(
            [Fault(field="api_key_file", code="unreadable", message=error.message)]
        ) from None
    try:
        await ports.sources.add_source(source)
    except ConstraintViolated:
        message = f"another source of the company is called '{normal_name}'"
        raise ValidationFailed([Fault(field="name", code="taken", message=message)]) from None
    return AddedSource(source=source, webhook_secret=webhook_secret(api_key, source.salt))


async def renew_webhook_secret(ports: Ports, source: Source) -> AddedSource:
    """Give the source's webhook another secret; what is signed with the old one is refused from now on.

    Raises `SourceUnavailable` when its API key cannot be read, `NotFound` when it is not there any more.
    """
    renewed = attrs.evolve(source, salt=ports.entropy.take(SALT_BYTES))
    api_key = await ports.tools[source.kind].api_key(renewed)
    if not await ports.sources.resalt_source(source.id, renewed.salt):
        raise NotFound("No such source.")
    return AddedSource(source=renewed, webhook_secret=webhook_secret(api_key, renewed.salt))

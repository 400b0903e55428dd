"""From the text of an API key to the caller behind it."""

from __future__ import annotations

from awareness_core.api_keys import Caller, authenticate, parse_key
from awareness_core.errors import ApiKeyInvalid
from awareness_core.ports import Ports


async def check_access(ports: Ports, presented: str) -> Caller:
    """The caller whose key `presented` spells; costs at most one indexed read.

    Raises `ApiKeyInvalid` for every reason alike. The key's last use is noted at most once a minute.
    """
    key = parse_key(presented)
    if key is None:
        raise ApiKeyInvalid
    stored = await ports.api_keys.find_api_key(key.public_id)
    now = ports.clock.now()
    caller = authenticate(key, stored, now=now)
    if stored is not None and stored.use_is_worth_recording(now):
        await ports.api_keys.record_api_key_use(stored.id, at=now)
    return caller

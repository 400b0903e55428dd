"""What the fictional company is made of: names, sectors and campaigns, read from `data/demo.json`.

Data, so that somebody who wants another company edits no code. Draws nothing by lot.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import attrs
import cattrs

from awareness_core.campaigns import CampaignState, Difficulty


@attrs.frozen(kw_only=True)
class CompanyPlan:
    """The company. People of a sector that `uses_sso` have addresses in `sso_domain`, the others in `domain`."""

    name: str
    domain: str
    sso_domain: str


@attrs.frozen(kw_only=True)
class SectorPlan:
    """A sector, its share of the people in percent, what they do there, and the network of their `office`."""

    name: str
    office: str
    share: int
    jobs: tuple[str, ...]
    uses_sso: bool = False


@attrs.frozen(kw_only=True)
class CampaignPlan:
    """A campaign. `weeks_ago` counts back from the latest week, below 0 lies ahead; without `sectors` it is for all."""

    name: str
    weeks_ago: int
    state: CampaignState
    difficulty: Difficulty
    sectors: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class GatewayPlan:
    """The mail gateway that follows links before it delivers. Not each of its `user_agents` says what it is."""

    address: str
    user_agents: tuple[str, ...]


@attrs.frozen(kw_only=True)
class DemoData:
    """All of it. `first_request` is the body of a request that a newcomer can send, in the words of the HTTP API.

    People act from their sector's office or from the network of `homes`, with one of the `user_agents`. All addresses
    are of the ranges for documentation (RFC 5737), so that none is anybody's.
    """

    company: CompanyPlan
    sectors: tuple[SectorPlan, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    campaigns: tuple[CampaignPlan, ...]
    homes: str
    user_agents: tuple[str, ...]
    gateway: GatewayPlan
    first_request: dict[str, str | bool]


@cache
def demo_data() -> DemoData:
    """What `data/demo.json` says; an unknown or a missing key is an error."""
    text = (files("awareness_server") / "data" / "demo.json").read_text(encoding="utf-8")
    converter = cattrs.Converter(forbid_extra_keys=True)
    converter.register_structure_hook(str | bool, lambda value, _: value)
    return converter.structure(json.loads(text), DemoData)

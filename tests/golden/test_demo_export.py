"""One campaign of the demo as its maker writes it, to the letter. Changed on purpose only, with `--update`."""

from __future__ import annotations

import json
from collections.abc import Callable

from awareness_server.demo_exports import gophish_export
from tests.end_to_end.demo_company import KEPT_EXPORT, KEPT_NUMBER, drawn


def test_the_demo_writes_a_campaign_as_it_did(golden: Callable[[str, str], str]) -> None:
    (campaign,) = [one for one in drawn() if one.number == KEPT_NUMBER]
    told = json.loads(gophish_export(campaign))
    text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"

    # Kept beside the other exports, as tests import it like them.
    assert golden(f"../data/gophish/{KEPT_EXPORT.name}", text) == text

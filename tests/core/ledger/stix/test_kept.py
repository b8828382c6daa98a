"""Exports that were made once: an identifier that was given stays, and so does all it is of."""

import json
from typing import Any

import pytest

from svc_core import canonical

ASKED: dict[str, Any] = {
    "stix-everything": {},
    "stix-before": {"record_time": "2026-01-20T09:00:00.123456Z", "size": 18, "tlp": "green"},
    "stix-later": {"valid_time": "2028-01-01T00:00:00.000000Z", "tlp": "clear"},
}


@pytest.mark.parametrize("name", ASKED)
def test_an_export_is_the_same_on_every_machine_and_in_every_release(
    name: str, tale: Any, kept: Any
) -> None:
    made = tale.raw(tale.everything(), **ASKED[name])
    rows = json.loads(made)

    kept(f"{name}.json", json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    assert canonical.dumps(rows) == made

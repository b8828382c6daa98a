"""What of a row is named as changed, and that a change which is none is told by nobody."""

import json
from typing import Any

import pytest

from svc_core.base.differences import changed_fields

ROW = {
    "id": "a",
    "name": "Ärger",
    "rank": 1,
    "flag": True,
    "place": {"name": "Suva", "at": [178.4, -18.1]},
    "sources": [
        {"id": "src_a", "recordId": "1", "retrievedAt": "2026-01-01T00:00:00Z"},
        {"id": "src_b", "recordId": "2", "retrievedAt": "2026-01-02T00:00:00Z"},
    ],
    "updatedAt": "2026-01-01T00:00:00Z",
    "retrievedAt": "2026-01-01T00:00:00Z",
    "revision": 1,
}
LATER = "2026-02-01T00:00:00Z"


@pytest.mark.parametrize(
    ("members", "fields"),
    [
        ({}, ()),
        ({"name": "Ärger!"}, ("name",)),
        ({"name": None}, ("name",)),
        ({"rank": 2, "name": "x"}, ("name", "rank")),
        ({"rank": 1.0}, ()),
        ({"rank": True}, ("rank",)),
        ({"flag": 1}, ("flag",)),
        ({"new": None}, ("new",)),
        ({"place": {"at": [178.4, -18.1], "name": "Suva"}}, ()),
        ({"place": {"at": [-18.1, 178.4], "name": "Suva"}}, ("place",)),
        ({"place": {"at": [178.4], "name": "Suva"}}, ("place",)),
        ({"place": {"name": "Suva", "at": [True, -18.1]}}, ("place",)),
        ({"place": {"name": "Suva"}}, ("place",)),
        ({"place": None}, ("place",)),
        ({"updatedAt": LATER, "retrievedAt": LATER, "revision": 2}, ()),
        ({"sources": ROW["sources"][::-1]}, ()),
        ({"sources": [source | {"retrievedAt": LATER} for source in ROW["sources"]]}, ()),
        ({"sources": [source | {"recordId": "3"} for source in ROW["sources"]]}, ("sources",)),
        ({"sources": ROW["sources"][:1]}, ("sources",)),
        ({"sources": ["a feed"]}, ("sources",)),
        ({"sources": None}, ("sources",)),
    ],
)
def test_a_change_names_the_members_whose_values_differ(members: Any, fields: Any) -> None:
    before, after = json.dumps(ROW).encode(), json.dumps(ROW | members).encode()
    assert changed_fields(before, after) == fields
    assert changed_fields(after, before) == fields


def test_a_member_that_only_one_of_both_has_is_named() -> None:
    assert changed_fields(b'{"a":1,"b":null}', b'{ "a": 1 }') == ("b",)
    assert changed_fields(b'{"b":1,"a":2}', b'{"a":2,"b":1}') == ()

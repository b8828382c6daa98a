"""A change leads to its resource where the key may read that."""

import json
import re
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from svc_core.catalog import COLLECTIONS, OPERATIONS
from svc_core.changes.render import READERS, ResourceType, dump_change
from svc_core.operation.caller import Actor
from svc_core.operation.ports import BASE_V1, BASE_V2, Change

AT = datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("kind", get_args(ResourceType))
def test_a_change_leads_to_what_its_reader_may_read(kind: str) -> None:
    change = Change("chg_1", "created", kind, "x", 1, AT, "/api/v1/x", False, None)
    keyed = {"tenant": "wsp_a", "key_id": "key_a"}
    actors = [
        (Actor("wsp_a"), True),
        (Actor(**keyed), False),
        (Actor(**keyed, scopes=frozenset({"osint:write"})), False),
        *((Actor(**keyed, scopes=frozenset({scope})), True) for scope in READERS[kind]),
    ]
    for actor, is_readable in actors:
        link = json.loads(dump_change(change, actor))["links"]["self"]
        assert link == ("/api/v1/x" if is_readable else None)


def test_who_reads_a_resource_is_said_by_the_operation_that_reads_it() -> None:
    scopes = {}
    for collection in COLLECTIONS:
        address = collection.address("x")
        if collection.kind is not None and address is not None:
            (operation,) = (op for op in OPERATIONS if op.method == "GET" and _is_at(op, address))
            scopes[collection.kind] = operation.scopes
    assert scopes == {kind: READERS[kind] for kind in scopes}
    assert READERS.keys() == set(get_args(ResourceType)) == scopes.keys() | {"subject"}


def _is_at(operation: Any, address: str) -> bool:
    base = BASE_V1 if operation.version == "1.0" else BASE_V2
    return re.fullmatch(re.sub(r"{\w+}", "[^/]+", base + operation.path), address) is not None

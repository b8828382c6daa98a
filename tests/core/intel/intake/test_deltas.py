"""Changes of a collection come in as what they are: added, replaced and taken back."""

import json
from typing import Any

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.folding.model import RowCounts


def entity(id_: str, schema: str, day: int, **properties: str) -> dict[str, Any]:
    changed_at = f"2026-01-{day:02}T00:00:00"
    texts = {name: [value] for name, value in properties.items()}
    return {"id": id_, "schema": schema, "properties": texts, "last_change": changed_at}


def changes(*lines: tuple[str, dict[str, Any]]) -> Document:
    lines_json = "\n".join(json.dumps({"op": op, "entity": entity}) for op, entity in lines)
    return read_document(Body(lines_json.encode()), FORMATS["ftm-delta"], Origin())


APPLE = entity("c", "Company", 1, name="Apple", leiCode="HWUPKR0MPOU8FGXBT394")
FIRST = changes(
    ("ADD", entity("p", "Person", 1, name="Ann")),
    ("ADD", APPLE),
    ("ADD", entity("e", "Ownership", 1, owner="p", asset="c")),
)
SECOND = changes(("MOD", entity("p", "Person", 2, name="Ann B")))
DELETION = changes(
    ("ADD", entity("x", "Person", 3, name="Xu")),
    *(("DEL", {"id": id_}) for id_ in ("p", "c", "e", "never")),
)


def live_names(house: Any) -> dict[str, Any]:
    claims = house.stored(CONTRIBUTIONS)
    return {claim.key: claim.said.get("name") for claim in claims if not claim.gone}


def test_a_deletion_by_id_alone_takes_back_what_was_added(house: Any) -> None:
    source = house.add("https://example.org/changes")
    assert house.take(source, FIRST) == RowCounts(created=3)
    assert house.take(source, FIRST) == RowCounts(unchanged=3)
    assert house.take(source, SECOND) == RowCounts(updated=1)
    assert live_names(house) == {"ftm:p": "Ann B", "ftm:c": "Apple", "ftm:e": None}
    counts = house.take(source, DELETION)
    assert (counts.created, counts.deleted) == (1, 3)
    assert live_names(house) == {"ftm:x": "Xu"}


def test_old_changes_read_again_bring_nothing_back(house: Any) -> None:
    source = house.add("https://example.org/changes")
    for document in (FIRST, SECOND, DELETION):
        house.take(source, document)
    for document in (FIRST, SECOND, DELETION, SECOND):
        again = house.take(source, document)
        assert (again.created, again.updated, again.deleted) == (0, 0, 0)
    assert live_names(house) == {"ftm:x": "Xu"}

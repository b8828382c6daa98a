"""The demo's documents of statistics and countries, taken in as their sources' own."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from svc_core.intel.folding.model import Source, source_id
from svc_core.intel.intake import record_intake as documents
from svc_http.run.demo.demo_feeds import data_documents

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
KINDS = frozenset({"indicator", "country"})

Take = Callable[..., Any]


def source(name: str) -> Source:
    return Source(
        id=source_id(name), location=name, name=name, home_url=None, domain="", format=None,
        language=None, country_code=None, topics=(), cadence_seconds=900, created_at=NOW,
    )  # fmt: skip


@pytest.fixture(scope="session")
def take() -> Take:
    """Take a document in as what the source of this name says now."""

    def take(house: Any, name: str, body: bytes, options: Mapping[str, str] | None = None) -> Any:
        raw_body, origin = Body(body), source(name)
        document = read_document(
            raw_body, recognise_format(raw_body), Origin(options=options or {}, name=name)
        )
        now = house.clock.now()
        readings = [
            documents.judge_reading(
                origin,
                documents.record_reading(origin, document.format, document.metadata, record),
                now,
            )
            for record in document.records
        ]
        return house.run(lambda ctx: documents.write_readings(ctx, readings))

    return take


@pytest.fixture(scope="session")
def world(house_factory: Callable[[], Any], take: Take) -> Any:
    """Every row of the demo that is an indicator or a country; nobody writes to it."""
    house = house_factory()
    for document in data_documents(NOW):
        if set(recognise_format(Body(document.body)).resources) & KINDS:
            take(house, document.file_name, document.body, dict(document.options))
    return house

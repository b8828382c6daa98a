"""The documents of the demo in a store, as they are taken in when it starts."""

import json
from typing import Any

from svc_core.base import instants
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, read_document, recognise_format
from svc_core.intel.folding.model import Source
from svc_core.intel.intake import health, registry
from svc_core.intel.intake import record_intake as intake
from svc_core.operation.context import Context
from svc_core.testing.clock import START
from svc_http.run.demo.demo_feeds import DemoDocument, data_documents, demo_documents


def take_all(house: Any) -> None:
    """Take in every document of the demo."""
    for document in (*demo_documents(house.clock.now()), *data_documents(house.clock.now())):
        house.run(lambda ctx, document=document: _take(ctx, document))


async def _take(ctx: Context, document: DemoDocument) -> None:
    wish = registry.SourceWish(
        f"https://demo.example/{document.file_name}",
        document.name,
        document.topics,
        options=document.options,
    )
    source = await registry.register_source(ctx, wish)
    await intake.take_document(ctx, source.id, _read(source, document))


def _read(source: Source, document: DemoDocument) -> Document:
    body = Body(document.body)
    zone, country_zone = health.zones(source)
    given = Origin(
        options=source.options,
        base_url=source.location,
        name=document.file_name,
        zone=zone,
        country_zone=country_zone,
    )
    return read_document(body, recognise_format(body), given)


def body(name: str) -> bytes:
    """A document of the demo, by the name of its file."""
    return next(one.body for one in data_documents(START) if one.file_name == name)


def json_of(body: bytes) -> Any:
    """What an answer says."""
    return json.loads(body)


def millis(instant: str) -> int:
    """An instant as milliseconds since 1970."""
    return int(instants.parse(instant).timestamp() * 1_000)


def take(house: Any, name: str, told: Any, **options: str) -> None:
    """Take in a document as the newest of the source of that name; JSON unless it is bytes."""
    raw = told if isinstance(told, bytes) else json.dumps(told).encode()
    house.run(lambda ctx: _take(ctx, DemoDocument(name, name, (), raw, options)))

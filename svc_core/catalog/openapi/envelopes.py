"""The bodies of successful answers as named schemas."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, get_args

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.contract.negotiation import Representation
from svc_core.contract.result import (
    Accepted,
    Bare,
    Content,
    Created,
    Empty,
    Page,
    PagedResource,
    Redirect,
    Single,
)
from svc_core.knowledge.rows import Mode, RetrievalBounds
from svc_core.operation.declaration import GEOJSON, JSON, NDJSON, SSE, Operation
from svc_core.operation.stream import Stream
from svc_core.wire import shapes
from svc_core.wire.constraints import Example, Ge
from svc_core.wire.schema import Schema, Schemas, name_of


@frozen
class PageCursor:
    """How to get the next page."""

    next_cursor: Annotated[str | None, Example(None)]
    """Opaque cursor of the next page; null at the end."""


@frozen
class PageMeta:
    """Facts about the page."""

    page_count: Annotated[int, Ge(0), Example(1)]
    """Rows in this page; not a total."""
    page: PageCursor
    count: Annotated[Maybe[int], Ge(0)] = UNSET
    """Deprecated: use pageCount."""
    watermark: Maybe[str] = UNSET
    """Change feed only: the position after the last row, to be kept."""
    mode: Maybe[Mode] = UNSET
    """Retrieval only: how the rows were found."""
    bounds: Maybe[RetrievalBounds] = UNSET
    """Retrieval only: what it looked at."""


@frozen
class PageLinks:
    """Where the next page is."""

    next: Annotated[str | None, Example(None)]
    """Address of the next page; null at the end."""


@frozen
class FeatureLink:
    """Where a page is."""

    href: str
    """Its address."""
    rel: Annotated[Literal["self", "next"], Example("self")]
    """Which page."""
    type: Annotated[str, Example(GEOJSON.media_type)]
    """Its media type."""


@frozen
class Feature:
    """A row as a feature (RFC 7946, 3.2)."""

    type: Literal["Feature"]
    """What it is."""
    id: str
    """The identifier of the row."""
    geometry: Annotated[
        Mapping[str, Any] | None, Example({"type": "Point", "coordinates": [-79.62, 0.98]})
    ]
    """The geometry of its place, longitude first; null where it is not known."""
    properties: Annotated[
        Mapping[str, Any],
        Example({"title": "M 7.1 earthquake near Esmeraldas, Ecuador", "countryCode": "EC"}),
    ]
    """The row without `place`, but with its `name`, `countryCode`, `admin1Code`, `precision`."""


@frozen
class FeatureCollection:
    """One page of rows as features (RFC 7946, 3.3; OGC API Features part 1, 7.16)."""

    type: Literal["FeatureCollection"]
    """What it is."""
    features: tuple[Feature, ...]
    """The rows of this page."""
    number_returned: Annotated[int, Ge(0), Example(1)]
    """Features in this page."""
    time_stamp: Annotated[datetime, Example("2026-01-31T05:52:11Z")]
    """When it was made."""
    links: tuple[FeatureLink, ...]
    """This page, and the next where there is one."""
    meta: PageMeta


_PAGE_MEMBERS = {"meta": PageMeta, "links": PageLinks}


def success_bodies(operation: Operation[Any, Any], schemas: Schemas) -> dict[str, Schema]:
    """The schema of the body for each media type that the operation offers; empty for 204."""
    results = operation.results
    if all(kind is Empty for kind, _ in results):
        return {}
    json = _any_of(list(_json_bodies(operation, schemas)))
    rows = next((model for kind, model in results if kind is Page), None)
    return {
        offer.media_type: json if offer == JSON else _other_media(offer, rows, schemas)
        for offer in operation.media
    }


def _any_of(schemas: list[Schema]) -> Schema:
    """One of the bodies; `anyOf`, because answers are open and one may pass as another."""
    match schemas:
        case []:
            return {"type": "object"}
        case [only]:
            return only
        case _:
            return {"anyOf": schemas}


def _json_bodies(operation: Operation[Any, Any], schemas: Schemas) -> Iterator[Schema]:
    for kind, model in operation.results:
        if kind is Page:
            yield _page_envelope(model, schemas)
        elif kind is PagedResource:
            yield _paged_envelope(model, schemas)
        elif kind in (Single, Created, Accepted):
            yield _one_envelope(model, schemas)
        elif kind is Bare:
            yield schemas.of(model, "output")
        elif kind not in (Content, Empty, Redirect, Stream):
            raise TypeError(f"{operation.id} answers with {kind!r}, which is no result.")


def _page_envelope(model: Any, schemas: Schemas) -> Schema:
    around = {name: schemas.of(part, "output") for name, part in _PAGE_MEMBERS.items()}
    rows = _array("The rows of this page.", model, schemas)
    return _envelope("Page", "One page of rows.", model, schemas, {"data": rows, **around})


def _paged_envelope(model: Any, schemas: Schemas) -> Schema:
    around = {name: schemas.of(part, "output") for name, part in _PAGE_MEMBERS.items()}
    members = {"data": schemas.of(model, "output"), **around}
    return _envelope("Page", "One page of a resource.", model, schemas, members)


def _one_envelope(model: Any, schemas: Schemas) -> Schema:
    if shapes.is_tuple(model):
        (item, _) = get_args(model)
        words = "Several resources, in the order in which they were asked for."
        several = _array("The resources.", item, schemas)
        return _envelope("List", words, item, schemas, {"data": several})
    member = schemas.of(model, "output")
    return _envelope("One", "One resource.", model, schemas, {"data": member})


def _array(words: str, model: Any, schemas: Schemas) -> Schema:
    return {"type": "array", "description": words, "items": schemas.of(model, "output")}


def _envelope(
    ending: str, words: str, model: Any, schemas: Schemas, members: dict[str, Schema]
) -> Schema:
    whole = {"type": "object", "description": words, "properties": members}
    return schemas.add(f"{name_of(model, 'output')}{ending}", whole | {"required": list(members)})


def _other_media(offer: Representation, rows: Any, schemas: Schemas) -> Schema:
    media_type = offer.media_type
    if offer == GEOJSON:
        return schemas.of(FeatureCollection, "output")
    if media_type == NDJSON.media_type and rows is not None:
        words = f"One {name_of(rows, 'output')} as JSON in each line, every line ended by LF."
        return {"type": "string", "description": words}
    if media_type == SSE.media_type:
        # No type: some readers take the schema for the text of the stream, others for an event.
        return {"description": "Server-sent events, each with a name and with JSON as its data."}
    is_json = media_type.partition(";")[0].endswith("json")
    return {"type": "object"} if is_json else {"type": "string"}

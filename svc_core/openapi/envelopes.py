"""The bodies of successful answers as named schemas."""

from collections.abc import Iterator
from typing import Any, get_args, get_origin

from svc_core.operation import JSON, NDJSON, SSE, Operation
from svc_core.result import Bare, Content, Created, Empty, One, Page, Redirect
from svc_core.schema import Schema, Schemas, name_of
from svc_core.stream import Stream
from svc_core.wire import shapes

_NULLABLE_TEXT: Schema = {"type": ["string", "null"]}

PAGE_META: Schema = {
    "type": "object",
    "description": "Facts about the page.",
    "properties": {
        "pageCount": {
            "type": "integer",
            "minimum": 0,
            "description": "Rows in this page; not a total.",
            "examples": [1],
        },
        "count": {
            "type": "integer",
            "minimum": 0,
            "description": "Deprecated: use pageCount.",
            "deprecated": True,
        },
        "page": {
            "type": "object",
            "description": "How to get the next page.",
            "properties": {
                "nextCursor": {
                    **_NULLABLE_TEXT,
                    "description": "Opaque cursor of the next page; null at the end.",
                    "examples": [None],
                }
            },
            "required": ["nextCursor"],
        },
        "watermark": {
            "type": "string",
            "description": "Change feed only: the position after the last row, to be kept.",
        },
    },
    "required": ["pageCount", "page"],
}
PAGE_LINKS: Schema = {
    "type": "object",
    "description": "Where the next page is.",
    "properties": {
        "next": {
            **_NULLABLE_TEXT,
            "description": "Address of the next page; null at the end.",
            "examples": [None],
        }
    },
    "required": ["next"],
}


def results(operation: Operation[Any, Any]) -> tuple[tuple[Any, Any], ...]:
    """The result classes of an operation, each with the model inside it or None."""
    response = operation.response
    members = get_args(response) if shapes.is_union(response) else (response,)
    return tuple((get_origin(item) or item, next(iter(get_args(item)), None)) for item in members)


def content(operation: Operation[Any, Any], schemas: Schemas) -> dict[str, Schema]:
    """The schema of the body for each media type that the operation offers; empty for 204."""
    found = results(operation)
    if all(kind is Empty for kind, _ in found):
        return {}
    json = _any_of(list(_json_bodies(operation, schemas)))
    rows = next((model for kind, model in found if kind is Page), None)
    return {
        offer.media_type: json if offer == JSON else _other(offer.media_type, rows)
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
    for kind, model in results(operation):
        if kind is Page:
            yield _page(model, schemas)
        elif kind in (One, Created):
            yield _one(model, schemas)
        elif kind is Bare:
            yield schemas.of(model, "output")
        elif kind not in (Content, Empty, Redirect, Stream):
            raise TypeError(f"{operation.id} answers with {kind!r}, which is no result.")


def _page(model: Any, schemas: Schemas) -> Schema:
    envelope: Schema = {
        "type": "object",
        "description": "One page of rows.",
        "properties": {
            "data": {
                "type": "array",
                "description": "The rows of this page.",
                "items": schemas.of(model, "output"),
            },
            "meta": schemas.add("PageMeta", PAGE_META),
            "links": schemas.add("PageLinks", PAGE_LINKS),
        },
        "required": ["data", "meta", "links"],
    }
    return schemas.add(f"{name_of(model, 'output')}Page", envelope)


def _one(model: Any, schemas: Schemas) -> Schema:
    if shapes.is_tuple(model):
        return _several(get_args(model)[0], schemas)
    envelope: Schema = {
        "type": "object",
        "description": "One resource.",
        "properties": {"data": schemas.of(model, "output")},
        "required": ["data"],
    }
    return schemas.add(f"{name_of(model, 'output')}One", envelope)


def _several(model: Any, schemas: Schemas) -> Schema:
    envelope: Schema = {
        "type": "object",
        "description": "Several resources, in the order in which they were asked for.",
        "properties": {
            "data": {
                "type": "array",
                "description": "The resources.",
                "items": schemas.of(model, "output"),
            }
        },
        "required": ["data"],
    }
    return schemas.add(f"{name_of(model, 'output')}List", envelope)


def _other(media_type: str, rows: Any) -> Schema:
    if media_type == NDJSON.media_type and rows is not None:
        words = f"One {name_of(rows, 'output')} as JSON in each line, every line ended by LF."
        return {"type": "string", "description": words}
    if media_type == SSE.media_type:
        # No type: some readers take the schema for the text of the stream, others for an event.
        return {"description": "Server-sent events, each with a name and with JSON as its data."}
    is_json = media_type.partition(";")[0].endswith("json")
    return {"type": "object"} if is_json else {"type": "string"}

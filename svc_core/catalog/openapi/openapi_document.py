"""The whole OpenAPI document, in the spec's form and in a flat form for client generators."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from attrs import frozen

from svc_core import data
from svc_core.catalog.openapi import headers
from svc_core.catalog.openapi.operations import OperationWriter
from svc_core.contract.problem import CATALOGUE
from svc_core.contract.result import Created
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from svc_core.operation.ports import BASE_V1, BASE_V2
from svc_core.wire.constraints import Ge, Le, Pattern
from svc_core.wire.schema import Schema, Schemas

VERSION = "3.1.0"
TITLE = "Intelligence Platform API"
"""The name of the service, in the document and on its pages."""

TAGS: Mapping[str, str] = dict(data.table_rows("tags.tsv"))

_DESCRIPTION = """\
Intelligence reports, profiles, news and the data behind them, as JSON over HTTP.

Send `Authorization: Bearer <API_KEY>`. Every failure is a problem detail (RFC 9457) with a stable
`code`, a `resolution` and the `requestId`; its `type` is the address of a page that explains it.
Lists are continued with `meta.page.nextCursor`, unchanged. Unknown query parameters and unknown
members of a body are refused. Requests whose line, fields or body are malformed or too large are
answered 400, 413, 414, 417 or 431, and unknown paths and methods 404 and 405, as problems as well.
"""


@frozen
class ProblemBody:
    """What went wrong and what to do (RFC 9457)."""

    __schema_name__ = "Problem"

    type: str
    """Address of the page that explains the code."""
    title: str
    """The same words for every occurrence."""
    status: Annotated[int, Ge(400), Le(599)]
    """The status of the answer."""
    detail: str
    """What is wrong with this request."""
    instance: str
    """`urn:request:` and the request's id."""
    code: Annotated[str, Pattern("[A-Z][A-Z0-9_]*")]
    """Stable machine-readable code."""
    request_id: str
    """Quote it to support."""
    resolution: str
    """The safe next step."""


_SECURITY = {
    "bearerAuth": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "svc_ and 64 hexadecimal digits",
        "description": "An API key. The prefix `Bearer` is case-sensitive.",
    },
    "x402": {
        "type": "apiKey",
        "in": "header",
        "name": "PAYMENT-SIGNATURE",
        "description": "A signed payment for this one request, as `PAYMENT-REQUIRED` asked for it.",
    },
}


def build_openapi(
    operations: Iterable[Operation[Any, Any]],
    *,
    base_url: str,
    data_url: str | None = None,
    flat: bool = False,
    unsent: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """The OpenAPI 3.1 description of `operations`.

    The spec's form has the v1 server on top (and the one of `data_url`) with paths below it, and
    v2 operations override the server. The flat form has one server, the origin, and full paths;
    where a body may be one thing or a list of them, it shows the list, and a choice between
    choices is one choice, because generators of clients make no types of these. `unsent` are header
    fields of answers that this service never sends.

    Raises:
        TypeError: two operations claim one method and path, or two models one name.
    """
    catalogue = tuple(operations)
    writer = OperationWriter(base_url, Schemas(), flat, unsent)
    is_sold = any(operation.auth == "bearer-or-x402" for operation in catalogue)
    writer.schemas.of(ProblemBody, "output")
    paths = _paths(catalogue, writer, flat=flat)
    schemas = writer.schemas.components
    if flat:
        schemas = _flatten_choices(schemas)
    return {
        "openapi": VERSION,
        "info": {
            "title": TITLE,
            "version": "1.0",
            "description": _DESCRIPTION,
            "contact": {"name": f"{TITLE} support", "url": f"{base_url}/docs"},
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": _servers(base_url, data_url, flat=flat),
        "tags": _tags(catalogue),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": _used_components(headers.HEADERS, paths, "headers"),
            "examples": _used_components(
                {code: writer.example(kind) for code, kind in CATALOGUE.items()}, paths, "examples"
            ),
            "securitySchemes": _SECURITY if is_sold else {"bearerAuth": _SECURITY["bearerAuth"]},
        },
    }


def _flatten_choices(schemas: Mapping[str, Schema]) -> dict[str, Schema]:
    """The components with nested `oneOf` schemas merged into one."""
    root = "#/components/schemas/"
    components, inner_names = dict(schemas), set()
    for name, schema in schemas.items():
        names = [choice["$ref"].removeprefix(root) for choice in schema.get("oneOf", ())]
        inner = {choice for choice in names if "oneOf" in schemas[choice]}
        if inner:
            parts = [schemas[part].get("oneOf", [{"$ref": root + part}]) for part in names]
            # No member tells them apart by itself any more; their constants together do.
            members = {word: text for word, text in schema.items() if word != "discriminator"}
            components[name] = {**members, "oneOf": [choice for part in parts for choice in part]}
            inner_names |= inner
    return {name: schema for name, schema in components.items() if name not in inner_names}


def _servers(base_url: str, data_url: str | None, *, flat: bool) -> list[dict[str, str]]:
    if flat:
        return [{"url": base_url, "description": "The service."}]
    servers = [{"url": base_url + BASE_V1, "description": "The v1 interface."}]
    if data_url is not None:
        servers.append({"url": data_url + BASE_V1, "description": "Secondary data origin."})
    return servers


def _tags(operations: tuple[Operation[Any, Any], ...]) -> list[dict[str, str]]:
    names = dict.fromkeys(operation.tag for operation in operations)
    return [{"name": name, "description": TAGS[name]} for name in names]


def _paths(
    operations: tuple[Operation[Any, Any], ...], writer: OperationWriter, *, flat: bool
) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for operation in operations:
        description = writer.operation(operation)
        links = _links(operation, operations)
        if links:
            description["responses"][str(operation.success)]["links"] = links
        if operation.version == "2.0" and not flat:
            address = writer.base_url + BASE_V2
            description["servers"] = [{"url": address, "description": "The v2 interface."}]
        path = operation.address if flat else operation.path.replace("{+", "{")
        item = paths.setdefault(path, {})
        if operation.method.lower() in item:
            raise TypeError(f"{operation.method} {operation.path} is declared twice.")
        item[operation.method.lower()] = description
    return paths


def _used_components(parts: Mapping[str, Schema], paths: Any, kind: str) -> dict[str, Schema]:
    """The components that the paths refer to; linters object to unused ones."""
    root = f"#/components/{kind}/"
    names = {ref.removeprefix(root) for ref in _references(paths)}
    return {name: part for name, part in parts.items() if name in names}


def _references(value: Any) -> Iterator[str]:
    """Every `$ref` inside a value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            waiting.extend(item.values())
            if "$ref" in item:
                yield item["$ref"]


def _links(
    operation: Operation[Any, Any], operations: tuple[Operation[Any, Any], ...]
) -> dict[str, Any]:
    """OpenAPI links from the answer that creates a resource to the operations on it."""
    if all(kind is not Created for kind, _ in operation.results):
        return {}
    return {
        target.id: {"operationId": target.id, "parameters": {names[0]: "$response.body#/data/id"}}
        for target in operations
        if (names := _path_names(target))
        and target.version == operation.version
        and target.path == f"{operation.path}/{{{names[0]}}}"
    }


def _path_names(operation: Operation[Any, Any]) -> list[str]:
    return [item.name for item in inputs_of(operation.request) if item.place == "path"]

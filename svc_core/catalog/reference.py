"""The reference pages of operations and problems as Markdown, made from the catalogue.

Rule: a page says what the declaration says and nothing else, so it cannot be out of date.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET
from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.catalog.openapi.failures import failure_responses
from svc_core.contract import problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.inputs import Input, inputs_of
from svc_core.wire.constraints import IdOf
from svc_core.wire.schema import Schemas

EXAMPLE_ORIGIN = "https://api.example.com"
EXAMPLE_REQUEST_ID = IdOf("req").example

_ACCESS = {
    "bearer": "API key",
    "bearer-or-x402": "API key or x402 payment",
    "public": "No key",
}
REPEAT: Mapping[bool, str] = {
    True: "The same request may be sent again, unchanged.",
    False: "Do this before you send the request again.",
}
_BOUNDS: Mapping[str, str] = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "`{}`",
}
_TABLE = """\
| Input | In | Type | Required | Default | Meaning |
|---|---|---|---|---|---|"""


# -- operations --------------------------------------------------------------------------------


@frozen
class InputWords:
    """The texts about one input on a reference page; code stands between backticks."""

    name: str
    place: str
    type: str
    required: bool
    default: str
    meaning: str


@frozen
class OperationWords:
    """The texts about one operation on a reference page; code stands between backticks."""

    id: str
    method: str
    address: str
    summary: str
    description: str
    facts: tuple[str, ...]
    inputs: tuple[InputWords, ...]
    body: str | None
    failures: tuple[ProblemType, ...]


def by_tag(
    operations: Iterable[Operation[Any, Any]],
) -> tuple[tuple[str, tuple[OperationWords, ...]], ...]:
    """The texts about all operations, grouped by tag in the order of the catalogue."""
    groups: dict[str, list[OperationWords]] = {}
    for operation in operations:
        groups.setdefault(operation.tag, []).append(_words(operation))
    return tuple((tag, tuple(group)) for tag, group in groups.items())


def operations_page(operations: Iterable[Operation[Any, Any]]) -> str:
    """The Markdown page of all operations."""
    blocks = ["# Operations", "Every operation with its inputs, its answers and its failures."]
    for tag, group in by_tag(operations):
        blocks.append(f"## {tag}")
        for words in group:
            blocks += _operation(words)
    return "\n\n".join(blocks) + "\n"


def _operation(words: OperationWords) -> Iterator[str]:
    yield f"### {words.summary}"
    yield f"`{words.method} {words.address}` (`{words.id}`)"
    yield words.description
    codes = ", ".join(f"[`{kind.code}`](problems.md#{kind.slug})" for kind in words.failures)
    yield "\n".join(f"- {fact}" for fact in (*words.facts, f"Failures: {codes}"))
    if words.inputs:
        yield "\n".join([_TABLE, *map(_row, words.inputs)])
    if words.body is not None:
        yield f"```json\n{words.body}\n```"


def _row(item: InputWords) -> str:
    required = "yes" if item.required else "no"
    cells = (f"`{item.name}`", item.place, item.type, required, item.default, item.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _words(operation: Operation[Any, Any]) -> OperationWords:
    body = operation.examples.get("body")
    return OperationWords(
        id=operation.id,
        method=operation.method,
        address=operation.address,
        summary=operation.summary,
        description=operation.description,
        facts=tuple(_facts(operation)),
        inputs=tuple(map(_input, inputs_of(operation.request))),
        body=None if body is None else _pretty_json(wire.to_json(body)),
        failures=tuple(failure_responses(operation)),
    )


def _facts(operation: Operation[Any, Any]) -> Iterator[str]:
    yield f"Access: {_access(operation)}"
    yield f"Success: {operation.success}, {_media(operation)}"
    if operation.idempotency != "none":
        yield f"`Idempotency-Key`: {operation.idempotency}"
    if operation.takes_if_match:
        yield "`If-Match`: honoured"


def _access(operation: Operation[Any, Any]) -> str:
    words = [_ACCESS[operation.auth]]
    if operation.scopes:
        words.append("scope " + " or ".join(f"`{scope}`" for scope in sorted(operation.scopes)))
    if operation.binding == "workspace":
        words.append("bound to a workspace")
    if operation.tier is not None:
        words.append(f"{operation.tier.name}, {operation.tier.price_usd} US dollars a request")
    return "; ".join(words)


def _media(operation: Operation[Any, Any]) -> str:
    if operation.success == 204:
        return "no body"
    return ", ".join(f"`{offer.media_type}`" for offer in operation.media)


def _input(item: Input) -> InputWords:
    schema = Schemas("").of(item.described, "input")
    default = "" if item.default is UNSET else f"`{json.dumps(wire.to_json(item.default))}`"
    meaning = str(schema.get("description", item.doc))
    return InputWords(item.name, item.place, _type(schema), item.required, default, meaning)


def _type(schema: Mapping[str, Any]) -> str:
    words = [_kind(schema)]
    words += [text.format(schema[name]) for name, text in _BOUNDS.items() if name in schema]
    return ", ".join(words)


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return f"`{schema['$ref']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    return str(schema.get("format", schema.get("type", "any JSON")))


# -- deprecations ------------------------------------------------------------------------------

_REPLACEMENT: Final = re.compile(r"Deprecated: (?:use )?`?([^`]+?)`?(?:\. .*|\.?)", re.DOTALL)


@frozen
class Deprecation:
    """A deprecated name, where it stands, and its replacement."""

    name: str
    place: str
    instead: str


def deprecated_inputs(operations: Iterable[Operation[Any, Any]]) -> tuple[Deprecation, ...]:
    """The deprecated inputs of all operations."""
    return tuple(
        Deprecation(
            item.name, f"{operation.method} {operation.address}", _replacement(_input(item).meaning)
        )
        for operation in operations
        for item in inputs_of(operation.request)
        if Trait.DEPRECATED in item.traits
    )


def deprecated_members(operations: Iterable[Operation[Any, Any]]) -> tuple[Deprecation, ...]:
    """The deprecated members of what operations answer, by the schema that has them."""
    description = openapi.build_openapi(tuple(operations), base_url=EXAMPLE_ORIGIN, flat=True)
    return tuple(
        Deprecation(name, place, _replacement(member.get("description", "")))
        for place, schema in description["components"]["schemas"].items()
        for name, member in schema.get("properties", {}).items()
        if member.get("deprecated")
    )


def _replacement(text: str) -> str:
    match = _REPLACEMENT.fullmatch(text)
    return match[1] if match else ""


# -- problems ----------------------------------------------------------------------------------


def problems_page() -> str:
    """The Markdown page of all problem types, one section for each code."""
    words = (
        "Every failure is `application/problem+json` (RFC 9457) with these members. A code never\n"
        "changes its meaning or its status."
    )
    blocks = ["# Problems", words]
    for kind in problem.CATALOGUE.values():
        blocks += [
            f'<a id="{kind.slug}"></a>',
            f"## {kind.code}",
            f"{kind.status} · {kind.title}. {kind.resolution}",
            REPEAT[kind.retryable],
            f"```json\n{example(kind)}\n```",
        ]
    return "\n\n".join(blocks) + "\n"


def example(kind: ProblemType, *, base_url: str = EXAMPLE_ORIGIN) -> str:
    """The body of a problem of this type as its page shows it."""
    return _pretty_json(_body(kind, base_url))


def _body(kind: ProblemType, base_url: str) -> Any:
    return json.loads(problem.body(Problem(kind), base_url=base_url, request_id=EXAMPLE_REQUEST_ID))


def _pretty_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)

"""The reference pages, made from the catalogue: operations and problems as Markdown and HTML.

Rule: a page says what the declaration says and nothing else, so it cannot be out of date.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any

from svc_core import problem, wire
from svc_core.constraints import IdOf
from svc_core.inputs import Input, inputs
from svc_core.openapi import failures
from svc_core.operation import Operation
from svc_core.problem import Problem, ProblemType
from svc_core.schema import Schemas
from svc_core.unset import UNSET

EXAMPLE_ORIGIN = "https://api.example.com"
EXAMPLE_REQUEST_ID = IdOf("req").example

_ACCESS = {
    "bearer": "API key",
    "bearer-or-x402": "API key or x402 payment",
    "public": "No key",
}
_REPEAT = {
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


def operations_page(operations: Iterable[Operation[Any, Any]]) -> str:
    """The Markdown page of all operations, grouped by tag in the order of the catalogue."""
    catalogue = tuple(operations)
    blocks = ["# Operations", "Every operation with its inputs, its answers and its failures."]
    for tag in dict.fromkeys(operation.tag for operation in catalogue):
        blocks.append(f"## {tag}")
        for operation in catalogue:
            if operation.tag == tag:
                blocks += _operation(operation)
    return "\n\n".join(blocks) + "\n"


def _operation(operation: Operation[Any, Any]) -> Iterator[str]:
    yield f"### {operation.summary}"
    yield f"`{operation.method} {operation.address}` (`{operation.id}`)"
    yield operation.description
    yield "\n".join(_facts(operation))
    declared = inputs(operation.request)
    if declared:
        yield "\n".join([_TABLE, *map(_input, declared)])
    if "body" in operation.examples:
        yield _fenced(wire.to_json(operation.examples["body"]))


def _facts(operation: Operation[Any, Any]) -> Iterator[str]:
    yield f"- Access: {_access(operation)}"
    yield f"- Success: {operation.success}, {_media(operation)}"
    if operation.idempotency != "none":
        yield f"- `Idempotency-Key`: {operation.idempotency}"
    if operation.takes_if_match:
        yield "- `If-Match`: honoured"
    codes = ", ".join(f"[`{kind.code}`](problems.md#{kind.slug})" for kind in failures(operation))
    yield f"- Failures: {codes}"


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


def _input(item: Input) -> str:
    schema = Schemas("").of(item.annotation, "input")
    default = "" if item.default is UNSET else f"`{json.dumps(wire.to_json(item.default))}`"
    cells = (
        f"`{item.name}`",
        item.place,
        _type(schema),
        "yes" if item.required else "no",
        default,
        schema.get("description", item.doc),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


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
            _REPEAT[kind.retryable],
            _fenced(_body(kind, EXAMPLE_ORIGIN)),
        ]
    return "\n\n".join(blocks) + "\n"


def html_page(title: str, main: str) -> str:
    """A whole HTML page around `main`. It needs one style sheet and no script."""
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/page.css">
</head>
<body>
<main>
{main}
</main>
</body>
</html>
"""


def problem_page(kind: ProblemType, *, base_url: str = EXAMPLE_ORIGIN) -> str:
    """The HTML page at the `type` address of a problem."""
    example = json.dumps(_body(kind, base_url), indent=2, ensure_ascii=False)
    main = f"""\
<h1>{escape(kind.title)}</h1>
<dl>
<dt>Code</dt><dd><code>{kind.code}</code></dd>
<dt>Status</dt><dd>{kind.status}</dd>
</dl>
<h2>What to do</h2>
<p>{escape(kind.resolution)}</p>
<p>{_REPEAT[kind.retryable]}</p>
<h2>Example</h2>
<pre><code>{escape(example)}</code></pre>"""
    return html_page(f"{kind.title} · {kind.code}", main)


def _body(kind: ProblemType, base_url: str) -> Any:
    return json.loads(problem.body(Problem(kind), base_url=base_url, request_id=EXAMPLE_REQUEST_ID))


def _fenced(value: Any) -> str:
    return f"```json\n{json.dumps(value, indent=2, ensure_ascii=False)}\n```"

"""What the demo answers: every GET operation, its reports to read, the tools of MCP, the edge.

What the demo has none of is made first, by the documented example of the operation that makes it.

An identifier in an address is that of the first row that a list shows; an operation that is new is
asked here without a new line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core import OPERATIONS
from tests.golden.house import House
from tests.golden.pretty import pretty

ROWS = 3
"""Of a page: what a row looks like is seen in few, and the files stay small."""

CASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "listReports": (("format", "ndjson"),),
    "getReport": (
        ("include", "content,sources,signals,graph,audio"),
        ("view", "agent"),
        ("format", "html"),
    ),
    "listNews": (("format", "ndjson"), ("topics", "cybersecurity")),
    "listOsintEvents": (("format", "geojson"),),
    "listRegionalOsint": (("format", "geojson"),),
    "getSubject": (("format", "stix"), ("format", "svg")),
}
"""Of these also what they answer to one parameter more."""

CREATIONS = ("createProject", "createAutomation", "runAutomation", "createWebhook")
"""What is asked before anything is read."""

TARGETS = {"/api/v2/entities": "/api/v2/entities?designator=cik:0000789019"}
"""Where another row than the first has more to tell."""

EDGE = (
    ("GET", "/livez"),
    ("GET", "/readyz"),
    ("GET", "/healthz"),
    ("GET", "/api/v1/"),
    ("GET", "/api/v2/"),
    ("GET", "/api/v1/nothing"),
    ("DELETE", "/api/v1/reports"),
    ("OPTIONS", "/api/v1/reports"),
    ("HEAD", "/api/v1/reports"),
    ("GET", "/api/v1/reports?limit=0&format=xml&unknown=1"),
    ("GET", "/api/v1/reports/rpt_000000000000000000000000"),
    ("GET", "/api/v2/changes?cursor=nothing"),
    ("POST", "/api/v1/profiles"),
    ("GET", "/.well-known/security.txt"),
    ("GET", "/robots.txt"),
)
"""What belongs to no operation, and how requests are refused."""

_ID = re.compile(r'"(([a-z]{3})_[0-9a-f]{24})"')


def texts() -> dict[str, str]:
    """A text for each operation, for each report, and for what stands beside them."""
    house = House()
    try:
        return dict(_texts(house))
    finally:
        house.close()


def _texts(house: House) -> Iterator[tuple[str, str]]:
    walk = Walk(house)
    yield from walk.texts()
    yield from _reports(house)
    yield "answers/edge.txt", "\n".join(_edge(house))
    yield "answers/mcp.txt", "\n".join(_tools(house))


class Walk:
    """Asks what needs no identifier first, and notes those that are shown."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._ids: dict[str, str] = {}
        self._first: dict[str, Mapping[str, Any]] = {}
        self._paths = house.ask("GET", "/openapi.flat.json").json()["paths"]

    def texts(self) -> Iterator[tuple[str, str]]:
        operations = {operation.id: operation for operation in OPERATIONS}
        for name in CREATIONS:
            yield f"answers/{name}.txt", self._create(operations[name].address)
        gets = [operation for operation in OPERATIONS if operation.method == "GET"]
        for operation in sorted(gets, key=lambda operation: operation.address.count("{")):
            target = self._target(operation.address)
            queries = [f"{name}={value}" for name, value in CASES.get(operation.id, ())]
            joint = "&" if "?" in target else "?"
            parts = [self._answer_text(operation.address, target)]
            parts += [self._answer_text("", f"{target}{joint}{query}") for query in queries]
            yield f"answers/{operation.id}.txt", "\n".join(parts)

    def _create(self, address: str) -> str:
        target, headers = self._target(address, "post"), {"Idempotency-Key": "golden-key"}
        content = self._paths[address]["post"].get("requestBody", {"content": {}})["content"]
        example = content.get("application/json", {}).get("example")
        answer = self._house.ask("POST", target, headers=headers, json=example)
        return self._note(answer)

    def _target(self, address: str, method: str = "get") -> str:
        """A request that succeeds where the demo has such rows."""
        query = []
        for parameter in self._paths[address][method]["parameters"]:
            name, schema = parameter["name"], parameter["schema"]
            if parameter["in"] == "path":
                address = address.replace(f"{{{name}}}", self._value(address, name, schema))
            elif parameter["in"] == "query" and name == "limit":
                query.append(f"limit={min(ROWS, schema.get('maximum', ROWS))}")
            elif parameter["in"] == "query" and parameter["required"]:
                query.append(f"{name}={_example(schema)}")
        return f"{address}?{'&'.join(query)}" if query else address

    def _value(self, address: str, name: str, schema: Mapping[str, Any]) -> str:
        row = self._first.get(address.partition(f"/{{{name}}}")[0], {})
        pattern, own = schema.get("pattern", ""), row.get(name, row.get("id"))
        if isinstance(own, str) and re.fullmatch(pattern or ".*", own):
            return own
        ids = (id_ for id_ in self._ids.values() if pattern and re.fullmatch(pattern, id_))
        return next(ids, _example(schema))

    def _answer_text(self, address: str, target: str) -> str:
        answer = self._house.ask("GET", target)
        if address:
            target_in_file = TARGETS.get(address)
            self._first[address] = _row(
                answer if target_in_file is None else self._house.ask("GET", target_in_file)
            )
        return self._note(answer)

    def _note(self, answer: Any) -> str:
        for id_, prefix in _ID.findall(answer.text):
            self._ids.setdefault(prefix, id_)
        return "\n".join((*self._house.head(answer), "", body(self._house, answer)))


def _row(answer: Any) -> Mapping[str, Any]:
    """The first row of a list."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    values = json.loads(answer.text.partition("\n")[0]) if kind.endswith("json") else {}
    match values:
        case {"data": [dict() as row, *_]}:
            return row
        case {"head": dict() as head}:
            return head
        case {"id": str()} as row:
            return row
    return {}


def _example(schema: Mapping[str, Any]) -> str:
    return str(next(iter((*schema.get("examples", ()), *schema.get("enum", ()))), "0"))


def body(house: House, answer: Any) -> str:
    """A body as text: JSON in lines of its members, and what has lines as it is."""
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind.endswith("json") and answer.content:
        values = map(json.loads, answer.text.splitlines() if "nd" in kind else [answer.text])
        return "".join(pretty(house.steady_json(value)) for value in values)
    try:
        text = answer.content.decode()
    except UnicodeDecodeError:
        return f"{len(answer.content)} bytes\n"
    return house.steady(text).rstrip("\n") + "\n"


def _reports(house: House) -> Iterator[tuple[str, str]]:
    """Every report of the demo, to read."""
    rows = house.ask("GET", "/api/v1/reports?limit=100").json()["data"]
    for row in rows:
        name = re.sub("[^a-z]+", "-", row["title"].partition(":")[0].lower())
        answer = house.ask("GET", f"/api/v1/reports/{row['id']}?format=markdown")
        yield f"answers/reports/{name}.md", body(house, answer)


def _edge(house: House) -> Iterator[str]:
    for method, target in EDGE:
        answer = house.ask(method, target)
        yield from (*house.head(answer), "", body(house, answer))
    for key, target in (("", "profiles"), ("svc_unknown", "profiles"), ("", "reports")):
        answer = house.ask("GET", f"/api/v1/{target}", key=key)
        yield from (*house.head(answer), "", body(house, answer))


def _tools(house: House) -> Iterator[str]:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "golden", "version": "1"},
    }
    accept = {"Accept": "application/json, text/event-stream"}
    for method, params in (("initialize", hello), ("tools/list", {})):
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = house.ask("POST", "/mcp", json=message, headers=accept)
        yield from (*house.head(answer), "", body(house, answer))

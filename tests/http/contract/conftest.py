"""A world of tenants with rows in it, and a client that holds every answer against the document.

Everything is derived from the catalogue: an operation that is added later is asked, sown and
checked here without a new line, as long as what it names can be created or listed by another.
"""

import asyncio
import json
import random
import re
import string
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import attrs
import httpx2
import jsonschema_rs
import pytest
from attrs import field, frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.creation import KeyWish
from svc_core.access.model import KEYS
from svc_core.access.scopes import SCOPES
from svc_core.automations import run_queue as running
from svc_core.automations.model import AUTOMATIONS, WORK, RunOutput
from svc_core.base import passes
from svc_core.catalog.openapi import headers
from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.catalog.openapi.schema_samples import schema_sample
from svc_core.contract import problem
from svc_core.contract.result import Accepted, Created
from svc_core.formats import table as formats
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.story_grouping import group_new
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.intake import registry
from svc_core.intel.linking.references import id_of
from svc_core.intel.news.model import NEWS
from svc_core.intel.news.recaps import recap_new
from svc_core.intel.signals.detection import detect_new
from svc_core.intel.signals.model import SIGNALS
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import Input, inputs_of
from svc_core.operation.members import micros
from svc_core.outbox.model import QUEUES, WEBHOOKS, WEBHOOKS_MAX
from svc_core.payments.networks import BURN_ADDRESS
from svc_core.payments.payment_rows import Writes
from svc_core.payments.store import StoredPayments
from svc_core.reports import publications
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import Recording
from svc_core.reports.profiles.model import ProfileInput
from svc_core.reports.profiles.operations import CreateProfile, create_profile
from svc_core.reports.report_runs import make_report
from svc_core.webhooks import delivery_queue as delivering
from svc_core.webhooks.operations import WebhookRequest, delete_webhook
from svc_core.webhooks.rules import attempt_outcome
from svc_core.wire.constraints import IdOf
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.run.demo.demo_feeds import data_documents
from svc_http.service.runtime import application as service_app
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.service.service_units import Service as Hands
from svc_http.settings import Settings
from tests import events, in_process
from tests.backends import BACKEND, NAMES, store_of
from tests.http.conftest import MEMBERS_OF_A_PROBLEM, Clock, LogFile
from tests.receipts import PAYMENT

START = datetime(2026, 3, 4, 5, 6, 0, tzinfo=UTC)
ORIGIN = "https://api.example.org"
SECRET = "0123456789abcdef" * 4
PLANS = plans.DEFAULT_PLANS

EDGE_CODES = frozenset(
    {
        "BAD_REQUEST",
        "BODY_TOO_LARGE",
        "EXPECTATION_FAILED",
        "HEADERS_TOO_LARGE",
        "METHOD_NOT_ALLOWED",
        "ROUTE_NOT_FOUND",
    }
)
"""What the description tells of all requests at once, not of each operation."""

OBSERVATION = {
    "kind": "observation",
    "subject": "sbj_" + "0" * 24,
    "observedAt": "2026-01-04T18:30:00Z",
    "text": "The registry lists Zug.",
    "source": {
        "url": "https://news.example.org/ports/1",
        "publisher": "Pier Gazette",
        "retrievedAt": "2026-01-04T19:00:00Z",
        "contentSha256": "36" * 32,
    },
}
"""What a claim of the ledger is founded on."""

DATA = frozenset(
    {
        "attack.json",
        "countries.json",
        "nvd.json",
        "worldbank.json",
        "kalshi.json",
        "polymarket.json",
        "sec-companyfacts-microsoft.json",
        "sec-submissions.json",
        "sec-tickers.json",
        "kev.json",
        "misp-event.json",
    }
)
"""The documents of the demo that the world has beside its own."""

DOCUMENT = "urn:document"
"""What the schemas of the document are called: a validator that has a copy of all takes 3 MB."""

_ID = re.compile("[a-z]+_[0-9a-f]{24}")

CONDITIONAL_HEADERS = frozenset(
    {
        "ETag", "Link", "Idempotency-Replayed", "Deprecation", "Sunset",
        "PAYMENT-RESPONSE", "X-Svc-Payment-Receipt",
    }
)  # fmt: skip
"""Documented fields that an answer carries only under a condition of their own."""

USUAL_HEADERS = frozenset(
    {
        "cache-control", "connection", "content-length", "content-type", "vary", "allow",
        "access-control-allow-origin", "access-control-expose-headers", "x-content-type-options",
        "content-security-policy", "referrer-policy", "x-robots-tag", "x-accel-buffering",
        "x-should-retry", "accept", "accept-patch", "accept-encoding",
    }
)  # fmt: skip
"""Fields of HTTP itself, for caches and browsers, of which no description of an API speaks."""

HEARD = {"getReportAudio", "getReportAudioText", "speakReport"}
"""Operations that want a report with a recording."""


# -- the document as a judge -------------------------------------------------------------------


class Contract:
    """The flat document, asked whether an answer is one that it promises."""

    def __init__(
        self, operations: Sequence[Operation[Any, Any]], *, is_limited: bool = True
    ) -> None:
        self.operations = operations
        self.is_limited = is_limited
        limits = () if is_limited else (*headers.ACCOUNT_LIMITS, *headers.AGENT_LIMITS)
        self.document = openapi.build_openapi(
            operations, base_url=ORIGIN, flat=True, unsent=frozenset(limits)
        )
        self._addresses: dict[tuple[str, int], list[Any]] = defaultdict(list)
        for op in operations:
            pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", op.address))
            self._addresses[op.method, op.address.count("/")].append((op, pattern))
        self._parameters = {
            item.name
            for op in operations
            for item in inputs_of(op.request)
            if item.place == "query"
        }
        self._validators: dict[str, Any] = {}
        self._good_headers: set[tuple[str, str]] = set()
        components = {"schemas": self.document["components"]["schemas"]}
        self._registry = jsonschema_rs.Registry([(DOCUMENT, {"components": components})])
        self.codes: set[str] = set()

    def description_of(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """What the document says of an operation."""
        description: dict[str, Any] = self.document["paths"][operation.address][
            operation.method.lower()
        ]
        return description

    def operation_at(self, method: str, path: str) -> Operation[Any, Any] | None:
        """The operation that answers there; a fixed address goes before one with values."""
        method = "GET" if method == "HEAD" else method
        addresses = self._addresses[method, path.count("/")]
        matches = [op for op, address in addresses if address.fullmatch(path)]
        return min(matches, key=lambda op: op.address.count("{"), default=None)

    def check(self, response: httpx2.Response) -> None:
        """Assert that the answer is documented: status, media type, body, fields."""
        request = response.request
        operation = self.operation_at(request.method, request.url.path)
        if response.status_code >= 400:
            self._check_problem(response, operation, is_head=request.method == "HEAD")
        if operation is None:
            return
        responses = self.description_of(operation)["responses"]
        code = self._code(response)
        if code in EDGE_CODES:
            return
        status = str(response.status_code)
        assert status in responses, f"{operation.id} does not document {status} {code}"
        response_description = responses[status]
        self._check_headers(operation, response_description, response)
        if request.method == "HEAD":
            assert response.content == b""
        elif "content" in response_description:
            self._check_body(operation, status, response_description["content"], response)
        else:
            assert response.content == b""
            assert "content-type" not in response.headers

    @staticmethod
    def _code(response: httpx2.Response) -> str | None:
        if response.headers.get("content-type") != problem.MEDIA_TYPE or not response.content:
            return None
        code: str = response.json()["code"]
        return code

    def _check_problem(
        self, response: httpx2.Response, operation: Operation[Any, Any] | None, *, is_head: bool
    ) -> None:
        assert response.headers["content-type"] == problem.MEDIA_TYPE
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["access-control-allow-origin"] == "*"
        assert response.headers["x-svc-api-version"] in {"1.0", "2.0"}
        if is_head:
            return
        body = response.json()
        assert list(body) == MEMBERS_OF_A_PROBLEM
        kind = problem.CATALOGUE[body["code"]]
        self.codes.add(kind.code)
        assert response.status_code == body["status"] == kind.status, body
        assert body["title"] == kind.title
        self._check_resolution(body, operation)
        assert body["type"] == f"{ORIGIN}/problems/{kind.slug}"
        assert re.fullmatch("req_[0-9a-f]{24}", body["requestId"])
        assert response.headers["x-request-id"] == body["requestId"]
        assert body["instance"] == f"urn:request:{body['requestId']}"
        assert body["detail"]

    def _check_resolution(
        self, body: dict[str, Any], operation: Operation[Any, Any] | None
    ) -> None:
        """The next step is one sentence, and of parameters names those of the operation alone."""
        step = body["resolution"]
        assert re.fullmatch(r"[A-Z].*\.", step)
        if operation is not None and "PARAMETER" in body["code"]:
            foreign = self._parameters - {item.name for item in inputs_of(operation.request)}
            assert not foreign & set(re.findall(r"\w+", step)), f"{operation.id}: {step}"

    def _check_headers(
        self, operation: Operation[Any, Any], response_description: Any, response: httpx2.Response
    ) -> None:
        values = dict(response.headers)
        for name, reference in response_description["headers"].items():
            value = values.get(name.lower())
            if value is None:
                assert self._may_lack(name, response), (
                    f"{operation.id} {response.status_code} lacks {name}"
                )
                continue
            if (name, value) in self._good_headers:
                continue
            schema = self._resolve(reference)["schema"]
            read = int(value) if schema.get("type") == "integer" else value
            self._assert_valid(f"header {name}", schema, read)
            self._good_headers.add((name, value))
        documented_names = {
            name.lower() for name in response_description["headers"]
        } | USUAL_HEADERS
        assert values.keys() <= documented_names, (
            f"{operation.id} {response.status_code} hides {values.keys() - documented_names}"
        )
        assert values["x-svc-api-version"] == operation.version

    def _may_lack(self, name: str, response: httpx2.Response) -> bool:
        if "RateLimit" in name and response.status_code >= 400:
            # Of a HEAD nobody can tell what refused it.
            code = self._code(response)
            early = headers.UNCOUNTED_PROBLEMS | {problem.OVERLOADED, problem.REQUEST_TOO_LARGE}
            return code is None or problem.CATALOGUE[code] in early
        if name == "Idempotency-Key":
            return name not in response.request.headers
        return name in CONDITIONAL_HEADERS or (
            (name, response.status_code) in {("Retry-After", 409), ("WWW-Authenticate", 403)}
        )

    def _check_body(
        self, operation: Operation[Any, Any], status: str, content: Any, response: httpx2.Response
    ) -> None:
        content_type = response.headers["content-type"]
        media_type = content_type if content_type in content else content_type.partition(";")[0]
        assert media_type in content, f"{operation.id} {status} sends {content_type}"
        name = f"{operation.id} {status} {media_type}"
        entry = content[media_type]
        if media_type == problem.MEDIA_TYPE:
            code = response.json()["code"]
            assert code in entry["examples"], f"{operation.id} does not document {code}"
        if media_type == "application/x-ndjson":
            page = content["application/json"]["schema"]
            rows = self._resolve(page)["properties"]["data"]["items"]
            for line in response.content.splitlines(keepends=True):
                assert line.endswith(b"\n")
                self._assert_valid(f"{name} row", rows, json.loads(line))
        elif media_type.partition(";")[0].endswith("json"):
            self._assert_valid(name, entry["schema"], response.json())
        else:
            self._assert_valid(name, entry["schema"], response.text)

    def _resolve(self, schema: Any) -> Any:
        while "$ref" in schema:
            node: Any = self.document
            for part in schema["$ref"].removeprefix("#/").split("/"):
                node = node[part]
            schema = node
        return schema

    def reader_of_body(self, operation: Operation[Any, Any]) -> Any:
        """What tells whether a value is a body that the operation is said to take."""
        content = self.description_of(operation)["requestBody"]["content"]
        return self._validator(f"body of {operation.id}", content["application/json"]["schema"])

    def _validator(self, name: str, schema: Any) -> Any:
        if name not in self._validators:
            self._validators[name] = jsonschema_rs.Draft202012Validator(
                _with_absolute_refs(schema), validate_formats=True, registry=self._registry
            )
        return self._validators[name]

    def _assert_valid(self, name: str, schema: Any, value: Any) -> None:
        faults = [f"{fault.instance_path}: {fault.message}" for fault in
                  self._validator(name, schema).iter_errors(value)]  # fmt: skip
        assert not faults, f"{name}: {faults[:3]}"


# -- one request -------------------------------------------------------------------------------


@frozen
class Ask:
    """A request to be sent; `evolve` spoils one part of it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Any = field(factory=dict)
    body: Any = None

    def evolve(self, **parts: Any) -> "Ask":
        """The same request with other parts."""
        return attrs.evolve(self, **parts)

    def having(self, **headers: str | None) -> "Ask":
        """The same request with other fields; None leaves one out."""
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        rest = {n: v for n, v in self.headers.items() if n.lower() not in fields}
        additions = {name: value for name, value in fields.items() if value is not None}
        return attrs.evolve(self, headers={**rest, **additions})

    def asking(self, *pairs: tuple[str, str]) -> "Ask":
        """The same request with these pairs instead of its own of the same names."""
        names = {name for name, _ in pairs}
        rest = tuple(pair for pair in self.query if pair[0] not in names)
        return attrs.evolve(self, query=(*rest, *pairs))


# -- the world ---------------------------------------------------------------------------------


class Ids:
    """Identifiers and randomness that repeat from run to run."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._random = random.Random(20_260_304)

    def new(self, prefix: str) -> str:
        return f"{prefix}_{int(self._clock().timestamp()):08x}{self.random(8).hex()}"

    def random(self, size: int) -> bytes:
        return self._random.randbytes(size)


ENTITY = id_of("cik:0000789019")  # who takes part in the newest item


async def _about_an_incident(ctx: Context) -> None:
    """Have the newest signal name an incident, so that it can be found by it."""
    newest = (await ctx.tx.documents.scan(SIGNALS, limit=1)).rows[0]
    signal = attrs.evolve(SIGNALS.decode(newest.raw), incident_ids=(f"inc_{'1' * 24}",))
    await ctx.save(SIGNALS, signal.id, signal)


async def _more_signals(ctx: Context) -> None:
    """Have a few more signals like the newest."""
    newest = (await ctx.tx.documents.scan(SIGNALS, limit=1)).rows[0]
    for number in range(4):
        signal = attrs.evolve(SIGNALS.decode(newest.raw), id=f"sig_{number:024}")
        await ctx.save(SIGNALS, signal.id, signal)


class World:
    """Tenants, keys and rows, made by the use cases that make them in earnest.

    `keys` names secrets: `a` and `b` (two workspaces, every scope), `a news:read` (one scope),
    `pro`, `lite`, `ineligible`, `personal`, `revoked`, `expired`, `elsewhere`. `rows[key][prefix]`
    are the identifiers that a key sees, oldest first.
    """

    step_seconds = 1.0
    agent_step_seconds = 900.0
    """How far the clock goes with every request, so that quotas matter only where they should."""

    def __init__(
        self,
        contract: Contract,
        storage: Any,
        operations: Sequence[Operation[Any, Any]],
        **settings: Any,
    ) -> None:
        self.contract = contract
        self.runner = asyncio.Runner()
        self.operations = tuple(operations)
        self.clock = Clock(START)
        self.ids = Ids(self.clock)
        self.ticks = 0.0
        self.log = LogFile()
        self.storage = storage
        usual = {
            "base_url": ORIGIN,
            "secret": SECRET,
            "db": ":memory:",
            "x402_pay_to": BURN_ADDRESS,
            "reports_per_hour": 0,
        }
        usual["lite_keys_before"] = datetime.max.replace(tzinfo=UTC)
        members = {**usual, **settings}
        config = Settings(**members)
        runtime = Runtime(
            config,
            storage,
            now=self.clock,
            monotonic=lambda: self.ticks,
            ids=self.ids,
            providers=Providers(payments=payment_provider(config)),
        )
        self.app = service_app.build(runtime, self.operations)
        self.run(StoredPayments(storage).update(PAYMENT.keys, lambda _: Writes(PAYMENT)))
        runtime.journal._stream = lambda: self.log  # type: ignore[assignment,return-value]
        self.hands = Hands(storage, self.ids, self.clock, runtime.keyring, plans=PLANS)
        self.keys: dict[str, str] = {}
        self.tenants: dict[str, str] = {}
        self.rows: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.evidence: dict[str, str] = {}
        self.row_ids: dict[str, str] = {}
        self.on_answer: Callable[[httpx2.Response], None] = lambda _: None
        self.foreign: set[str] = set()
        self._drafts = 0
        self._used_up: set[str] = set()
        self._recorded: set[str] = set()

    def close(self) -> None:
        self.run(self.app.runtime.stop())
        self.run(self.storage.close())
        self.runner.close()

    def run(self, work: Awaitable[Any]) -> Any:
        return self.runner.run(work)  # type: ignore[arg-type]

    def system(self, work: Callable[[Context], Awaitable[Any]]) -> Any:
        """Do something as the system, in one unit of work."""
        return self.run(self.hands.system(work))

    # -- sending -------------------------------------------------------------------------------

    def send(self, ask: Ask, key: str | None = "a", *, client: str = "127.0.0.1") -> Any:
        """One request with the key of that name, its answer checked against the document."""
        return self.send_all([ask], key, client=client)[0]

    def send_all(
        self, asks: Iterable[Ask], key: str | None = "a", *, client: str = "127.0.0.1"
    ) -> list[httpx2.Response]:
        """Several requests at once."""
        waiting = list(asks)
        agents = {operation.address for operation in self.operations if operation.pool == "agent"}
        is_asked = any(ask.path in agents for ask in waiting)
        self.clock.forward(seconds=self.step_seconds)
        if is_asked and self.step_seconds:
            self.clock.forward(seconds=self.agent_step_seconds)
        self.ticks += 0.4
        bearer = None if key is None else f"Bearer {self.keys.get(key, key)}"

        async def go() -> list[httpx2.Response]:
            return list(await asyncio.gather(*map(send, waiting)))

        async def send(ask: Ask) -> httpx2.Response:
            answer = await _send(self.app, ask, bearer, client)
            self.on_answer(answer)
            return answer

        answers: list[httpx2.Response] = self.run(go())
        for answer in answers:
            self.contract.check(answer)
            if answer.request.method == "DELETE" and answer.status_code == 204:
                self.forget(answer.request.url.path.rpartition("/")[2])
        return answers

    def get(self, path: str, key: str | None = "a", **headers: str) -> Any:
        """One GET; `path` may have a query."""
        path, _, query = path.partition("?")
        pairs = tuple(tuple(pair.split("=", 1)) for pair in query.split("&") if pair)
        return self.send(Ask("GET", path, pairs, headers).having(**headers), key)  # type: ignore[arg-type]

    def log_text(self) -> str:
        """Everything that was logged until now."""
        self.app.runtime.journal.flush()
        return self.log.text

    # -- requests made from declarations -------------------------------------------------------

    def ask_of(self, operation: Operation[Any, Any], key: str = "a") -> Ask:
        """A request that succeeds, made from the request class and the rows of that key.

        Where there are no rows, or a request deleted some, new ones are made first.
        """
        speaks_of_rows = "{" in operation.address or operation.id == "appendRecords"
        if speaks_of_rows and not self.rows[key]:
            self.sow(key)
        elif speaks_of_rows and key in self._used_up and not self._may_delete(operation, key):
            self._used_up.discard(key)
            self.plant(key)
        if operation.tag == "Webhooks" and key in self.tenants:
            self.tell_webhooks()
            self._make_room(key)
        if operation.tag == "Automations" and key in self.tenants:
            self._make_ready(key)
        if operation.id == "deleteSubscription" and key in self.tenants:
            self._subscribe(key)
        if operation.id in HEARD and self.rows.get(key, {}).get("rpt"):
            self._give_sound(operation, key, self.rows[key]["rpt"][-1])
        description = self.contract.description_of(operation)
        parameters = {(item["in"], item["name"]): item for item in description["parameters"]}
        path, query, headers = operation.address, [], {}
        for item in inputs_of(operation.request):
            if item.place == "path":
                path = path.replace(f"{{{item.name}}}", self._path_value(item, key, operation))
            # What holds now changes with the clock; what held then does not.
            elif (item.required or item.name == "validTime") and item.place != "body":
                value = self._sample(parameters[item.place, item.name]["schema"])
                if item.place == "query":
                    query.append((item.name, value))
                else:
                    headers[item.name] = value
        body = None
        if "requestBody" in description:
            headers["Content-Type"] = "application/json"
            body = json.dumps(self.example_body(operation, key)).encode()
        if operation.idempotency != "none":
            self._drafts += 1
            headers["Idempotency-Key"] = f"draft-{self._drafts:06d}"
        return Ask(operation.method, path, tuple(query), headers, body)

    def example_body(self, operation: Operation[Any, Any], key: str = "a") -> Any:
        """The documented example of the body, the first where there are several, about rows of
        that key where it names some, or about a profile that was made public for it."""
        if operation.id == "createSubscription":
            return {"profileId": self._publish(), "delivery": {"includeAudio": False}}
        entry = self.contract.description_of(operation)["requestBody"]["content"][
            "application/json"
        ]
        several = entry.get("examples", {})
        example = next((item["value"] for item in several.values()), None)
        body = entry["example"] if example is None else example
        # The flat document shows the list where one thing would do as well.
        return self._about_known(body[0] if isinstance(body, list) else body, key)

    def _about_known(self, value: Any, key: str) -> Any:
        if isinstance(value, dict):
            return {name: self._about_known(member, key) for name, member in value.items()}
        if isinstance(value, list):
            return [self._about_known(item, key) for item in value]
        if isinstance(value, str) and _ID.fullmatch(value):
            kind = value.partition("_")[0]
            if kind == "obs":  # what is seen in news has the same prefix, and is no evidence
                return self.evidence.get(key, value)
            ids = self.rows[key][kind]
            return ids[-1] if ids else value
        return value

    def _sample(self, schema: Any) -> str:
        value = schema_sample(schema, self.contract.document["components"]["schemas"])
        return ",".join(map(str, value)) if isinstance(value, list) else str(value)

    def forget(self, id_: str) -> None:
        """Know that a row went, and perhaps others with it."""
        for ids_by_prefix in self.rows.values():
            for ids in ids_by_prefix.values():
                if id_ in ids:
                    ids.remove(id_)
        self._used_up = set(self.rows)

    def _may_delete(self, operation: Operation[Any, Any], key: str) -> bool:
        """Whether it deletes a row, and there are others of the kind than those that went."""
        kinds = [item.id_of for item in inputs_of(operation.request) if item.place == "path"]
        return operation.method == "DELETE" and all(
            id_of is not None and any(self.rows[key][prefix] for prefix in id_of.prefixes)
            for id_of in kinds
        )

    def _give_sound(self, operation: Operation[Any, Any], key: str, report_id: str) -> None:
        """Have a report recorded, unless it was and is only read since, and begin a step of the
        clock within which its address stays the same."""
        is_read = operation.id != "speakReport"
        if not is_read or report_id not in self._recorded:
            self.give_recording(key, report_id)
        (self._recorded.add if is_read else self._recorded.discard)(report_id)
        self.clock.forward(seconds=-self.clock().timestamp() % passes.STEP_SECONDS)

    def _path_value(self, item: Input, key: str, operation: Operation[Any, Any]) -> str:
        if item.id_of is not None and item.id_of.prefixes == ("obs",):  # of several kinds of rows
            id_ = self.row_ids[operation.address.rpartition("/")[0]]
            self.remember(key, id_)
            return id_
        if item.id_of is not None:
            return self.id_for(item.id_of, key)
        return self._sample(_schema_of(self.contract, item))

    def id_for(self, id_of: IdOf, key: str = "a") -> str:
        """The newest identifier of these kinds that a key knows."""
        ids_by_prefix = [self.rows[key][prefix] for prefix in id_of.prefixes]
        id_ = next((ids[-1] for ids in ids_by_prefix if ids), None)
        assert id_, f"nothing in this world makes or lists a {id_of.noun} for {key}"
        return id_

    # -- making --------------------------------------------------------------------------------

    def settle(self, *, is_sown: bool = True) -> "World":
        """Make the accounts and the keys; then the news and the rows of every tenant."""
        self.run(self._make_accounts())
        if not is_sown:
            return self
        self.take_everything()
        for key in ("a", "b", "personal"):
            self.sow(key)
            self.remember(key, ENTITY)
        return self

    async def _make_accounts(self) -> None:
        every = tuple(SCOPES)
        for name in ("a", "b"):
            await self._workspace(name, "elite")
            await self._key(name, name, every)
        for scope in every:
            await self._key(f"a {scope}", "a", (scope,))
        await self._key("elsewhere", "a", every, addresses=("203.0.113.7",))
        await self._key("expired", "a", every, expires_at=self.clock() + timedelta(microseconds=1))
        revoked_key = await self._key("revoked", "a", every)
        await self.hands.system(lambda ctx: accounts.revoke_key(ctx, revoked_key.id))
        await self._workspace("pro", "pro")
        await self._key("pro", "pro", every)
        for name, plan in (("lite", "lite"), ("ineligible", "free")):
            await self._workspace(name, "pro")
            key = await self._key(name, name, every)
            await self.hands.system(lambda ctx, key=key: _grandfather(ctx, key))
            tenant = self.tenants[name]
            await self.hands.system(
                lambda ctx, tenant=tenant, plan=plan: accounts.set_plan(ctx, tenant, plan, PLANS)
            )
        user = await self.hands.system(
            lambda ctx: accounts.create_user(ctx, name="Ann", plans=PLANS, plan="elite")
        )
        self.tenants["personal"] = user.id
        await self._issue("personal", KeyWish(name="personal", scopes=every, user_id=user.id))
        self.clock.forward(seconds=1)

    async def _workspace(self, name: str, plan: str) -> None:
        workspace = await self.hands.system(
            lambda ctx: accounts.create_workspace(ctx, name=name, plan=plan, plans=PLANS)
        )
        self.tenants[name] = workspace.id

    async def _key(self, name: str, place: str, scopes: tuple[str, ...], **wish: Any) -> Any:
        tenant = self.tenants[place]
        return await self._issue(
            name, KeyWish(name=name, scopes=scopes, workspace_id=tenant, **wish)
        )

    async def _issue(self, name: str, wish: KeyWish) -> Any:
        new_key = await self.hands.system(lambda ctx: accounts.create_key(ctx, wish, plans=PLANS))
        self.keys[name] = new_key.secret
        return new_key.key

    def operation(self, id_: str) -> Operation[Any, Any]:
        """The operation of that name."""
        return next(operation for operation in self.operations if operation.id == id_)

    def add_key(self, name: str, place: str = "a", **wish: Any) -> str:
        """One more key of a tenant, with every scope unless told otherwise."""
        scopes = wish.pop("scopes", tuple(SCOPES))
        return str(self.run(self._key(name, place, scopes, **wish)).id)

    def take_news(self, numbers: Iterable[int]) -> None:
        """Take in a document with these items, and one with as many events, as the fetcher does."""
        news_numbers = list(numbers)
        self._take("https://feeds.example.org/ports.xml", "Ports", feed(news_numbers, self.clock()))

        async def take_quakes(ctx: Context) -> None:
            quakes = [events.event(number) for number in news_numbers]
            await events.take(
                ctx, quakes, location=f"https://quakes.example/{news_numbers[0]}.json"
            )
            newest = (await ctx.tx.documents.scan(NEWS, limit=1)).rows[0]
            item = NEWS.decode(newest.raw)
            item = attrs.evolve(item, title=f"{item.title}, says Microsoft")
            await ctx.save(NEWS, item.id, item)

        self.system(take_quakes)
        self.run(recap_new(self.hands))

    def take_everything(self) -> None:
        """Take in news and data, and tell what follows from them."""
        self.take_news(range(30))
        self.take_data()
        self.follow()
        self.system(_about_an_incident)

    def follow(self) -> None:
        """Tell what follows from what was taken in."""
        self.run(group_new(self.hands))
        self.run(fold_new(self.hands))
        self.run(detect_new(self.hands))

    def take_more(self) -> None:
        """Take in data, and have a few rows of what follows from it."""
        self.take_data()
        self.follow()
        self.system(_more_signals)
        self.remember("a", ENTITY)

    def take_data(self) -> None:
        """Take in what the demo has of countries, indicators, companies, threats and markets."""
        for document in data_documents(self.clock()):
            if document.file_name in DATA:
                self._take(document.file_name, document.name, document.body, dict(document.options))

    def _take(self, location: str, name: str, body: bytes, options: Any = None) -> None:
        text = Body(body)
        reading = Origin(options=options or {}, base_url=location, name=location)
        document = formats.read_document(text, formats.recognise_format(text), reading)

        async def take(ctx: Context) -> None:
            wish = registry.SourceWish(location, name, options=reading.options)
            source = await registry.register_source(ctx, wish)
            await documents.take_document(ctx, source.id, document)

        self.system(take)

    def sow(self, key: str) -> None:
        """Make one of everything that can be made, and note everything that can be listed."""
        self.plant(key)
        for operation in self.operations:
            if operation.method == "GET" and "{" not in operation.path:
                answer = self.send(self.ask_of(operation, key), key)
                if answer.headers.get("content-type") == "application/json":
                    self._note(key, answer.json())
                    match answer.json():
                        case {"data": [{"id": str(id_)}, *_]}:
                            self.row_ids[operation.address] = id_

    def plant(self, key: str) -> None:
        """Make one of everything that can be made."""
        creations = [op for op in self.operations if _creates(op) and self._may(key, op)]
        for operation in sorted(creations, key=lambda op: op.address.count("{")):
            self._prepare(operation, key)
            answer = self.send(self.ask_of(operation, key), key)
            assert answer.status_code == operation.success, answer.text
            self._note(key, answer.json())
        self.remember(key, self.make_report(key))

    def _may(self, key: str, operation: Operation[Any, Any]) -> bool:
        return operation.binding == "any" or key != "personal"

    def _prepare(self, operation: Operation[Any, Any], key: str) -> None:
        """Make what the example of an operation speaks of and no other operation makes."""
        if operation.id == "appendRecords":
            body = self._about_known(OBSERVATION, key)
            answer = self.send(
                self.ask_of(operation, key).evolve(body=json.dumps(body).encode()), key
            )
            assert answer.status_code == operation.success, answer.text
            self.evidence[key] = answer.json()["data"]["id"]

    def _publish(self) -> str:
        """A public profile of another workspace than those that ask."""
        tenant = self.tenants["pro"]
        profile = ProfileInput(name="Ports", topic="Port strikes", frequency="manual")
        profile_id = self.run(self.hands.write(tenant, partial(_profile, profile)))
        context = self.hands.context(Actor(tenant))
        self.run(publications.publish_profile(context, publications.ChosenProfile(profile_id)))
        self.foreign.add(profile_id)
        return str(profile_id)

    def _subscribe(self, key: str) -> None:
        """Have a tenant subscribe to a profile of others, so that this can be ended."""
        operation = self.operation("createSubscription")
        answer = self.send(self.ask_of(operation, key), key)
        assert answer.status_code == 201, answer.text
        self._note(key, answer.json())

    def tell_webhooks(self, status: int = 200) -> None:
        """Have every webhook answer what is queued for it, as one that is well."""
        end = micros(self.clock())
        for row in self.run(self.storage.across(QUEUES, end=end, limit=1_000)):
            take = partial(delivering.take_deliveries, webhook_id=row.document.id)
            while tasks := self.run(self.hands.write(row.tenant, take)):
                for task in tasks:
                    end_of = partial(
                        delivering.conclude, task=task, result=attempt_outcome(status, 12)
                    )
                    self.run(self.hands.write(row.tenant, end_of))

    def _make_room(self, key: str) -> None:
        """Delete old webhooks of a tenant before it has as many as it may."""

        async def clear(ctx: Context) -> list[str]:
            rows = (await ctx.tx.documents.scan(WEBHOOKS, limit=WEBHOOKS_MAX)).rows
            old = [row.id for row in rows[2:]] if len(rows) >= WEBHOOKS_MAX - 5 else []
            for id_ in old:
                await delete_webhook(ctx, WebhookRequest(id_))
            return old

        deleted_ids = self.run(self.hands.write(self.tenants[key], clear))
        self.rows[key]["whk"] = [id_ for id_ in self.rows[key]["whk"] if id_ not in deleted_ids]

    def _make_ready(self, key: str) -> None:
        """End the runs of a tenant and restore its automations, so that each may be run."""

        async def ready(ctx: Context) -> None:
            async for row in ctx.every(WORK):
                work = WORK.decode(row.raw)
                if work.run_id is not None:
                    await ctx.save(WORK, row.id, attrs.evolve(work, due_at=ctx.now))
                    until = ctx.now + timedelta(seconds=30)
                    task = await running.take_run(ctx, row.id, "test", until)
                    assert task is not None
                    if await running.begin_run(ctx, task) is not None:
                        await running.end_run(ctx, task, "succeed", output=RunOutput("Done.", ()))
            async for row in ctx.every(AUTOMATIONS, where={"status": ("archived",)}):
                automation = AUTOMATIONS.decode(row.raw)
                await ctx.save(AUTOMATIONS, row.id, attrs.evolve(automation, status="active"))

        self.run(self.hands.write(self.tenants[key], ready))

    def make_report(self, key: str) -> str:
        """Publish a report about the newest profile of a key."""
        profile_id = self.rows[key]["prf"][-1]
        row = self.run(make_report(self.hands, self.tenants[key], profile_id))
        self.give_recording(key, row.id)
        return str(row.id)

    def give_recording(self, key: str, report_id: str) -> None:
        """Have a report of a key recorded."""
        self.run(self.hands.write(self.tenants[key], partial(_give_recording, report_id)))

    def _note(self, key: str, body: Any) -> None:
        """Remember the identifiers of an answer, newest last."""
        for id_ in reversed(list(_ids_in(body))):
            self.remember(key, id_)

    def remember(self, key: str, id_: str) -> None:
        if id_ in self.foreign:
            return
        ids = self.rows[key][id_.partition("_")[0]]
        if id_ in ids:
            ids.remove(id_)
        ids.append(id_)


async def _profile(profile: ProfileInput, ctx: Context) -> str:
    creation = await create_profile(ctx, CreateProfile(profile))
    return str(json.loads(creation.raw)["id"])


async def _give_recording(report_id: str, ctx: Context) -> None:
    """Give a report a recording, of which no test here needs the file."""
    recording = Recording(f"{'ab' * 32}.mp3", "audio/mpeg", 1_000, "ab" * 32, 12.345)
    await speaking.attach_audio(
        ctx, await speaking.speech_task(ctx, report_id), recording, "espeak-ng en"
    )


async def _send(app: Any, ask: Ask, bearer: str | None, client: str) -> httpx2.Response:
    fields = ask.headers.items() if isinstance(ask.headers, Mapping) else ask.headers
    headers = httpx2.Headers(list(fields))
    if bearer is not None:
        headers.setdefault("Authorization", bearer)
    url = httpx2.URL(ORIGIN + ask.path, params=list(ask.query) or None)
    return await in_process.ask(
        app, ask.method, url, headers=headers, content=ask.body, client=(client, 5000)
    )


def _creates(operation: Operation[Any, Any]) -> bool:
    kinds = {kind for kind, _ in operation.results}
    return Created in kinds or Accepted in kinds


def _ids_in(body: Any) -> Iterator[str]:
    if isinstance(body, list):
        for item in body:
            yield from _ids_in(item)
    elif isinstance(body, dict):
        for name, value in body.items():
            if (
                name in {"id", "eventId", "storyId"}
                and isinstance(value, str)
                and _ID.fullmatch(value)
            ):
                yield value
            else:
                yield from _ids_in(value)


def _with_absolute_refs(schema: Any) -> Any:
    """A schema of the document as it is read from outside of it."""
    if isinstance(schema, list):
        return [_with_absolute_refs(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: DOCUMENT + value_ if name == "$ref" else _with_absolute_refs(value_)
        for name, value_ in schema.items()
    }


def _schema_of(contract: Contract, item: Input) -> Any:
    for path in contract.document["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["name"] == item.name and parameter["in"] == item.place:
                    return parameter["schema"]
    raise AssertionError(f"{item.name} is not documented")


async def _grandfather(ctx: Context, key: Any) -> None:
    await ctx.save(KEYS, key.id, attrs.evolve(key, grandfathered=True))


def feed(numbers: Iterable[int], at: datetime) -> bytes:
    """A feed about strikes at ports, one item for each number, each with words of its own."""
    items = "".join(
        f"<item><title>Strike {number} closes the container port of Rotterdam</title>"
        f"<link>https://news.example.org/ports/{number}</link><guid>ports-{number}</guid>"
        f"<description>Dockworkers at European container ports began strike {number}. "
        f"{_own_words(number)}. The closures may last {number + 2} days, the union said."
        f"</description>"
        f"<pubDate>{format_datetime(at - timedelta(minutes=number % 60))}</pubDate></item>"
        for number in numbers
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>'
        "<title>Ports</title><link>https://news.example.org/</link><language>en</language>"
        f"<description>News of ports</description>{items}</channel></rss>"
    ).encode()


def _own_words(number: int) -> str:
    """Words that two numbers share, which are of one story then: words that three shared would be
    a form that the source fills in.
    """
    code = "".join(chr(ord("a") + int(digit)) for digit in str(number // 2))
    return "Quay " + ", ".join(f"{part}zx{code}" for part in string.ascii_lowercase)


# -- fixtures ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def contract() -> Contract:
    """The document of the whole catalogue."""
    return Contract(catalog.OPERATIONS)


@cache
def unlimited_contract() -> Contract:
    """The same where nothing is limited."""
    return Contract(catalog.OPERATIONS, is_limited=False)


def _storage(store: str, folder: Path | None = None) -> Any:
    """The store that the run stands on where any will do, which is that in memory by itself."""
    name = BACKEND.name if store == "memory" else store
    return store_of(name, catalog.COLLECTIONS, folder=folder)


@pytest.fixture
def edge_codes() -> frozenset[str]:
    """The codes that every address may answer with."""
    return EDGE_CODES


@pytest.fixture
def make_world(contract: Contract, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds: over memory or a SQLite file, with settings by name."""
    worlds: list[World] = []

    def make(
        store: str = "memory",
        *,
        operations: Sequence[Operation[Any, Any]] = (),
        is_sown: bool = True,
        **settings: Any,
    ) -> World:
        every = (*catalog.OPERATIONS, *operations)
        is_limited = settings.get("rate_limits", True)
        judge = contract if is_limited else unlimited_contract()
        if operations:
            judge = Contract(every, is_limited=is_limited)
        worlds.append(World(judge, _storage(store, tmp_path), every, **settings))
        return worlds[-1].settle(is_sown=is_sown)

    yield make
    for world in worlds:
        world.close()


@pytest.fixture(scope="module")
def contract_world(contract: Contract) -> Iterator[Callable[..., World]]:
    """Makes worlds, in memory if nothing is said, for the tests of one file."""
    worlds: list[World] = []

    def make(store: str = "memory", *, is_sown: bool = True, **settings: Any) -> World:
        worlds.append(World(contract, _storage(store), catalog.OPERATIONS, **settings))
        return worlds[-1].settle(is_sown=is_sown)

    yield make
    for world in worlds:
        world.close()


@pytest.fixture(scope="session")
def shared(contract: Contract) -> Iterator[World]:
    """A settled world in memory, for tests that may follow each other in it."""
    world = World(contract, _storage("memory"), catalog.OPERATIONS)
    yield world.settle()
    world.close()


@pytest.fixture(scope="session", params=NAMES)
def each_shared(request: Any, contract: Contract) -> Iterator[World]:
    """The same over each store."""
    world = World(contract, _storage(request.param), catalog.OPERATIONS)
    yield world.settle()
    world.close()


@pytest.fixture(scope="module")
def command_world(contract: Contract) -> Iterator[World]:
    """A settled world for commands, whose operator may erase."""
    storage = _storage("memory")
    world = World(contract, storage, catalog.OPERATIONS, allow_erasure=("*",))
    yield world.settle()
    world.close()


@pytest.fixture
def world(make_world: Callable[..., World]) -> World:
    """A settled world in memory, for one test."""
    return make_world()


@pytest.fixture(params=NAMES)
def each_world(request: Any, make_world: Callable[..., World]) -> World:
    """A settled world over each store."""
    return make_world(request.param)


@pytest.fixture
def ask() -> type[Ask]:
    """Makes requests by hand."""
    return Ask


@pytest.fixture
def check_problem() -> Callable[..., Any]:
    """Asserts which problem an answer is; its shape was checked when it came."""

    def check(response: httpx2.Response, kind: problem.ProblemType) -> Any:
        body = response.json()
        assert response.status_code == kind.status, response.text
        assert body["code"] == kind.code, body
        return body

    return check

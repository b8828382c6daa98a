"""The demo as every day and every machine has it: its clock, ids, secret and origin are handed in.

What an answer has that is another's each time (a request id, a position in a list) stands as a
name in angle brackets.
"""

import asyncio
import base64
import hashlib
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx2
from attrs import frozen

from svc_core import COLLECTIONS
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.outside.fetch.model import FetchedDocument
from svc_http.run.demo.seed import seed_demo
from svc_http.service.runtime.application import Application, build
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage
from tests.golden.pretty import pretty
from tests.in_process import ask

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ORIGIN = "https://api.example.org"
PAYEE = "0x000000000000000000000000000000000000dEaD"

STABLE_HEADERS = (
    "allow",
    "cache-control",
    "content-disposition",
    "content-type",
    "deprecation",
    "link",
    "location",
    "retry-after",
    "sunset",
    "vary",
    "www-authenticate",
    "x-svc-api-version",
    "x-svc-ledger-vkey",
    "x-svc-schema-version",
)
"""Fields whose value is told; of all others it is told that they are there."""

VOLATILE_MEMBERS = frozenset(
    {"cursor", "nextCursor", "requestId", "secret", "signature", "watermark"}
)

_POSITION = re.compile(r"([?&](cursor|after)=)[^&\s>\"]+")
_REQUEST = re.compile(r"req_[0-9a-f]{24}")


class Ids:
    """Identifiers and randomness that follow from how many of their kind there were before.

    A row more of one kind leaves the identifiers of all others as they are.
    """

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def new(self, prefix: str) -> str:
        self._given[prefix] += 1
        return f"{prefix}_{int(NOW.timestamp()):08x}{self._given[prefix]:016x}"

    def random(self, size: int) -> bytes:
        self._given[f"{size} bytes"] += 1
        return hashlib.shake_256(f"{size}/{self._given[f'{size} bytes']}".encode()).digest(size)


class Shelf:
    """The folder that the demo writes its documents to, and what reads them from it: no disk.

    An identifier of a source follows from where it is, which is the same everywhere.
    """

    def __init__(self) -> None:
        self._bodies: dict[str, bytes] = {}

    def __truediv__(self, name: str) -> "Sheet":
        return Sheet(f"/demo/feeds/{name}", self._bodies)

    async def fetch(self, location: str, **_: Any) -> FetchedDocument:
        return FetchedDocument(self._bodies[location], None, None, None, location, None)


@frozen
class Sheet:
    """One place on a shelf."""

    location: str
    bodies: dict[str, bytes]

    def __str__(self) -> str:
        return self.location

    def write_bytes(self, body: bytes) -> None:
        self.bodies[self.location] = body


class House:
    """The demo's service in this process, and a key with every scope."""

    def __init__(
        self, *, sells: bool = True, has_rows: bool = True, is_limited: bool = True
    ) -> None:
        self._runner = asyncio.Runner()
        settings = Settings(
            base_url=ORIGIN,
            db=":memory:",
            embeddings="none",
            log_level="error",
            rate_limits=is_limited,
            plans="key-guide",  # it leaves room for the walk, which is made within one minute
            secret="0123456789abcdef" * 4,
            speech="none",
            x402_pay_to=PAYEE if sells else None,
        )
        runtime = Runtime(
            settings,
            MemoryStorage(COLLECTIONS, epoch=b"12345678"),
            now=lambda: NOW,
            monotonic=lambda: 0.0,
            ids=Ids(),
            providers=Providers(payments=payment_provider(settings)),
        )
        self.service: Application = build(runtime)
        self.key = ""
        self.ask("GET", "/livez")  # it starts at its first request
        if has_rows:
            shelf: Any = Shelf()
            account = self._runner.run(seed_demo(self.service.runtime.service, shelf, shelf))
            self.key = account.key

    def close(self) -> None:
        self._runner.run(self.service.runtime.stop())
        self._runner.close()

    def ask(self, method: str, target: str, *, key: str | None = None, **rest: Any) -> Any:
        """The answer to a request, with the key of the demo unless another one is named."""
        bearer = self.key if key is None else key
        headers = rest.pop("headers", {})
        if bearer:
            headers = {"Authorization": f"Bearer {bearer}", **headers}
        return self._runner.run(ask(self.service, method, target, headers=headers, **rest))

    def rows(self, collection: Collection[Any]) -> list[Any]:
        """All rows of a collection."""

        async def scan(ctx: Context) -> list[Any]:
            page = await ctx.tx.documents.scan(collection, limit=1_000)
            assert page.end is None
            return [collection.decode(row.raw) for row in page.rows]

        rows: list[Any] = self._runner.run(self.service.runtime.service.system(scan))
        return rows

    @staticmethod
    def steady(text: str) -> str:
        """A text without what is another each time."""
        return _POSITION.sub(r"\1<\2>", _REQUEST.sub("<request id>", text))

    @classmethod
    def steady_json(cls, value: Any) -> Any:
        """The same of a JSON value."""
        return json.loads(cls.steady(json.dumps(_with_names(value), ensure_ascii=False)))

    def head(self, answer: httpx2.Response) -> Iterator[str]:
        """An answer's status and fields, in lines."""
        yield f"{answer.request.method} {self.steady(answer.request.url.raw_path.decode())}"
        yield f"{answer.status_code}"
        for name in STABLE_HEADERS:
            if name in answer.headers:
                yield f"{name}: {self.steady(answer.headers[name])}"
        names = sorted({*answer.headers} - {*STABLE_HEADERS, "content-length"})
        yield from textwrap.wrap(f"and {' '.join(names)}", 100, break_on_hyphens=False)
        if offer := answer.headers.get("payment-required"):
            yield from ("", pretty(self.steady_json(json.loads(base64.b64decode(offer)))))


def _with_names(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_names(item) for item in value]
    if isinstance(value, dict):
        return {
            name: f"<{name}>"
            if name in VOLATILE_MEMBERS and isinstance(member, str)
            else _with_names(member)
            for name, member in value.items()
        }
    return value

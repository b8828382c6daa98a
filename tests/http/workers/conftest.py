"""A publisher that answers over loopback, and a service that takes in what it publishes."""

import contextlib
import socketserver
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.egress import LOOPBACK
from svc_core.base.seals import Keyring
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.news.model import NEWS, NEWS_TEXTS, NewsItem
from svc_core.operation.ports import SYSTEM, FeedPosition
from svc_core.testing.clock import START, CountingIds, FrozenClock
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.model import FetchLimits
from svc_http.service.service_units import Service
from svc_http.stores import SqliteStorage
from tests.backends import BACKEND, EPOCH, NAMES, store_of

WAIT_SECONDS_MAX = 10.0
LIMITS = FetchLimits(connect_seconds=20.0, total_seconds=60.0)


# -- the publisher -----------------------------------------------------------------------------


class Publisher:
    """An HTTP server in a thread that sends, byte for byte, what a test tells it to."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, Callable[[Any], None]] = {}
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.greeting = b""
        self.closing = threading.Event()
        publisher = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                publisher.serve(self)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True

            def finish_request(self, request: Any, client_address: Any) -> None:
                if tls is None:
                    super().finish_request(request, client_address)
                    return
                try:
                    with tls.wrap_socket(request, server_side=True) as connection:
                        super().finish_request(connection, client_address)
                except (ssl.SSLError, ConnectionError):
                    pass  # the client has refused the certificate

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def url(self, path: str = "/feed", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def serve(self, exchange: Any) -> None:
        if self.greeting:
            exchange.wfile.write(self.greeting)
        line = exchange.rfile.readline().decode("latin-1")
        fields: dict[str, str] = {}
        while (head := exchange.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = head.partition(":")
            fields[name.lower()] = value.strip()
        if not line.startswith("GET "):
            # What is left unread would reset the connection, and the answer might be lost.
            exchange.rfile.read(int(fields.get("content-length", "0")))
            return
        path = line.split(" ")[1]
        self.requests.append((path, fields))
        # The client may have had enough, which is what some tests are about.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.answers[path](exchange)

    def publish(
        self,
        path: str,
        body: bytes,
        *,
        status: str = "200 OK",
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Answer `path` with a whole response; its URL."""
        fields = {"Content-Length": str(len(body)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        raw = f"HTTP/1.1 {status}\r\n{head}\r\n".encode("latin-1") + body
        return self.script(path, lambda exchange: exchange.wfile.write(raw))

    def script(self, path: str, answer: Callable[[Any], None]) -> str:
        """Answer `path` by a function of the exchange; its URL."""
        self.answers[path] = answer
        return self.url(path)

    def redirect(self, path: str, target: str, status: str = "302 Found") -> str:
        return self.publish(path, b"", status=status, headers={"Location": target})

    def stall(self, path: str, begin: bytes = b"") -> str:
        """Send `begin` and then nothing, until the publisher closes."""

        def answer(exchange: Any) -> None:
            exchange.wfile.write(begin)
            exchange.wfile.flush()
            self.closing.wait(WAIT_SECONDS_MAX)

        return self.script(path, answer)

    def flood(self, path: str, head: bytes, chunk: bytes) -> str:
        """Send `chunk` again and again, for as long as anybody reads."""

        def answer(exchange: Any) -> None:
            exchange.wfile.write(head)
            while not self.closing.is_set():
                exchange.wfile.write(chunk)

        return self.script(path, answer)

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    site = Publisher()
    yield site
    site.close()


@pytest.fixture
def secure_publisher() -> Iterator[tuple[Publisher, ssl.SSLContext]]:
    """A publisher with a certificate for `feeds.host.org`, and a context that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "feeds.host.org")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2090, 1, 1, tzinfo=UTC))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("feeds.host.org")]), False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as chain:
        chain.write(pem + secret)
        chain.flush()
        serving.load_cert_chain(chain.name)
    site = Publisher(serving)
    yield site, ssl.create_default_context(cadata=pem.decode("ascii"))
    site.close()


# -- documents ---------------------------------------------------------------------------------


def rss(*titles: str, name: str = "The Pier", text: str = "", folder: str = "") -> bytes:
    """An RSS document with one item a title, an hour apart; its pages are in a folder."""
    items = "".join(
        f"<item><guid>{title}</guid><title>{title}</title>"
        f"<link>https://pier.example/{folder}{number}</link><description>{text}</description>"
        f"<pubDate>{format_datetime(START - timedelta(hours=number))}</pubDate></item>"
        for number, title in enumerate(titles, 1)
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
        f"<title>{name}</title><link>https://www.pier.example/</link>"
        f"<description>Ships</description><language>en</language>{items}</channel></rss>"
    ).encode()


@pytest.fixture
def feed() -> Callable[..., bytes]:
    return rss


# -- the service -------------------------------------------------------------------------------


class House:
    """A service over one store, with a clock that a test moves and a fetcher for loopback."""

    def __init__(self, storage: Any) -> None:
        self.clock = FrozenClock()
        self.storage = storage
        self.service = Service(
            storage=storage,
            ids=CountingIds(self.clock),
            now=self.clock.now,
            keyring=Keyring({1: b"k" * 32}, 1),
            plans=plans.PRESETS["default"],
        )
        self.fetcher = Fetcher(exceptions=LOOPBACK, limits=LIMITS)

    async def rows(self, collection: Any, tenant: str = SYSTEM) -> list[Any]:
        """All rows of a collection, by their ids."""
        page = await self.service.read(
            tenant, lambda ctx: ctx.tx.documents.scan(collection, limit=100_000)
        )
        return [collection.decode(row.raw) for row in page.rows]

    async def sources(self) -> list[Source]:
        return await self.rows(SOURCES)

    async def source(self, id_: str) -> Source:
        return next(source for source in await self.sources() if source.id == id_)

    async def news(self) -> list[NewsItem]:
        return await self.rows(NEWS)

    async def row_counts(self) -> dict[str, int]:
        """How much is stored of everything that a document brings, and told of it."""

        async def count(ctx: Any) -> dict[str, int]:
            counts = {
                collection.name: len((await ctx.tx.documents.scan(collection, limit=100_000)).rows)
                for collection in (NEWS, NEWS_TEXTS)
            }
            feed = await ctx.tx.changes.read(FeedPosition(), limit=100_000)
            return {**counts, "changes": len(feed.changes)}

        return await self.service.read(SYSTEM, count)

    async def close(self) -> None:
        await self.fetcher.aclose()
        await self.storage.close()


@pytest.fixture
def make_house(tmp_path: Path) -> Callable[[str], House]:
    """Makes services; those in SQLite have one file, which other processes may have in between."""

    def make(kind: str) -> House:
        if kind == "sqlite":
            path = tmp_path / "svc.db"
            return House(SqliteStorage.open(path, catalog.COLLECTIONS, epoch=EPOCH))
        return House(store_of(BACKEND.name if kind == "memory" else kind, catalog.COLLECTIONS))

    return make


@pytest.fixture
async def house(make_house: Callable[[str], House], anyio_backend: str) -> Any:
    house_ = make_house("memory")
    yield house_
    await house_.close()


@pytest.fixture(params=NAMES)
async def any_house(
    request: pytest.FixtureRequest, make_house: Callable[[str], House], anyio_backend: str
) -> Any:
    house_ = make_house(request.param)
    yield house_
    await house_.close()

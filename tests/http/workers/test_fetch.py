"""The guarded client: what it brings back, and everything that it refuses."""

import asyncio
import gzip
import os
import socket
import threading
import zlib
from collections import Counter
from collections.abc import Callable
from ipaddress import IPv4Address, ip_network
from pathlib import Path
from typing import Any

import anyio
import httpcore2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.egress import LOOPBACK, PRIVATE, is_allowed
from svc_core.outbox.model import WEBHOOKS_MAX
from svc_http.outside.fetch import local_files as files
from svc_http.outside.fetch import resolver as names
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.guarded_network import GuardedNetwork
from svc_http.outside.fetch.local_files import document_locations
from svc_http.outside.fetch.model import FetchedDocument, FetchLimits, FetchRefusal, NotModified
from svc_http.outside.fetch.url_checks import checked_url

pytestmark = pytest.mark.anyio

SMALL = FetchLimits(body_bytes=1_000, connect_seconds=20.0, total_seconds=20.0, redirects=3)
HASTY = FetchLimits(total_seconds=0.5)


@pytest.fixture
async def fetcher(anyio_backend: str) -> Any:
    async with Fetcher(exceptions=LOOPBACK, limits=SMALL) as fetcher_:
        yield fetcher_


async def refusal_of(fetcher: Fetcher, location: str) -> FetchRefusal:
    with pytest.raises(FetchRefusal) as error:
        await fetcher.fetch(location)
    assert error.value.message.endswith(".")
    return error.value


# -- addresses ---------------------------------------------------------------------------------

ALLOWED_ADDRESSES = [
    "1.1.1.1",
    "8.8.8.8",
    "93.184.216.34",
    "172.32.0.1",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
]


@pytest.mark.parametrize("text", ALLOWED_ADDRESSES)
def test_a_public_address_is_allowed(text: str) -> None:
    assert is_allowed(text)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_alike_in_both_spellings(address: IPv4Address) -> None:
    assert is_allowed(str(address)) == is_allowed(f"::ffff:{address}")


@pytest.mark.parametrize("text", ["127.0.0.1", "10.1.2.3", "192.168.0.9", "::1", "fd00::1"])
def test_exceptions_allow_private_networks(text: str) -> None:
    assert is_allowed(text, PRIVATE)


@pytest.mark.parametrize("text", ["169.254.169.254", "::ffff:169.254.169.254", "fe80::1"])
def test_no_exception_allows_the_network_of_metadata_services(text: str) -> None:
    assert not is_allowed(text, PRIVATE)


BAD_URLS = [
    ("ftp://host.org/feed", "badAddress"),
    ("gopher://host.org/", "badAddress"),
    ("http://", "badAddress"),
    ("http:///feed", "badAddress"),
    ("http://user:pass@host.org/", "badAddress"),
    ("http://user@host.org/", "badAddress"),
    ("http://host.org/a b", "badAddress"),
    ("http://host.org/\r\nHost: other", "badAddress"),
    ("http://host.org\\@other.org/", "badAddress"),
    ("http://host.org/" + "a" * 2_048, "badAddress"),
    ("http://[::1", "badAddress"),
    ("http://host.org:port/", "badAddress"),
    ("http://localhost/", "deniedAddress"),
    ("http://LOCALHOST./", "deniedAddress"),
    ("http://a.localhost/", "deniedAddress"),
    ("http://printer.local/", "deniedAddress"),
    ("http://metadata.google.internal/", "deniedAddress"),
    ("http://db.svc.cluster.local/", "deniedAddress"),
    ("http://router.home.arpa/", "deniedAddress"),
    ("http://intranet/", "deniedAddress"),
    ("http://127.0.0.1/", "deniedAddress"),
    ("http://[::1]/", "deniedAddress"),
    ("http://[::ffff:127.0.0.1]/", "deniedAddress"),
    ("http://127.1/", "deniedAddress"),
    ("http://0x7f.0.0.1/", "deniedAddress"),
    ("http://017700000001/", "deniedAddress"),
    ("http://2130706433/", "deniedAddress"),
    ("http://host.org:0/", "deniedAddress"),
    ("http://host.org:22/", "deniedAddress"),
    ("http://host.org:25/", "deniedAddress"),
    ("http://host.org:70000/", "deniedAddress"),
]


@pytest.mark.parametrize(("url", "code"), BAD_URLS)
def test_an_address_of_the_wrong_form_is_refused_before_anything_is_asked(
    url: str, code: str
) -> None:
    with pytest.raises(FetchRefusal) as error:
        checked_url(url)
    assert error.value.code == code


@pytest.mark.parametrize(
    "url",
    [
        "https://host.org",
        "http://www.host.org:8080/feed?x=1",
        "https://1.1.1.1/",
        "http://[2606:4700::1111]/",
    ],
)
def test_an_ordinary_address_is_taken(url: str) -> None:
    assert str(checked_url(url)).startswith(url.partition("?")[0])


def test_the_fragment_is_not_asked_for() -> None:
    assert str(checked_url("https://host.org/feed#top")) == "https://host.org/feed"


async def test_a_denied_address_is_never_connected_to(publisher: Any) -> None:
    publisher.publish("/feed", b"secret")
    async with Fetcher() as outside:
        fault = await refusal_of(outside, publisher.url())
    assert fault.code == "deniedAddress"
    assert publisher.requests == []


async def test_a_name_that_resolves_to_a_denied_address_is_refused(publisher: Any) -> None:
    publisher.publish("/feed", b"secret")
    elsewhere = (ip_network("10.0.0.0/8"),)
    async with Fetcher(exceptions=elsewhere) as inside:
        fault = await refusal_of(inside, publisher.url(host="localhost"))
    assert fault.code == "deniedAddress"
    assert publisher.requests == []


async def test_a_name_is_refused_when_any_of_its_addresses_is_denied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(names, "look_up", resolve)
    with pytest.raises(FetchRefusal) as error:
        await GuardedNetwork().connect_tcp("two.host.org", 80, timeout=1.0)
    assert error.value.code == "deniedAddress"


async def test_the_next_address_is_tried_when_one_does_not_answer(
    publisher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", (address, port)) for address in ("127.9.9.9", "127.0.0.1")]

    monkeypatch.setattr(names, "look_up", resolve)
    publisher.publish("/feed", b"here")
    async with Fetcher(exceptions=LOOPBACK) as inside:
        answer = await inside.fetch(publisher.url(host="two.host.org"))
    assert isinstance(answer, FetchedDocument)
    assert publisher.requests[0][1]["host"] == f"two.host.org:{publisher.port}"


async def test_a_name_without_an_address_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return []

    monkeypatch.setattr(names, "look_up", resolve)
    async with Fetcher(exceptions=LOOPBACK) as inside:
        assert (await refusal_of(inside, "http://none.host.org/")).code == "unreachable"


async def test_a_name_that_nobody_knows_is_said_so(fetcher: Fetcher) -> None:
    fault = await refusal_of(fetcher, "http://" + "a" * 70 + ".invalid/")
    assert fault.code == "unknownHost"


async def test_a_name_that_takes_too_long_to_resolve_is_a_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        await anyio.sleep_forever()
        raise AssertionError("it is cancelled")

    monkeypatch.setattr(names, "look_up", resolve)
    with pytest.raises(FetchRefusal) as error:
        await GuardedNetwork().connect_tcp("slow.host.org", 80, timeout=0.02)
    assert error.value.code == "timeout"


@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True}), "asyncio"], ids=str)
async def test_slow_names_keep_no_other_waiting_and_asking_again_adds_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many slow ones as a workspace has webhooks, each asked for by many that gave up."""
    look_ups: Counter[str] = Counter()
    ends = threading.Event()
    resolve = socket.getaddrinfo

    def slowly(host: str, *how: Any, **options: Any) -> Any:
        if "flags" in options:
            return resolve(host, *how, **options)
        look_ups[host] += 1
        if host.startswith("slow"):
            ends.wait()
            raise OSError("no such name")
        return resolve(host, *how, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    guard = GuardedNetwork(LOOPBACK)
    slow = [f"slow{number}.host.org" for number in range(WEBHOOKS_MAX)]
    for _ in range(2):
        asking = [guard.connect_tcp(name, 9, timeout=0.05) for name in slow]
        given_up = await asyncio.gather(*asking, return_exceptions=True)
        assert {outcome.code for outcome in given_up if isinstance(outcome, FetchRefusal)} == {
            "timeout"
        }
    with pytest.raises(httpcore2.ConnectError):
        await guard.connect_tcp("localhost", 1, timeout=20)
    assert look_ups == {**dict.fromkeys(slow, 1), "localhost": 1}
    ends.set()
    await asyncio.gather(*guard._resolver._lookups.values(), return_exceptions=True)


async def test_the_guard_knows_no_local_sockets() -> None:
    with pytest.raises(AssertionError):
        await GuardedNetwork().connect_unix_socket("/run/x.sock")
    await GuardedNetwork().sleep(0)


# -- documents ---------------------------------------------------------------------------------


async def test_a_document_comes_with_its_validators(fetcher: Fetcher, publisher: Any) -> None:
    url = publisher.publish(
        "/feed",
        b"body",
        headers={"ETag": '"v1"', "Last-Modified": "yesterday", "Content-Type": "text/xml"},
    )
    answer = await fetcher.fetch(url)
    assert answer == FetchedDocument(b"body", "text/xml", '"v1"', "yesterday", url, 200)


async def test_what_is_known_is_asked_for_conditionally(fetcher: Fetcher, publisher: Any) -> None:
    url = publisher.publish("/feed", b"", status="304 Not Modified")
    answer = await fetcher.fetch(url, etag='W/"v1"', last_modified="Fri, 02 Jan 2026 03:04:05 GMT")
    assert answer == NotModified()
    _, fields = publisher.requests[0]
    assert fields["if-none-match"] == 'W/"v1"'
    assert fields["if-modified-since"] == "Fri, 02 Jan 2026 03:04:05 GMT"


async def test_a_first_request_has_no_conditions(fetcher: Fetcher, publisher: Any) -> None:
    await fetcher.fetch(publisher.publish("/feed", b"body"))
    _, fields = publisher.requests[0]
    assert "if-none-match" not in fields
    assert fields["user-agent"].startswith("svc-ingest")
    assert fields["host"] == f"127.0.0.1:{publisher.port}"


async def test_neither_proxies_nor_cookies_have_a_part(
    publisher: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    url = publisher.publish("/feed", b"body", headers={"Set-Cookie": "a=b"})
    async with Fetcher(exceptions=LOOPBACK) as inside:
        await inside.fetch(url)
        await inside.fetch(url)
    assert "cookie" not in publisher.requests[1][1]


@pytest.mark.parametrize("name", ["gzip", "x-gzip", "GZIP"])
async def test_a_compressed_document_is_unfolded(
    fetcher: Fetcher, publisher: Any, name: str
) -> None:
    body = gzip.compress(b"words " * 100)
    url = publisher.publish("/feed", body, headers={"Content-Encoding": name})
    answer = await fetcher.fetch(url)
    assert isinstance(answer, FetchedDocument)
    assert answer.body == b"words " * 100


ENCODINGS = [
    ("damaged", b"\x1f\x8b not gzip at all", "gzip"),
    ("cut off", gzip.compress(bytes(range(256)), mtime=0)[:-20], "gzip"),
    ("followed by more", gzip.compress(b"a", mtime=0) + b"more", "gzip"),
    ("of another kind", zlib.compress(b"a"), "br"),
]


@pytest.mark.parametrize(("_", "body", "name"), ENCODINGS)
async def test_a_compressed_document_that_is_not_whole_is_refused(
    fetcher: Fetcher, publisher: Any, _: str, body: bytes, name: str
) -> None:
    url = publisher.publish("/feed", body, headers={"Content-Encoding": name})
    assert (await refusal_of(fetcher, url)).code == "encoding"


@pytest.mark.parametrize("size", [999, 1_000])
async def test_a_document_of_the_largest_size_is_taken(
    fetcher: Fetcher, publisher: Any, size: int
) -> None:
    plain = await fetcher.fetch(publisher.publish("/plain", b"x" * size))
    small = await fetcher.fetch(
        publisher.publish(
            "/folded", gzip.compress(b"x" * size), headers={"Content-Encoding": "gzip"}
        )
    )
    assert isinstance(plain, FetchedDocument)
    assert isinstance(small, FetchedDocument)
    assert len(plain.body) == len(small.body) == size


async def test_one_byte_more_is_refused(fetcher: Fetcher, publisher: Any) -> None:
    url = publisher.publish("/feed", b"x" * 1_001)
    assert (await refusal_of(fetcher, url)).code == "tooLarge"


async def test_a_small_body_that_unfolds_to_much_is_refused(
    fetcher: Fetcher, publisher: Any
) -> None:
    small = gzip.compress(bytes(200_000))
    assert len(small) < 1_000
    url = publisher.publish("/feed", small, headers={"Content-Encoding": "gzip"})
    assert (await refusal_of(fetcher, url)).code == "tooLarge"


async def test_a_compressed_body_that_never_unfolds_is_refused(
    fetcher: Fetcher, publisher: Any
) -> None:
    empty_block = b"\x00\x00\x00\xff\xff"  # an empty stored block of DEFLATE
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"")[:10]
    assert (
        await refusal_of(fetcher, publisher.flood("/feed", head, empty_block * 50))
    ).code == "tooLarge"


async def test_an_endless_body_is_refused(fetcher: Fetcher, publisher: Any) -> None:
    url = publisher.flood("/feed", b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100)
    assert (await refusal_of(fetcher, url)).code == "tooLarge"


# -- servers that are not well -----------------------------------------------------------------


@pytest.mark.parametrize("begin", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
async def test_a_server_that_stalls_is_given_up(publisher: Any, begin: bytes) -> None:
    async with Fetcher(exceptions=LOOPBACK, limits=HASTY) as inside:
        fault = await refusal_of(inside, publisher.stall("/feed", begin))
    assert fault.code == "timeout"
    assert "0.5 seconds" in fault.message


@pytest.mark.parametrize(
    ("status", "phrase"),
    [("500 Oops", "500 Internal Server Error"), ("404 X", "404 Not Found"), ("599 Odd", "599")],
)
async def test_any_other_status_is_a_refusal_that_names_it(
    fetcher: Fetcher, publisher: Any, status: str, phrase: str
) -> None:
    fault = await refusal_of(fetcher, publisher.publish("/feed", b"<rss/>", status=status))
    assert fault.code == "httpStatus"
    assert fault.status == int(status[:3])
    assert fault.message == f"The server answered {phrase}."


BROKEN_ANSWERS = [
    b"",
    b"what?\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


@pytest.mark.parametrize("raw", BROKEN_ANSWERS)
async def test_an_answer_that_is_not_whole_http_is_refused(
    fetcher: Fetcher, publisher: Any, raw: bytes
) -> None:
    url = publisher.script("/feed", lambda exchange: exchange.wfile.write(raw))
    assert (await refusal_of(fetcher, url)).code == "protocol"


async def test_a_port_that_nobody_listens_on_cannot_be_reached(fetcher: Fetcher) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))  # and does not listen
        port = busy.getsockname()[1]
        assert (await refusal_of(fetcher, f"http://127.0.0.1:{port}/")).code == "unreachable"


async def test_a_server_that_does_not_speak_tls_cannot_be_reached(
    fetcher: Fetcher, publisher: Any
) -> None:
    publisher.greeting = b"220 mail.host.org ready\r\n"
    url = publisher.url().replace("http:", "https:")
    assert (await refusal_of(fetcher, url)).code == "unreachable"


@pytest.mark.parametrize(("connect", "total"), [(0.2, 5.0), (5.0, 0.2)])
async def test_tls_that_is_never_answered_is_given_up_and_hung_up(
    publisher: Any, connect: float, total: float
) -> None:
    limits = FetchLimits(connect_seconds=connect, total_seconds=total)
    async with Fetcher(exceptions=LOOPBACK, limits=limits) as inside:
        fault = await refusal_of(inside, publisher.url().replace("http:", "https:"))
    assert fault.code == "timeout"
    publisher.close()  # waits until the connection is closed at the other end


@pytest.mark.parametrize(("name", "is_good"), [("feeds.host.org", True), ("other.host.org", False)])
async def test_tls_is_agreed_on_with_the_name_and_not_the_address(
    secure_publisher: Any, monkeypatch: pytest.MonkeyPatch, name: str, is_good: bool
) -> None:
    publisher, trusting = secure_publisher
    publisher.publish("/feed", b"body")

    async def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(names, "look_up", resolve)
    url = publisher.url("/feed", name).replace("http:", "https:")
    async with Fetcher(exceptions=LOOPBACK, tls=trusting) as inside:
        if is_good:
            answer = await inside.fetch(url)
            assert isinstance(answer, FetchedDocument)
            assert answer.body == b"body"
            assert publisher.requests[0][1]["host"].startswith(name)
        else:
            assert (await refusal_of(inside, url)).code == "unreachable"
            assert publisher.requests == []


# -- redirects ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed(fetcher: Fetcher, publisher: Any, status: int) -> None:
    publisher.publish("/new", b"body")
    url = publisher.redirect("/old", "new", f"{status} Moved")
    answer = await fetcher.fetch(url)
    assert isinstance(answer, FetchedDocument)
    assert answer.final_url == publisher.url("/new")


async def test_three_redirects_are_followed_and_not_four(fetcher: Fetcher, publisher: Any) -> None:
    for number in range(4):
        publisher.redirect(f"/{number}", f"/{number + 1}")
    publisher.publish("/4", b"body")
    assert isinstance(await fetcher.fetch(publisher.url("/1")), FetchedDocument)
    assert (await refusal_of(fetcher, publisher.url("/0"))).code == "redirects"


ELSEWHERE = [
    ("http://169.254.169.254/latest/meta-data", "deniedAddress"),
    ("http://10.0.0.1/", "deniedAddress"),
    ("//[fd00::1]/", "deniedAddress"),
    ("file:///etc/passwd", "badAddress"),
    ("ftp://host.org/feed", "badAddress"),
    ("http://me@127.0.0.1/", "badAddress"),
    ("", "protocol"),
]


@pytest.mark.parametrize(("target", "code"), ELSEWHERE)
async def test_a_redirect_is_checked_like_the_first_address(
    fetcher: Fetcher, publisher: Any, target: str, code: str
) -> None:
    assert (await refusal_of(fetcher, publisher.redirect("/feed", target))).code == code


async def test_redirects_share_one_budget_of_time(publisher: Any) -> None:
    publisher.redirect("/a", "/b")
    publisher.stall("/b")
    async with Fetcher(exceptions=LOOPBACK, limits=HASTY) as inside:
        began = anyio.current_time()
        await refusal_of(inside, publisher.url("/a"))
        assert anyio.current_time() - began < 5


# -- turns -------------------------------------------------------------------------------------


async def _all_at_once(fetcher: Fetcher, urls: list[str]) -> None:
    async with anyio.create_task_group() as tasks:
        for url in urls:
            tasks.start_soon(fetcher.fetch, url)


async def test_one_host_is_asked_one_thing_at_a_time(fetcher: Fetcher, publisher: Any) -> None:
    turn, never = threading.Semaphore(1), threading.Event()
    alone: list[bool] = []

    def answer(exchange: Any) -> None:
        alone.append(turn.acquire(blocking=False))
        never.wait(0.02)  # long enough for another one to come, if any were on its way
        turn.release()
        exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    urls = [publisher.script(f"/{number}", answer) for number in range(10)]
    await _all_at_once(fetcher, urls)
    assert alone == [True] * 10


async def test_hosts_are_asked_at_once_up_to_the_bound(publisher: Any) -> None:
    meeting, places = threading.Barrier(2, timeout=60.0), threading.Semaphore(2)
    found_room: list[bool] = []

    def meet(exchange: Any) -> None:
        found_room.append(places.acquire(blocking=False))
        meeting.wait()
        places.release()
        exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    publisher.script("/feed", meet)
    urls = [publisher.url("/feed", f"127.0.0.{number}") for number in (1, 1, 1, 1)]
    async with Fetcher(exceptions=LOOPBACK, limits=FetchLimits(at_once=2)) as inside:
        names = [
            url.replace("127.0.0.1", name)
            for url, name in zip(urls, ["127.0.0.1", "localhost"] * 2, strict=True)
        ]
        await _all_at_once(inside, names)
    assert found_room == [True] * 4


# -- files -------------------------------------------------------------------------------------


async def test_a_file_is_read_like_an_address(fetcher: Fetcher, tmp_path: Path) -> None:
    path = tmp_path / "feed one.xml"
    path.write_bytes(b"body")
    for location in (str(path), path.as_uri()):
        answer = await fetcher.fetch(location)
        assert isinstance(answer, FetchedDocument)
        assert (answer.body, answer.final_url, answer.status) == (b"body", location, None)


def _folder(path: Path) -> str:
    return str(path)


def _pipe(path: Path) -> str:
    os.mkfifo(path / "pipe")
    return str(path / "pipe")


def _large(path: Path) -> str:
    (path / "large").write_bytes(b"x" * 1_001)
    return str(path / "large")


FILES = [
    (lambda path: str(path / "none"), "notFound"),
    (lambda path: str(path / "none" / "none"), "notFound"),
    (_folder, "unreadable"),
    (_pipe, "unreadable"),
    (lambda _: "/dev/zero", "unreadable"),
    (lambda _: "/a\0b", "unreadable"),
    (_large, "tooLarge"),
    (lambda _: "file://elsewhere/feed", "badAddress"),
    (lambda _: "data://x", "badAddress"),
]


@pytest.mark.parametrize(("place", "code"), FILES)
async def test_what_is_no_readable_file_is_refused(
    fetcher: Fetcher, tmp_path: Path, place: Callable[[Path], str], code: str
) -> None:
    assert (await refusal_of(fetcher, place(tmp_path))).code == code


def test_a_folder_stands_for_its_files_and_its_links(tmp_path: Path) -> None:
    for name in ("b.xml", "a.xml", "deep/c.json", ".hidden", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "deep" / "loop").symlink_to(tmp_path)
    assert document_locations(str(tmp_path)) == tuple(
        str(tmp_path / name) for name in ("a.xml", "b.xml", "deep/c.json", "deep/loop")
    )


def test_a_folder_does_not_stand_for_the_databases_in_it(tmp_path: Path) -> None:
    beside = ("-wal", "-shm", ".lock", ".secret", ".new", ".new.lock", ".before-2026Z.secret")
    for name in ("svc.db", "deep/copy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"SQLite format 3\0 and pages")
        for suffix in beside:
            (tmp_path / f"{name}{suffix}").write_bytes(b"")
    paths = ("deep/copy.xml", "deep/copyright", "feed.xml", "gone.xml", "other.db", "other.lock",
             "svc.db.xml")  # fmt: skip
    (tmp_path / "gone.xml").symlink_to(tmp_path / "nowhere")
    for name in {*paths} - {"gone.xml"}:
        (tmp_path / name).write_bytes(b"SQLite format 4")
    assert document_locations(str(tmp_path)) == tuple(str(tmp_path / name) for name in paths)


def test_a_file_that_cannot_be_opened_is_left_for_its_reader_to_tell(tmp_path: Path) -> None:
    assert not files._is_database(str(tmp_path / "went-away-meanwhile"))


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "feed.xml").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert document_locations("feed.xml") == (str(tmp_path / "feed.xml"),)
    assert document_locations("./feed.xml") == document_locations((tmp_path / "feed.xml").as_uri())


def test_an_address_stands_for_itself() -> None:
    assert document_locations("HTTPS://host.org/feed") == ("HTTPS://host.org/feed",)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FetchRefusal) as error:
        document_locations(str(tmp_path / "none"))
    assert error.value.code == "notFound"


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc_http.outside.fetch.local_files.FILES_MAX", 2)
    for number in range(3):
        (tmp_path / str(number)).write_bytes(b"")
    with pytest.raises(FetchRefusal) as error:
        document_locations(str(tmp_path))
    assert error.value.code == "tooMany"


def test_a_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    with open(os.path.join(os.fsencode(tmp_path), b"\xff.xml"), "wb"):
        pass
    with pytest.raises(FetchRefusal) as error:
        document_locations(str(tmp_path))
    assert error.value.code == "badAddress"
    error.value.message.encode()

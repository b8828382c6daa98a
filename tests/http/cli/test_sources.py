"""`svc sources`, of which `svc feeds` is a second name: what is read, and what came of it."""

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

Svc = Callable[..., Any]
NO_SOURCE = "src_" + "0" * 24
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>
<link>https://news.example/</link>{items}</channel></rss>"""
ITEM = """<item><guid>{n}</guid><title>Port strike in Antwerp enters day {n}</title>
<link>https://news.example/{n}</link></item>"""


@pytest.fixture
def feeds(here: Path) -> Path:
    """A folder of two feeds with three items each, and a file that is none."""
    folder = here / "feeds"
    folder.mkdir()
    for title, days in (("first", (1, 2, 3)), ("second", (4, 5, 6))):
        items = "".join(ITEM.format(n=n) for n in days)
        (folder / f"{title}.xml").write_text(FEED.format(title=title, items=items))
    (folder / "notes.txt").write_text("no feed")
    return folder


def test_a_folder_of_feeds_is_taken_in_and_said_to_be_well(svc: Svc, feeds: Path) -> None:
    every = ("--every", 60, "--keep", "--json")
    added = svc("feeds", "add", "feeds", "--topic", "shipping", *every).json
    assert [Path(one["location"]).name for one in added] == ["first.xml", "notes.txt", "second.xml"]
    assert all(Path(one["location"]).is_absolute() for one in added)
    taken = {Path(one["location"]).name: one["health"] for one in added}
    assert (taken["first.xml"]["status"], taken["first.xml"]["itemsLastRun"]) == ("ok", 3)
    assert taken["notes.txt"]["error"]["code"] == "notAFeed"
    again = svc("feeds", "add", str(feeds), "--json").json
    assert [one["id"] for one in again] == [one["id"] for one in added]
    pulled = svc("feeds", "pull", "--all", "--json").json
    assert (pulled["sources"], pulled["created"], pulled["failed"]) == (3, 0, 1)
    failed = next(row for row in pulled["outcomes"] if row["status"] == "failed")
    assert failed["error"]["code"] == "notAFeed"
    assert svc("feeds", "pull", "--json").json["sources"] == 0
    assert svc("feeds", "pull", added[0]["id"], "--json").json["sources"] == 1
    status = svc("sources", "status", "--json").json
    assert sorted(one["health"]["status"] for one in status) == ["error", "ok", "ok"]
    # The groups and the verbs have each a second name.
    for words in (("feeds", "status"), ("sources", "list"), ("feeds", "list")):
        assert svc(*words, "--json").json == status
    for words, code in (("status",), 0), (("pull", "--all"), 1), (("add", feeds), 1):
        ran = svc("feeds", *words)
        assert ran.code == code
        assert added[1]["id"] in ran.out
        assert "neither" in ran.out  # The document is neither XML nor JSON.


def test_sources_may_be_added_without_being_taken_in(svc: Svc, feeds: Path) -> None:
    added = svc("feeds", "add", feeds / "first.xml", "--no-pull", "--json").json
    assert [one["health"]["status"] for one in added] == ["neverRun"]
    pulled = svc("feeds", "pull", "--json").json
    assert (pulled["sources"], pulled["created"]) == (1, 3)


class Publisher(BaseHTTPRequestHandler):
    """A feed on this machine that answers a conditional request with 304."""

    asked: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.asked.append(self.headers["If-None-Match"])
        is_known = self.asked[-1] == '"v1"'
        body = b"" if is_known else FEED.format(title="web", items=ITEM.format(n=1)).encode()
        self.send_response(304 if is_known else 200)
        self.send_header("ETag", '"v1"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Publisher) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/feed"
        server.shutdown()
        thread.join()


def test_a_feed_of_this_machine_is_fetched_in_development_alone(
    svc: Svc, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Publisher.asked.clear()
    (added,) = svc("feeds", "add", address, "--json").json
    assert (added["name"], added["health"]["status"]) == ("web", "ok")
    assert svc("feeds", "pull", "--all", "--json").json["failed"] == 0
    assert Publisher.asked == [None, '"v1"']
    monkeypatch.setenv("SVC_ALLOW_PRIVATE_FETCH", "false")
    outcome = svc("feeds", "pull", "--all", "--json").json["outcomes"][0]
    assert "allow_private_fetch" in outcome["error"]["message"]
    monkeypatch.delenv("SVC_ALLOW_PRIVATE_FETCH")
    monkeypatch.setenv("SVC_ENV", "production")
    monkeypatch.setenv("SVC_SECRET", "0123456789abcdef" * 4)
    assert svc("feeds", "pull", "--all", "--json").json["failed"] == 1
    assert len(Publisher.asked) == 2


REFUSED = [
    (("nowhere.xml",), 1, "LOCATION: There is no file"),
    (("feeds", "ftp://news.example/feed"), 1, "LOCATION: Neither a web address nor a file"),
    (("feeds", "--name", "both"), 1, "--name: is for one source"),
    (("feeds", "--topic", "gossip"), 1, "--topic: "),
    (("",), 1, "LOCATION: Name an address, a file or a folder"),
    (("http://",), 1, "LOCATION: A web address begins with"),
    (("https://ann:word@news.example/feed",), 1, "LOCATION: An address with a user"),
    (("feeds", "--every", "10s"), 1, "--every: must be at least 60"),
    (("feeds", "--every", "2w"), 1, "--every: must be at most 604800"),
    (("feeds", "--every", "soon"), 2, "--every: must be a span of time such as"),
    (("feeds", "--every", "1.5h"), 2, "--every: "),
    (("feeds", "--every", "-60"), 2, ""),
]


@pytest.mark.usefixtures("feeds")
@pytest.mark.parametrize(("arguments", "code", "words"), REFUSED)
def test_what_cannot_be_a_source_is_refused_before_any_is_added(
    svc: Svc, arguments: tuple[str, ...], code: int, words: str
) -> None:
    svc("db", "migrate")
    ran = svc("feeds", "add", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert ran.err.startswith(f"svc: {words}")
    assert svc("feeds", "status", "--json").json == []


@pytest.mark.parametrize(
    ("every", "seconds"), [("60", 60), ("90s", 90), ("15m", 900), ("24h", 86_400), ("1w", 604_800)]
)
def test_one_spelling_of_spans_serves_all_options(
    svc: Svc, feeds: Path, every: str, seconds: int
) -> None:
    (added,) = svc("feeds", "add", feeds / "first.xml", "--every", every, "--json").json
    assert added["cadenceSeconds"] == seconds


def test_progress_is_shown_at_a_terminal_and_nowhere_else(
    svc: Svc, feeds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("feeds", "add", feeds, "--keep", "--json").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    ran = svc("feeds", "pull", "--all", "--json")
    assert "3/3" in ran.err
    assert ran.json["sources"] == 3


def test_what_cannot_be_read_is_told_and_kept_only_where_that_is_said(
    svc: Svc, feeds: Path
) -> None:
    def kept() -> list[str]:
        rows = svc("feeds", "status", "--json").json
        return sorted(Path(row["location"]).name for row in rows)

    ran = svc("feeds", "add", feeds / "notes.txt")
    assert (ran.code, "neither XML nor JSON" in ran.out, kept()) == (1, True, [])
    added = svc("feeds", "add", feeds, "--json")
    assert added.code == 1
    told = {Path(row["location"]).name: row["kept"] for row in added.json}
    assert told == {"first.xml": True, "notes.txt": False, "second.xml": True}
    assert kept() == ["first.xml", "second.xml"]
    assert svc("feeds", "add", feeds / "notes.txt", "--keep").code == 1
    # What was there before is not forgotten because it fails once.
    assert svc("feeds", "add", feeds).code == 1
    assert kept() == ["first.xml", "notes.txt", "second.xml"]
    svc("feeds", "remove", svc("feeds", "status", "--json").json[1]["id"])
    assert svc("feeds", "add", feeds / "notes.txt", "--no-pull").code == 0


def test_a_removed_feed_is_read_no_more_and_its_items_stay(svc: Svc, feeds: Path) -> None:
    svc("workspaces", "create", "--name", "acme")
    first, _, _ = svc("feeds", "add", feeds, "--keep", "--json").json
    before = svc("changes", "list", "--type", "newsItem", "--json").json
    unknown = svc("feeds", "remove", first["id"], NO_SOURCE)
    assert (unknown.code, "svc sources status" in unknown.err) == (1, True)
    assert svc("feeds", "pull", first["id"], NO_SOURCE).code == 1
    assert len(svc("feeds", "status", "--json").json) == 3
    (gone,) = svc("feeds", "remove", first["id"], first["id"], "--json").json
    assert gone == {name: first[name] for name in ("id", "name", "location")} | {
        "removed": True,
        "itemsKept": True,
    }
    assert len(svc("feeds", "status", "--json").json) == 2
    assert svc("changes", "list", "--type", "newsItem", "--json").json == before
    assert svc("feeds", "pull", "--all", "--json").json["sources"] == 2
    (again,) = svc("feeds", "add", feeds / "first.xml", "--json").json
    assert (again["id"], again["health"]["status"]) == (first["id"], "ok")


def test_a_folder_adds_its_files_and_nothing_of_the_service(
    svc: Svc, feeds: Path, here: Path
) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    (here / "none").mkdir()
    assert svc("feeds", "add", "none", "--json").json == []
    with socket.socket(socket.AF_UNIX) as beside:
        beside.bind("here.sock")  # by its short name: a path of a socket has about 100 bytes
        added = svc("feeds", "add", ".", "--json").json
    found = sorted(Path(one["location"]).relative_to(here).as_posix() for one in added)
    assert found == ["feeds/first.xml", "feeds/notes.txt", "feeds/second.xml"]


def test_refused_rows_are_told_with_their_reason(svc: Svc, here: Path) -> None:
    items = "<item><title>Port</title><guid>1</guid></item><item/>"
    (here / "half.xml").write_text(f"<rss version='2.0'><channel>{items}</channel></rss>")
    for told in (svc("feeds", "add", "half.xml").out, svc("feeds", "status").out):
        assert "partial" in told
        assert "1 no title text or link" in told

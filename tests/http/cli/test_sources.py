"""`svc sources`, of which `svc feeds` is a second name: what is read, and what came of it."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from svc_http.run.cli.typed_values import parse_word

Svc = Callable[..., Any]
NO_SOURCE = "src_" + "0" * 24
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>
<link>https://news.example/</link>{items}</channel></rss>"""
ITEM = """<item><guid>{n}</guid><title>Port strike in Antwerp enters day {n}</title>
<link>https://news.example/{n}</link></item>"""


@pytest.fixture
def feeds(cwd: Path) -> Path:
    """A folder of two feeds with three items each, and a file that is none."""
    folder = cwd / "feeds"
    folder.mkdir()
    for title, days in (("first", (1, 2, 3)), ("second", (4, 5, 6))):
        items = "".join(ITEM.format(n=n) for n in days)
        (folder / f"{title}.xml").write_text(FEED.format(title=title, items=items))
    (folder / "notes.txt").write_text("no feed")
    return folder


def test_a_folder_of_feeds_is_taken_in_and_said_to_be_well(svc: Svc, feeds: Path) -> None:
    every = ("--every", 60, "--keep", "--json")
    rows = svc("feeds", "add", "feeds", "--topic", "shipping", *every).json
    assert [Path(item["location"]).name for item in rows] == [
        "first.xml",
        "notes.txt",
        "second.xml",
    ]
    assert all(Path(item["location"]).is_absolute() for item in rows)
    reads = {Path(item["location"]).name: item["health"] for item in rows}
    assert (reads["first.xml"]["status"], reads["first.xml"]["itemsLastRun"]) == ("ok", 3)
    assert reads["notes.txt"]["error"]["code"] == "unrecognised"
    again = svc("feeds", "add", str(feeds), "--json").json
    assert [item["id"] for item in again] == [item["id"] for item in rows]
    pulled = svc("feeds", "pull", "--all", "--json").json
    assert [row["lastRun"]["created"] for row in pulled] == [0, 0, 0]
    (failure,) = (row for row in pulled if row["status"] == "failed")
    assert failure["health"]["error"]["code"] == "unrecognised"
    assert svc("feeds", "pull", "--json").json == []
    (first,) = svc("feeds", "pull", rows[0]["id"], "--json").json
    assert first.keys() - {"status"} == rows[0].keys()
    status = svc("sources", "status", "--json").json
    assert sorted(item["health"]["status"] for item in status) == ["error", "ok", "ok"]
    # The groups and the verbs have each a second name.
    for words in (("feeds", "status"), ("sources", "list"), ("feeds", "list")):
        assert svc(*words, "--json").json == status
    for words, code in (("status",), 0), (("pull", "--all"), 1), (("add", feeds), 1):
        ran = svc("feeds", *words)
        assert ran.code == code
        assert rows[1]["id"] in ran.out
        assert "No format fits" in ran.out


def test_sources_may_be_added_without_being_taken_in(svc: Svc, feeds: Path) -> None:
    rows = svc("feeds", "add", feeds / "first.xml", "--no-pull", "--json").json
    assert [row["health"]["status"] for row in rows] == ["neverRun"]
    (pulled,) = svc("feeds", "pull", "--json").json
    assert (pulled["status"], pulled["lastRun"]["created"]) == ("taken", 3)


def test_a_link_in_a_folder_is_read_or_says_why_not(svc: Svc, feeds: Path, cwd: Path) -> None:
    folder = cwd / "links"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "file.xml").symlink_to(feeds / "first.xml")
    for name, target in (("folder", feeds), ("nowhere", cwd / "gone"), (".hidden", cwd / "gone")):
        (folder / name).symlink_to(target)
    ran = svc("sources", "add", folder, "--json")
    told = {Path(row["location"]).name: row for row in ran.json}
    assert (ran.code, {name: row["kept"] for name, row in told.items()}) == (
        1, {"file.xml": True, "folder": False, "nowhere": False},
    )  # fmt: skip
    assert told["file.xml"]["lastRun"]["created"] == 3
    assert "leads to a folder" in told["folder"]["health"]["error"]["message"]
    assert "leads nowhere" in told["nowhere"]["health"]["error"]["message"]


class Publisher(BaseHTTPRequestHandler):
    """A feed on this machine that answers a conditional request with 304."""

    requests: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.requests.append(self.headers["If-None-Match"])
        is_known = self.requests[-1] == '"v1"'
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
    Publisher.requests.clear()
    (sources,) = svc("feeds", "add", address, "--json").json
    assert (sources["name"], sources["health"]["status"]) == ("web", "ok")
    assert svc("feeds", "pull", "--all", "--json").json[0]["status"] == "unchanged"
    assert Publisher.requests == [None, '"v1"']
    monkeypatch.setenv("SVC_ALLOW_PRIVATE_FETCH", "false")
    outcome = svc("feeds", "pull", "--all", "--json").json[0]
    assert "allow_private_fetch" in outcome["health"]["error"]["message"]
    monkeypatch.delenv("SVC_ALLOW_PRIVATE_FETCH")
    monkeypatch.setenv("SVC_ENV", "production")
    monkeypatch.setenv("SVC_SECRET", "0123456789abcdef" * 4)
    assert svc("feeds", "pull", "--all", "--json").json[0]["status"] == "failed"
    assert len(Publisher.requests) == 2


REFUSAL = [
    (("nowhere.xml",), 1, "LOCATION: There is no file"),
    (("feeds", "ftp://news.example/feed"), 1, "LOCATION: Neither a web address nor a file"),
    (("feeds", "--name", "both"), 1, "--name: is for one source"),
    (("feeds", "--topic", "gossip"), 1, "--topic: "),
    (("feeds", "--format", "word"), 1, "--format: 'word' is none of: "),
    (("feeds", "--option", "country=FRA"), 1, "--option: country must be an ISO 3166-1"),
    (("feeds", "--timezone", "Mars"), 1, "--timezone: must be an IANA time zone"),
    (("feeds", "--format", "kev", "--option", "a=b"), 1, "--option: kev takes no a; it takes: "),
    (("feeds", "--format", "rss", "--option", "tier=5"), 1, "--option: tier must be 1"),
    (("feeds", "--option", "tier"), 2, "--option: must be KEY=VALUE"),
    (("feeds", "--option", "a=1", "--option", "a=2"), 2, "--option: must be KEY=VALUE, each"),
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
def test_what_cannot_be_a_source_is_refused_before_any_is_added(svc: Svc) -> None:
    svc("db", "migrate")
    for arguments, code, words in REFUSAL:
        ran = svc("feeds", "add", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1), arguments
        assert ran.err.startswith(f"svc: {words}"), arguments
    assert svc("feeds", "status", "--json").json == []


def test_one_spelling_of_spans_serves_all_options(svc: Svc, feeds: Path) -> None:
    spans = {"60": 60, "90s": 90, "15m": 900, "24h": 86_400, "1w": 604_800}
    assert {text: parse_word("seconds", text) for text in spans} == spans
    (source,) = svc("feeds", "add", feeds / "first.xml", "--every", "15m", "--json").json
    assert source["cadenceSeconds"] == 900


def test_progress_is_shown_at_a_terminal_and_nowhere_else(
    svc: Svc, feeds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("feeds", "add", feeds, "--keep", "--json").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    ran = svc("feeds", "pull", "--all", "--json")
    assert "3/3" in ran.err
    assert len(ran.json) == 3


def test_what_cannot_be_read_is_told_and_kept_only_where_that_is_said(
    svc: Svc, feeds: Path
) -> None:
    def remains() -> list[str]:
        rows = svc("feeds", "status", "--json").json
        return sorted(Path(row["location"]).name for row in rows)

    ran = svc("feeds", "add", feeds / "notes.txt")
    assert (ran.code, "No format fits" in ran.out, remains()) == (1, True, [])
    sources = svc("feeds", "add", feeds, "--json")
    assert sources.code == 1
    report = {Path(row["location"]).name: row["kept"] for row in sources.json}
    assert report == {"first.xml": True, "notes.txt": False, "second.xml": True}
    assert remains() == ["first.xml", "second.xml"]
    assert svc("feeds", "add", feeds / "notes.txt", "--keep").code == 1
    # What was there before is not forgotten because it fails once.
    assert svc("feeds", "add", feeds).code == 1
    assert remains() == ["first.xml", "notes.txt", "second.xml"]
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
    (deletion,) = svc("feeds", "remove", first["id"], first["id"], "--json").json
    assert deletion == {name: first[name] for name in ("id", "name", "location")} | {
        "removed": True,
        "itemsKept": True,
        "deleted": 0,
        "updated": 0,
    }
    assert len(svc("feeds", "status", "--json").json) == 2
    assert svc("changes", "list", "--type", "newsItem", "--json").json == before
    assert len(svc("feeds", "pull", "--all", "--json").json) == 2
    (again,) = svc("feeds", "add", feeds / "first.xml", "--json").json
    assert (again["id"], again["health"]["status"]) == (first["id"], "ok")


def test_a_folder_adds_its_files_and_nothing_of_the_service(
    svc: Svc, feeds: Path, cwd: Path
) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    (cwd / "none").mkdir()
    assert svc("feeds", "add", "none", "--json").json == []
    with socket.socket(socket.AF_UNIX) as beside:
        beside.bind("here.sock")  # by its short name: a path of a socket has about 100 bytes
        sources = svc("feeds", "add", ".", "--json").json
    matches = sorted(Path(row["location"]).relative_to(cwd).as_posix() for row in sources)
    assert matches == ["feeds/first.xml", "feeds/notes.txt", "feeds/second.xml"]


def test_refused_rows_are_told_with_their_reason(svc: Svc, cwd: Path) -> None:
    items = "<item><title>Port</title><guid>1</guid></item><item/>"
    (cwd / "half.xml").write_text(f"<rss version='2.0'><channel>{items}</channel></rss>")
    for report in (svc("feeds", "add", "half.xml").out, svc("feeds", "status").out):
        assert "partial" in report
        assert "1 no title text or link" in report
        assert "noTitle" not in report


# -- every format ------------------------------------------------------------------------------


def kev(*numbers: int, date: str = "2026-01-02") -> str:
    """A catalogue of these vulnerabilities."""
    rows = [
        {"cveID": f"CVE-2024-{number:04}", "dateAdded": "2024-03-01", "vulnerabilityName": "A flaw"}
        for number in numbers
    ]
    stamp = f"{date}T00:00:00.000Z"
    report = {"title": "KEV", "catalogVersion": "1", "dateReleased": stamp, "count": len(rows)}
    return json.dumps({**report, "vulnerabilities": rows})


RUN = {"created": 0, "updated": 0, "unchanged": 0, "deleted": 0, "rejected": 0}


def test_a_catalogue_that_shrank_is_taken_only_by_force(svc: Svc, cwd: Path) -> None:
    (cwd / "k.json").write_text(kev(*range(1, 11)))
    (row,) = svc("sources", "add", "k.json", "--json").json
    private_members = {"digest", "deltas", "stamp", "etag", "lastModified", "everySeconds"}
    assert private_members.isdisjoint(row)
    (cwd / "k.json").write_text(kev(1, 2, date="2026-01-03"))
    ran = svc("sources", "pull", row["id"], "--json")
    health = ran.json[0]["health"]
    assert (ran.code, health["error"]["code"]) == (1, "shrunk")
    assert "--force" in health["resolution"]
    forced = svc("sources", "pull", row["id"], "--force", "--json").json[0]["lastRun"]
    assert (forced["deleted"], forced["unchanged"]) == (8, 2)


FAILURE = [
    (kev(1, 2)[:-9], "truncated"),
    (kev(1, 2).replace('"count": 2', '"count": 3'), "wrongCount"),
    (FEED.format(title="a", items=""), "anotherFormat"),
    ("", "empty"),
]


@pytest.mark.parametrize(("document", "code"), FAILURE)
def test_a_broken_document_changes_nothing_and_says_why(
    svc: Svc, cwd: Path, document: str, code: str
) -> None:
    (cwd / "k.json").write_text(kev(1, 2, 3))
    (row,) = svc("sources", "add", "k.json", "--json").json
    (cwd / "k.json").write_text(document)
    ran = svc("sources", "add", "k.json", "--json")
    (failure,) = ran.json
    assert (ran.code, failure["kept"], failure["lastRun"]) == (1, True, RUN)
    health = failure["health"]
    assert (health["status"], health["error"]["code"]) == ("error", code)
    assert health["resolution"]
    (cwd / "k.json").write_text(kev(1, 2, 3))
    svc("sources", "reset", row["id"])
    assert svc("sources", "pull", row["id"], "--json").json[0]["lastRun"]["unchanged"] == 3


def test_a_disabled_source_is_kept_and_not_read(svc: Svc, feeds: Path) -> None:
    (row,) = svc("sources", "add", feeds / "first.xml", "--json").json
    (off,) = svc("sources", "disable", row["id"], "--json").json
    assert (off["health"]["status"], off["health"]["nextAttemptAt"]) == ("disabled", None)
    assert svc("sources", "pull", "--all", "--json").json == []
    ran = svc("sources", "pull", row["id"])
    assert (ran.code, f"svc sources enable {row['id']}" in ran.err) == (1, True)
    assert svc("sources", "add", feeds / "first.xml", "--json").json[0]["health"] == off["health"]
    assert svc("sources", "enable", row["id"], "--json").json[0]["health"]["status"] == "ok"
    assert len(svc("sources", "pull", "--all", "--json").json) == 1
    assert svc("sources", "reset", row["id"], NO_SOURCE).code == 1


def test_what_only_one_source_brought_goes_with_it(svc: Svc, cwd: Path) -> None:
    svc("workspaces", "create", "--name", "acme")
    for name, days in (("a", (1, 2)), ("b", (2, 3))):
        items = "".join(ITEM.format(n=n) for n in days)
        (cwd / f"{name}.xml").write_text(FEED.format(title=name, items=items))
    first, second = svc("sources", "add", "a.xml", "b.xml", "--json").json
    (deletion,) = svc("sources", "remove", first["id"], "--withdraw", "--json").json
    assert (deletion["itemsKept"], deletion["deleted"]) == (False, 1)
    changes = svc("changes", "list", "--type", "newsItem", "--json").json
    assert sum(row["changeType"] == "deleted" for row in changes["data"]) == 1
    # A second time there is nothing left of it; the other one takes the rest.
    assert svc("sources", "remove", first["id"], "--withdraw").code == 1
    (rest,) = svc("sources", "remove", second["id"], "--withdraw", "--json").json
    assert rest["deleted"] == 2
    (again,) = svc("sources", "add", "a.xml", "--json").json
    assert again["lastRun"] == RUN | {"created": 2}


def test_options_are_kept_until_they_are_taken_back(svc: Svc, feeds: Path) -> None:
    first = (feeds / "first.xml", "--json")
    (row,) = svc("sources", "add", *first, "--country", "FR", "--option", "tier=2").json
    assert (row["options"], row["countryCode"]) == ({"country": "FR", "tier": "2"}, "FR")
    (row,) = svc("sources", "add", *first, "--option", "tier=").json
    assert row["options"] == {"country": "FR"}
    ran = svc("sources", "add", *first, "--option", "series=GDP")
    assert (ran.code, "rss takes no series" in ran.err) == (1, True)


# -- what is offered ---------------------------------------------------------------------------


def test_formats_and_presets_are_listed_and_read_nothing(svc: Svc, cwd: Path) -> None:
    formats = {row["id"]: row for row in svc("sources", "formats", "--json").json}
    assert formats["kev"]["kind"] == "snapshot"
    assert formats["rss"]["surfaces"][0] == "/news"
    assert "timezone" in formats["rss"]["options"]
    presets = svc("sources", "presets", "--json").json
    assert not (cwd / "svc.db").exists()
    assert all(row["sourceId"] is None for row in presets)
    (item,) = svc("sources", "presets", "cisa-kev", "--json").json
    assert (item["format"], item["license"]) == ("kev", "CC0-1.0")
    assert svc("sources", "presets", "nobody").code == 1


def test_a_preset_is_added_by_its_name(svc: Svc) -> None:
    (row,) = svc("sources", "presets", "--add", "fed-press", "--no-pull", "--json").json
    (source,) = svc("sources", "status", "--json").json
    assert (row["sourceId"], row["status"]) == (source["id"], "neverRun")
    assert (source["name"], source["format"], source["topics"], source["options"]) == (
        "Federal Reserve press releases", "rss", ["central-banks"], {"country": "US"},
    )  # fmt: skip


OPML = """<opml version="2.0"><head/><body><outline text="Shipping">
<outline text="First &amp; best" xmlUrl="{0}/first.xml"/></outline>
<outline text="Second" xmlUrl="file://{0}/second.xml" category="/ai"/>
<outline text="Gone" xmlUrl="{0}/none.xml"/><outline text="a note"/></body></opml>"""


def test_a_list_of_feeds_comes_in_once(svc: Svc, feeds: Path, cwd: Path) -> None:
    (cwd / "list.opml").write_text(OPML.format(feeds))
    refusal = svc("sources", "import", "list.opml")
    assert (refusal.code, "--local" in refusal.err) == (1, True), refusal.err
    ran = svc("sources", "import", "list.opml", "--local", "--pull", "--json")
    assert (ran.code, [row["status"] for row in ran.json]) == (0, ["added", "added", "refused"])
    assert [row["topics"] for row in ran.json] == [["shipping"], ["ai"], []]
    sources = svc("sources", "status", "--json").json
    assert [(row["name"], row["lastRun"]["created"]) for row in sources] == [
        ("First & best", 3), ("Second", 3),
    ]  # fmt: skip
    again = svc("sources", "import", "list.opml", "--local", "--json").json
    assert [row["status"] for row in again] == ["known", "known", "refused"]
    assert [row["health"]["status"] for row in svc("sources", "list", "--json").json] == [
        "ok",
        "ok",
    ]
    hint = svc("sources", "add", "list.opml")
    assert (hint.code, "svc sources import" in hint.out) == (1, True)


NO_LISTS = [
    ("nowhere.opml", "There is no file"),
    ("feeds/first.xml", "its root element is not <opml>"),
    ("empty.opml", "the list has no feed that can be read"),
    ("bomb.opml", "declares XML entities"),
]


@pytest.mark.usefixtures("feeds")
def test_what_is_no_list_of_feeds_is_refused(svc: Svc, cwd: Path) -> None:
    (cwd / "empty.opml").write_text("<opml><body><outline text='x'/></body></opml>")
    (cwd / "bomb.opml").write_text('<!DOCTYPE opml [<!ENTITY a "b">]><opml/>')
    for name, words in NO_LISTS:
        ran = svc("sources", "import", name)
        assert (ran.code, words in ran.err) == (1, True), name


def test_a_list_from_elsewhere_names_no_files(svc: Svc, feeds: Path) -> None:
    class Lists(Publisher):
        def do_GET(self) -> None:
            body = OPML.format(feeds).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Lists) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        ran = svc(
            "sources", "import", f"http://127.0.0.1:{server.server_port}/list.opml", "--local"
        )
        server.shutdown()
        thread.join()
    assert (ran.code, "web addresses only" in ran.err) == (1, True), ran.err
    assert svc("sources", "status", "--json").json == []

"""The commands over a store that they open themselves."""

import json
import re
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from svc_core.access.scopes import SCOPES
from svc_http.cli import doctor as doctor_module
from svc_http.cli import tail

EIGHT = ["type", "title", "status", "detail", "instance", "code", "requestId", "resolution"]
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title>
<link>https://news.example/</link>{items}</channel></rss>"""
ITEM = """<item><guid>{n}</guid><title>Port strike in Antwerp enters day {n}</title>
<description>Dockworkers at the port of Antwerp stopped work for day {n}, and {n} ships wait.
</description><link>https://news.example/{n}</link>
<pubDate>Fri, 0{n} May 2026 10:00:00 GMT</pubDate></item>"""

Svc = Callable[..., Any]


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


@pytest.fixture
def workspace(svc: Svc) -> str:
    made: dict[str, str] = svc("workspaces", "create", "--name", "acme", "--json").json
    return made["id"]


# -- keys --------------------------------------------------------------------------------------


def test_the_first_key_brings_a_workspace_with_it(svc: Svc) -> None:
    ran = svc("keys", "create", "--name", "first", "--json")
    made = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert list(made) == ["id", "name", "key", "prefix", "scopes", "workspaceId", "expiresAt"]
    assert re.fullmatch("svc_[0-9a-f]{64}", made["key"])
    assert made["key"].startswith(made["prefix"])
    assert made["scopes"] == list(SCOPES)
    assert made["expiresAt"] is None
    (home,) = svc("workspaces", "list", "--json").json
    assert (home["id"], home["name"], home["plan"]) == (made["workspaceId"], "default", "elite")
    assert svc("keys", "create", "--name", "next", "--json").json["workspaceId"] == home["id"]


def test_a_key_is_what_was_asked_for(svc: Svc, workspace: str) -> None:
    made = svc(
        "keys", "create", "--name", "ci", "--workspace", "acme", "--scope", "news:read",
        "--scope", "osint:read", "--address", "192.0.2.7", "--expires", "2099-01-02T03:04:05Z",
        "--per-minute", 5, "--per-day", 50, "--json",
    ).json  # fmt: skip
    shown = svc("keys", "show", made["id"], "--json").json
    assert made["workspaceId"] == workspace
    assert made["expiresAt"] == "2099-01-02T03:04:05Z"
    assert shown["scopes"] == ["news:read", "osint:read"]
    assert shown["addresses"] == ["192.0.2.7"]
    assert (shown["perMinute"], shown["perDay"]) == (5, 50)
    assert (shown["status"], shown["plan"]) == ("active", "elite")
    assert made["key"] not in json.dumps(shown)


def test_a_lifetime_is_counted_from_now(svc: Svc) -> None:
    made = svc("keys", "create", "--name", "a", "--expires", "24h", "--json").json
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["expiresAt"])


def test_a_plan_finds_or_makes_a_workspace_on_it(svc: Svc, workspace: str) -> None:
    same = svc("keys", "create", "--name", "a", "--plan", "elite", "--json").json
    assert same["workspaceId"] == workspace
    pro = svc("keys", "create", "--name", "b", "--plan", "pro", "--json").json
    again = svc("keys", "create", "--name", "c", "--plan", "pro", "--json").json
    assert pro["workspaceId"] == again["workspaceId"] != workspace
    assert svc("keys", "show", pro["id"], "--json").json["plan"] == "pro"
    moved = svc("keys", "create", "--name", "d", "--workspace", "acme", "--plan", "pro")
    assert moved.code == 1
    assert f"svc plans set {workspace} pro" in moved.err


def test_a_personal_key_has_a_person_and_no_workspace(svc: Svc) -> None:
    made = svc("keys", "create", "--name", "mine", "--personal", "--json").json
    assert made["workspaceId"] is None
    (person,) = svc("users", "list", "--json").json
    assert svc("keys", "show", made["id"], "--json").json["userId"] == person["id"]
    other = svc(
        "keys", "create", "--name", "too", "--personal", "--user", person["id"], "--json"
    ).json
    assert len(svc("keys", "list", "--workspace", person["id"], "--json").json) == 2
    assert svc("keys", "list", "--json").json[0]["id"] == other["id"]
    mixed = svc("keys", "create", "--name", "x", "--personal", "--workspace", "acme")
    assert mixed.code == 1


def test_the_life_of_a_key(svc: Svc) -> None:
    made = svc("keys", "create", "--name", "a", "--json").json
    first = svc("keys", "revoke", made["id"], "--json").json
    assert first["status"] == "inactive"
    assert svc("keys", "revoke", made["id"], "--json").json == first
    renewed = svc("keys", "regenerate", made["id"], "--json").json
    assert renewed["id"] == made["id"]
    assert renewed["key"] != made["key"]
    assert svc("keys", "delete", made["id"], "--json").json["deleted"] is True
    gone = svc("keys", "show", made["id"], "--json")
    assert (gone.code, list(gone.json)) == (1, EIGHT)


def test_keys_of_old_outlive_a_move_to_lite_and_no_others_do(svc: Svc) -> None:
    old = svc("keys", "create", "--name", "old", "--json").json
    other = svc("keys", "create", "--name", "other", "--json").json
    kept = svc("keys", "grandfather", old["id"], "--json").json
    assert kept["grandfathered"] is True
    assert svc("keys", "grandfather", old["id"], "--json").json == kept
    assert svc("plans", "set", old["workspaceId"], "lite").code == 0
    assert svc("keys", "show", old["id"], "--json").json["status"] == "active"
    found = svc("keys", "show", other["id"], "--json").json
    assert (found["status"], found["grandfathered"]) == ("plan-ineligible", False)
    assert svc("keys", "create", "--name", "new", "--json").code == 1


def test_people_are_shown_what_programs_are_told(svc: Svc) -> None:
    assert "No keys yet" in svc("keys", "list", "--db", _made(svc)).out
    made = svc("keys", "create", "--name", "a")
    assert "not shown again" in made.out
    (key,) = svc("keys", "list", "--json").json
    assert key["id"] in svc("keys", "list").out
    assert "active" in svc("keys", "show", key["id"]).out
    assert "inactive" in svc("keys", "revoke", key["id"]).out
    assert "svc_" in svc("keys", "regenerate", key["id"]).out
    assert svc("keys", "delete", key["id"]).out == f"Deleted {key['id']} (a).\n"


def _made(svc: Svc) -> str:
    """A database without anything in it."""
    assert svc("db", "migrate", "--db", "empty.db").code == 0
    return "empty.db"


# -- workspaces, people, plans -----------------------------------------------------------------


def test_workspaces_people_and_plans(svc: Svc) -> None:
    ann = svc("users", "create", "--name", "Ann", "--email", "ann@example.org", "--json").json
    made = svc("workspaces", "create", "--name", "acme", "--plan", "pro", "--owner", ann["id"],
               "--json").json  # fmt: skip
    assert list(made) == ["id", "name", "plan"]
    moved = svc("plans", "set", made["id"], "lite", "--json").json
    assert moved == made | {"plan": "lite"}
    assert svc("plans", "set", "acme", "gold").code == 1
    assert "lite" in svc("plans", "set", "acme", "lite").out
    assert made["id"] in svc("workspaces", "list").out
    assert "ann@example.org" in svc("users", "list").out
    assert "Bob" in svc("users", "create", "--name", "Bob").out
    assert [plan["name"] for plan in svc("plans", "show", "--json").json] == [
        "free", "lite", "pro", "elite",
    ]  # fmt: skip
    assert "elite" in svc("plans", "show").out


def test_several_workspaces_must_be_told_apart(svc: Svc, workspace: str) -> None:
    svc("workspaces", "create", "--name", "other")
    ran = svc("keys", "create", "--name", "a")
    assert ran.code == 1
    assert workspace in ran.err
    assert svc("keys", "create", "--name", "a", "--workspace", "other").code == 0
    svc("workspaces", "create", "--name", "other")
    assert svc("keys", "list", "--workspace", "other").code == 1
    unknown = svc("keys", "list", "--workspace", "nobody")
    assert "svc workspaces list" in unknown.err


def test_a_store_without_workspace_says_how_to_make_one(svc: Svc) -> None:
    svc("db", "migrate")
    ran = svc("profiles", "list")
    assert ran.code == 1
    assert "svc workspaces create" in ran.err
    assert "No workspaces yet" in svc("workspaces", "list").out
    assert "Nobody yet" in svc("users", "list").out


# -- feeds -------------------------------------------------------------------------------------


def test_a_folder_of_feeds_is_taken_in_and_said_to_be_well(svc: Svc, feeds: Path) -> None:
    added = svc("feeds", "add", "feeds", "--topic", "shipping", "--every", 60, "--json").json
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
    status = {one["id"]: one["health"]["status"] for one in svc("feeds", "status", "--json").json}
    assert sorted(status.values()) == ["error", "ok", "ok"]
    assert svc("feeds", "pull", added[0]["id"], "--json").json["sources"] == 1
    for ran in (svc("feeds", "status"), svc("feeds", "pull", "--all"), svc("feeds", "add", feeds)):
        assert ran.code == 0
        assert "notes.txt" in ran.out  # which has no name but its location


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
    assert len(Publisher.asked) == 2
    monkeypatch.delenv("SVC_ALLOW_PRIVATE_FETCH")
    monkeypatch.setenv("SVC_ENV", "production")
    monkeypatch.setenv("SVC_SECRET", "0123456789abcdef" * 4)
    assert svc("feeds", "pull", "--all", "--json").json["failed"] == 1
    assert len(Publisher.asked) == 2


def test_what_cannot_be_a_source_is_refused_before_any_is_added(svc: Svc, feeds: Path) -> None:
    for arguments, words in (
        (("nowhere.xml",), "There is no file"),
        ((feeds, "ftp://news.example/feed"), "Neither a web address nor a file"),
        ((feeds, "--name", "both"), "--name: is for one source"),
        ((feeds, "--topic", "gossip"), "topic"),
    ):
        ran = svc("feeds", "add", *arguments)
        assert ran.code == 1
        assert words in ran.err
    assert svc("feeds", "status", "--json").json == []
    assert "No sources yet" in svc("feeds", "status").out
    assert svc("feeds", "pull", "src_" + "0" * 24).code == 1


def test_progress_is_shown_at_a_terminal_and_nowhere_else(
    svc: Svc, feeds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("feeds", "add", feeds, "--json").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    ran = svc("feeds", "pull", "--all", "--json")
    assert "3/3" in ran.err
    assert ran.json["sources"] == 3


def test_feeds_of_which_none_can_be_read_are_added_and_told_to_have_failed(
    svc: Svc, feeds: Path
) -> None:
    for extra in ((), ("--json",)):
        assert svc("feeds", "add", feeds / "notes.txt", *extra).code == 1
    assert svc("feeds", "add", feeds / "notes.txt", "--no-pull").code == 0
    assert svc("feeds", "add", feeds).code == 0
    assert len(svc("feeds", "status", "--json").json) == 3


@pytest.mark.parametrize(
    ("every", "seconds"), [("60", 60), ("90s", 90), ("15m", 900), ("24h", 86_400), ("1w", 604_800)]
)
def test_one_spelling_of_spans_serves_all_options(
    svc: Svc, feeds: Path, every: str, seconds: int
) -> None:
    (added,) = svc("feeds", "add", feeds / "first.xml", "--every", every, "--json").json
    assert added["cadenceSeconds"] == seconds


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--every", "10s"), 1, "--every: must be at least 60"),
        (("--every", "2w"), 1, "--every: must be at most 604800"),
        (("--every", "soon"), 2, "--every: must be a span of time such as"),
        (("--every", "1.5h"), 2, "--every"),
        (("--every", "-60"), 2, "--every"),
    ],
)
def test_a_span_that_is_none_or_out_of_bounds_is_named(
    svc: Svc, feeds: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    ran = svc("feeds", "add", feeds / "first.xml", *arguments)
    assert (ran.code, ran.out, words in ran.err) == (code, "", True)


def test_a_moment_beyond_the_calendar_is_refused(svc: Svc) -> None:
    ran = svc("keys", "create", "--name", "a", "--expires", "999999w")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--expires: 999999w from now is beyond the year 9999" in ran.err


def test_a_removed_feed_is_read_no_more_and_its_items_stay(
    svc: Svc, feeds: Path, workspace: str
) -> None:
    first, _, second = svc("feeds", "add", feeds, "--json").json
    before = svc("changes", "list", "--type", "newsItem", "--json").json
    unknown = svc("feeds", "remove", first["id"], "src_" + "0" * 24)
    assert (unknown.code, "svc feeds status" in unknown.err) == (1, True)
    assert len(svc("feeds", "status", "--json").json) == 3
    assert svc("feeds", "remove", first["id"], first["id"], "--json").json == [
        {
            "id": first["id"],
            "name": "first",
            "location": first["location"],
            "removed": True,
            "itemsKept": True,
        }
    ]
    told = svc("feeds", "remove", second["id"]).out
    assert told == f"Removed {second['id']} (second).\nThe items that were taken in stay.\n"
    assert len(svc("feeds", "status", "--json").json) == 1
    assert svc("changes", "list", "--type", "newsItem", "--json").json == before
    assert svc("feeds", "pull", "--all", "--json").json["sources"] == 1
    (again,) = svc("feeds", "add", feeds / "first.xml", "--json").json
    assert (again["id"], again["health"]["status"]) == (first["id"], "ok")
    assert svc("feeds", "remove").code == 2


def test_the_folder_that_one_works_in_can_be_added(svc: Svc, feeds: Path, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    added = svc("feeds", "add", ".", "--json").json
    found = sorted(Path(one["location"]).relative_to(here).as_posix() for one in added)
    assert found == ["feeds/first.xml", "feeds/notes.txt", "feeds/second.xml"]


def test_an_empty_folder_adds_nothing(svc: Svc, here: Path) -> None:
    (here / "none").mkdir()
    assert "no source was added" in svc("feeds", "add", "none").out


# -- profiles and reports ----------------------------------------------------------------------


@pytest.fixture
def profile(svc: Svc, feeds: Path, workspace: str) -> str:
    """A profile about what the feeds say, with the feeds taken in."""
    svc("feeds", "add", feeds / "first.xml", feeds / "second.xml")
    made: dict[str, str] = svc(
        "profiles", "create", "--name", "Ports", "--topic", "Port strikes in Antwerp",
        "--keyword", "dockworkers", "--json",
    ).json  # fmt: skip
    return made["id"]


def test_the_life_of_a_profile(svc: Svc, workspace: str) -> None:
    made = svc(
        "profiles", "create", "--name", "Ports", "--topic", "Port strikes", "--frequency",
        "weekly", "--time", "07:30", "--day", 2, "--timezone", "Europe/Paris", "--language", "fr",
        "--workspace", "acme", "--json",
    ).json  # fmt: skip
    assert (made["scheduleDay"], made["timezone"], made["language"]) == (2, "Europe/Paris", "fr")
    assert svc("profiles", "show", made["id"], "--json").json == made
    (row,) = svc("profiles", "list", "--json").json
    assert row["subscription"]["status"] == "active"
    assert made["id"] in svc("profiles", "list").out
    assert "Port strikes" in svc("profiles", "show", made["id"]).out
    assert svc("profiles", "delete", made["id"], "--json").json["deleted"] is True
    assert svc("profiles", "delete", made["id"]).code == 1
    assert "No profiles yet" in svc("profiles", "list").out
    again = svc("profiles", "create", "--name", "Ports", "--topic", "Port strikes")
    (row,) = svc("profiles", "list", "--json").json
    assert row["id"] in again.out
    assert svc("profiles", "delete", row["id"]).out == f"Deleted {row['id']}.\n"


def test_a_bad_profile_is_refused_with_every_fault(svc: Svc, workspace: str) -> None:
    ran = svc("profiles", "create", "--name", "", "--topic", "x", "--json")
    assert ran.code == 1
    assert "/profile/name" in ran.json["detail"]
    assert "/profile/topic" in ran.json["detail"]


def test_a_report_made_twice_is_the_same_report(svc: Svc, profile: str) -> None:
    first = svc("reports", "generate", profile, "--json")
    assert first.code == 0
    assert first.json["counts"]["sources"] > 0
    again = svc("reports", "generate", profile, "--json")
    assert (first.json["isNew"], again.json) == (True, first.json | {"isNew": False})
    assert len(svc("reports", "list", "--json").json) == 1


def test_whoever_asks_for_a_report_hears_that_there_is_nothing_new(svc: Svc, profile: str) -> None:
    first = svc("reports", "generate", profile).out
    assert "Nothing new" not in first
    assert "No item" not in first
    again = svc("reports", "generate", profile).out
    (row,) = svc("reports", "list", "--json").json
    assert f"Nothing new: this report was made {row['generatedAt']}" in again
    other = svc(
        "profiles", "create", "--name", "Tea", "--topic", "Tea harvests of Assam", "--json"
    ).json
    empty = svc("reports", "generate", other["id"]).out
    assert "No item of the period is about the profile's topic" in empty
    assert "Nothing new" not in empty


def test_a_report_of_a_period_tells_of_that_period(svc: Svc, profile: str) -> None:
    period = ("--start", "2026-05-01T00:00:00Z", "--end", "2026-05-04T00:00:00Z")
    first = svc("reports", "generate", profile, *period, "--json")
    assert first.json["period"] == {"start": "2026-05-01T00:00:00Z", "end": "2026-05-04T00:00:00Z"}
    again = svc("reports", "generate", profile, *period, "--json").json
    assert again == first.json | {"isNew": False}
    shown = svc("reports", "show", first.json["id"], "--json").json
    dates = [source["publishedAt"] for source in shown["sources"]]
    assert dates
    assert all("2026-05-01" <= date <= "2026-05-04" for date in dates)
    backwards = svc("reports", "generate", profile, "--start", period[3], "--end", period[1])
    assert (backwards.code, "--start" in backwards.err) == (1, True)


def test_a_report_is_shown_in_every_form(svc: Svc, profile: str) -> None:
    made = svc("reports", "generate", profile)
    (row,) = svc("reports", "list", "--profile", profile, "--json").json
    assert f"svc reports show {row['id']}" in made.out
    assert row["title"] in svc("reports", "list").out
    markdown = svc("reports", "show", row["id"]).out
    assert markdown.startswith("# ")
    assert "## Sources" in markdown
    text = svc("reports", "show", row["id"], "--format", "text").out
    assert text.startswith(row["title"])
    whole = svc("reports", "show", row["id"], "--format", "json").json
    assert whole["content"]["markdown"].rstrip("\n") == markdown.rstrip("\n")
    assert svc("reports", "show", row["id"], "--json").json == whole
    worded = svc("reports", "show", row["id"], "--format", "md", "--json").json
    assert worded == {"id": row["id"], "format": "md", "text": whole["content"]["markdown"]}


def test_an_unknown_profile_is_a_problem(svc: Svc, workspace: str) -> None:
    for id_ in ("prf_" + "0" * 24, "nothing"):
        ran = svc("reports", "generate", id_, "--json")
        assert (ran.code, list(ran.json)) == (1, EIGHT)
        assert ran.err.startswith("svc: ")
    assert svc("reports", "show", "rpt_" + "0" * 24, "--workspace", "acme").code == 1
    assert "No reports yet" in svc("reports", "list").out


# -- the change feed ---------------------------------------------------------------------------


def test_the_feed_is_read_from_watermark_to_watermark(svc: Svc, profile: str) -> None:
    first = svc("changes", "list", "--limit", 2, "--json").json
    assert (len(first["data"]), first["more"]) == (2, True)
    rest = svc("changes", "list", "--after", first["watermark"], "--json").json
    assert rest["more"] is False
    head = svc("changes", "head", "--json").json
    assert rest["watermark"] == head["watermark"]
    assert svc("changes", "head").out == head["watermark"] + "\n"
    assert "Nothing has changed" in svc("changes", "list", "--after", head["watermark"]).out
    kinds = svc("changes", "list", "--type", "profile", "--json").json["data"]
    assert [row["resourceId"] for row in kinds] == [profile]
    assert svc("changes", "list", "--after", "w1.nonsense").code == 1
    assert svc("changes", "list", "--type", "gossip").code == 1


def test_the_tail_goes_on_where_it_ended(svc: Svc, profile: str, here: Path) -> None:
    first = _lines(svc("changes", "tail", "--state", "mark").out)
    head = svc("changes", "head", "--json").json["watermark"]
    assert (here / "mark").read_text().strip() == head
    assert len(first) == len(svc("changes", "list", "--json").json["data"])
    assert svc("changes", "tail", "--state", "mark").out == ""
    assert svc("changes", "tail", "--from", head).out == ""
    svc("profiles", "delete", profile)
    gone = _lines(svc("changes", "tail", "--state", "mark").out)
    assert {row["resourceType"] for row in gone} == {"profile", "subscription"}
    assert all(row["tombstone"] for row in gone)


def test_the_tail_hands_pages_on_and_keeps_none_that_was_not_taken(
    svc: Svc, profile: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "PAGE_ROWS", 3)
    failed = svc("changes", "tail", "--state", "mark", "--exec", "exit 7")
    assert (failed.code, "failed with 7" in failed.err) == (1, True)
    assert not (here / "mark").exists()
    assert svc("changes", "tail", "--state", "mark", "--exec", "cat >> taken").code == 0
    assert _lines((here / "taken").read_text()) == _lines(svc("changes", "tail").out)
    assert svc("changes", "tail", "--state", "mark", "--exec", "cat >> taken").code == 0


@pytest.mark.usefixtures("profile")
def test_no_page_is_handed_on_whose_position_cannot_be_kept(svc: Svc, here: Path) -> None:
    refused = svc("changes", "tail", "--state", "no/such/folder", "--exec", "touch taken")
    assert refused.code == 2
    assert refused.err.startswith("svc: the position cannot be kept in no/such/folder: ")
    assert not (here / "taken").exists()
    (here / "folder").mkdir()
    lost = svc("changes", "tail", "--state", "folder/mark", "--exec", "rmdir folder")
    assert lost.code == 2
    assert lost.err.startswith("svc: the position cannot be kept in folder/mark: ")


def test_the_tail_waits_for_more(svc: Svc, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tail.time, "sleep", wait)
    ran = svc("changes", "tail", "--follow")
    assert (ran.code, bool(ran.out)) == (130, True)


def _lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_persons_own_feed_is_named_by_their_id(svc: Svc) -> None:
    svc("keys", "create", "--name", "mine", "--personal")
    (person,) = svc("users", "list", "--json").json
    assert (
        svc("changes", "head", "--workspace", person["id"], "--json").json["workspaceId"]
        == (person["id"])
    )
    assert svc("changes", "head", "--workspace", "usr_" + "0" * 24).code == 1


# -- finding the store -------------------------------------------------------------------------


def test_a_store_is_made_by_what_founds_one_and_by_nothing_else(svc: Svc, here: Path) -> None:
    ran = svc("keys", "list")
    assert (ran.code, "svc keys create" in ran.err) == (1, True)
    assert list(here.iterdir()) == []
    assert svc("keys", "create", "--name", "a", "--db", "other.db").code == 0
    assert not (here / "svc.db").exists()
    assert len(svc("keys", "list", "--db", "other.db", "--json").json) == 1


def test_the_store_is_found_by_flag_environment_and_file(
    svc: Svc, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("keys", "create", "--name", "in the file's", "--db", "file.db")
    svc("keys", "create", "--name", "in the environment's", "--db", "environment.db")
    svc("keys", "create", "--name", "in the flag's", "--db", "flag.db")
    (here / "svc.toml").write_text('db = "file.db"\n')
    assert _names(svc("keys", "list", "--json").json) == ["in the file's"]
    (here / "other.toml").write_text('db = "environment.db"\n')
    found = svc("keys", "list", "--config", "other.toml", "--json").json
    assert _names(found) == ["in the environment's"]
    monkeypatch.setenv("SVC_DB", "environment.db")
    assert _names(svc("keys", "list", "--json").json) == ["in the environment's"]
    assert _names(svc("keys", "list", "--db", "flag.db", "--json").json) == ["in the flag's"]


def _names(keys: Any) -> list[str]:
    return [key["name"] for key in keys]


UNUSABLE = [
    (("keys", "list", "--server", "unix:/nowhere/svc.sock"), 3, "no server answers"),
    (("keys", "list", "--server", "http://127.0.0.1:8000"), 2, "unix:PATH"),
    (("keys", "list", "--db", ":memory:"), 2, "--db"),
    (("keys", "create", "--name", "a", "--db", "no/such/folder.db"), 1, "no folder"),
    (("keys", "list", "--config", "missing.toml"), 2, "missing.toml"),
    (("keys", "list", "--db", "text.db"), 1, "cannot be used"),
    (("keys", "list", "--db", "folder.db"), 1, "cannot be used"),
    (("keys", "create", "--name", "a", "--db", "locked.db"), 1, "cannot be opened"),
    (("keys", "create", "--name", "a", "--expires", "soon"), 2, "--expires"),
    (("keys", "create"), 2, "--name"),
    (("keys", "creat"), 2, 'Did you mean "create"?'),
    (("db", "status", "--server", "unix:/nowhere/svc.sock"), 2, "--db"),
    (("db", "migrate", "--db", "no/such/folder.db"), 1, "no folder"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), UNUSABLE)
def test_what_cannot_be_done_is_told_in_one_line(
    svc: Svc, here: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (here / "text.db").write_text("This is no database.\n" * 100)
    (here / "folder.db").mkdir()
    (here / "locked.db.lock").mkdir()
    ran = svc(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    assert list(here.glob("*.secret")) == []


@pytest.mark.parametrize(("db", "hint"), [("svc.db", ""), ("my new.db", " --db 'my new.db'")])
def test_where_nothing_is_the_line_that_makes_it_makes_it_there(
    svc: Svc, here: Path, db: str, hint: str
) -> None:
    ran = svc("keys", "list", "--db", db)
    assert ran.err.endswith(f"svc keys create --name NAME{hint}\n")
    made = shlex.split(ran.err.partition("make one: svc ")[2])
    assert svc(*made).code == 0
    assert svc("keys", "list", "--db", db).code == 0


def test_production_commands_need_the_secret_too(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_ENV", "production")
    ran = svc("keys", "create", "--name", "a")
    assert (ran.code, "SVC_SECRET=" in ran.err) == (2, True)


# -- the file, the document, the doctor --------------------------------------------------------


def test_a_database_is_migrated_once(svc: Svc) -> None:
    missing = svc("db", "status", "--json").json
    assert (missing["exists"], missing["applied"]) == (False, [])
    assert missing["pending"]
    dry = svc("db", "migrate", "--dry-run", "--json")
    assert (dry.code, dry.json["steps"]) == (1, missing["pending"])
    assert svc("db", "migrate", "--json").json["steps"] == missing["pending"]
    assert svc("db", "migrate").out.endswith("0 steps.\n")
    assert svc("db", "migrate", "--dry-run").code == 0
    assert svc("db", "status", "--json").json["pending"] == []
    assert "pending  none" in svc("db", "status").out


def test_the_documents_are_printed(svc: Svc) -> None:
    spec = svc("openapi").json
    flat = svc("openapi", "--flat", "--json").json
    assert spec["openapi"] == flat["openapi"] == "3.1.0"
    assert "/reports" in spec["paths"]
    assert "/api/v1/reports" in flat["paths"]
    assert list(svc("version", "--json").json) == ["version", "python", "sqlite"]
    assert svc("version").out.startswith("svc ")
    assert svc("--version").out.startswith("svc ")


def test_a_healthy_place_passes_the_doctor(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_PORT", "0")  # any that is free
    first = svc("doctor", "--json")
    assert (first.code, first.json["ok"]) == (0, True)
    svc("db", "migrate")
    checks = {check["name"]: check["ok"] for check in svc("doctor", "--json").json["checks"]}
    assert checks["database"] is checks["migrations"] is True
    assert "note" in svc("doctor").out


def test_a_lacking_machine_is_named_with_its_cure(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_module, "EXTRAS", {"server": ("no_such_module",)})
    monkeypatch.setattr(doctor_module, "has_wal_reset_fault", lambda: False)
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["sqlite"]["ok"] is True
    assert checks["extra server"]["ok"] is False
    assert "pip install 'svc[server]'" in checks["extra server"]["detail"]
    monkeypatch.setenv("SVC_DB", ":memory:")
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["database"]["ok"] is None


SICK = [
    ({"SVC_PORT": "none"}, "settings"),
    ({"SVC_DB": "no/such/folder.db"}, "database"),
    ({"SVC_DB": "text.db"}, "database"),
    ({"SVC_HOST": "192.0.2.1"}, "port 8000 on 192.0.2.1"),
]


@pytest.mark.parametrize(("environ", "name"), SICK)
def test_the_doctor_finds_what_is_wrong(
    svc: Svc, here: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], name: str
) -> None:
    (here / "text.db").write_text("This is no database.\n" * 100)
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)
    ran = svc("doctor", "--json")
    checks = {check["name"]: check["ok"] for check in ran.json["checks"]}
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert checks[name] is False
    assert "BAD" in svc("doctor").out

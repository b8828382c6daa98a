"""What is typed reaches the operation as it was meant, or is refused by the name of its flag."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

Svc = Callable[..., Any]

ITEM = """<item><title>Crane {0} falls\x85</title><link>https://a.example/{0}</link>
<description>A crane fell.</description><pubDate>Sun, 0{1} Mar 2026 10:00:00 GMT</pubDate></item>"""


@pytest.fixture(scope="module")
def base_store(
    tmp_path_factory: pytest.TempPathFactory, svc_in: Callable[..., Any]
) -> tuple[Path, dict[str, str]]:
    """A store with 130 news items, a profile, its subscription and a report, which is only read."""
    place = tmp_path_factory.mktemp("values")
    svc = partial(svc_in, cwd=place)
    items = "".join(ITEM.format(number, number % 2 + 1) for number in range(130))
    feed = f'<rss version="2.0"><channel><title>T</title>{items}</channel></rss>'
    (place / "feed.xml").write_text(feed, "utf-8")
    svc("keys", "create", "--name", "a")
    svc("feeds", "add", "feed.xml")
    line = ("--name", "Cranes", "--topic", "cranes \x1b[31m", "--frequency", "manual")
    profile = svc("profiles", "create", *line, "--json").json["id"]
    report = svc("reports", "generate", profile, "--json").json["id"]
    subscription = svc("subscriptions", "list", "--json").json[0]["id"]
    return place, {"P": profile, "S": subscription, "R": report}


@pytest.fixture
def store(
    base_store: tuple[Path, dict[str, str]], cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """What stands in the store of this folder, by short names."""
    place, names = base_store
    monkeypatch.chdir(place)
    return names


REFUSAL = [
    ("keys create --name b --per-day 1.9", "--per-day: must be a whole number"),
    ("keys create --name b --per-day 0x2", "--per-day: must be a whole number"),
    ("keys create --name b --expires soon", "--expires: "),
    ("profiles list --limit 1.6", "--limit: must be a whole number"),
    ("profiles update P --day 1.5", "--day: must be a whole number"),
    ("profiles update P --clear keyword --keyword a", "--keyword: "),
    ("reports generate P --start 24h", "--start: "),
    *(
        (f"subscriptions update S --delivery-min-signal-confidence {number}", "must be a number")
        for number in ("nan", "inf", "-inf")
    ),
]


def test_a_value_of_the_wrong_kind_is_a_misuse_that_names_its_flag(
    svc: Svc, store: dict[str, str]
) -> None:
    for line, words in REFUSAL:
        ran = svc(*(store.get(word, word) for word in line.split()))
        assert (ran.code, ran.out, words in ran.err) == (2, "", True), line


def test_a_filter_on_time_leaves_out_what_it_leaves_out_over_http(
    svc: Svc, store: dict[str, str]
) -> None:
    since = "2026-03-02T00:00:00Z"
    later = svc("news", "list", "--datetime", f"{since}/..", "--limit", "130", "--json").json

    assert len(later) == 65
    assert all(row["publishedAt"] >= since for row in later)
    assert svc("news", "list", "--datetime", "2999-01-01T00:00:00Z", "--json").json == []


@pytest.mark.parametrize("format_", ["json", "ndjson"])
def test_a_listing_goes_on_to_its_limit_in_every_representation(
    svc: Svc, store: dict[str, str], format_: str
) -> None:
    out = svc("news", "list", "--limit", "119", "--format", format_).out
    rows = json.loads(out) if format_ == "json" else [json.loads(row) for row in out.splitlines()]

    assert len({row["id"] for row in rows}) == 119


def test_the_feed_is_listed_to_its_limit_and_says_where_to_go_on(
    svc: Svc, store: dict[str, str]
) -> None:
    first = svc("changes", "list", "--limit", "120", "--json").json
    rest = svc("changes", "list", "--after", first["watermark"], "--limit", "900", "--json").json

    assert (len(first["data"]), first["more"], rest["more"]) == (120, True, False)
    assert not {row["id"] for row in first["data"]} & {row["id"] for row in rest["data"]}


def test_what_is_asked_for_is_shown_to_people_too(svc: Svc, store: dict[str, str]) -> None:
    assert "Crane" in svc("reports", "show", store["R"]).out
    assert svc("reports", "show", store["R"], "--include", "sources").out.startswith("id ")
    expansions = svc("reports", "show", store["R"], "--include", "sources", "--format", "markdown")
    assert expansions.out == svc("reports", "show", store["R"], "--format", "markdown").out
    view = svc("reports", "show", store["R"], "--include", "sources", "--view", "agent")
    assert (view.code, view.err[:15]) == (1, "svc: --include:")


def test_no_control_character_reaches_a_terminal(svc: Svc, store: dict[str, str]) -> None:
    for line in (("profiles", "show", store["P"]), ("news", "list"), ("profiles", "list")):
        out = svc(*line).out
        assert not set(out) & {*map(chr, range(32)), "\x7f", "\x85"} - {"\n"}
    assert svc("profiles", "show", store["P"], "--json").json["topic"] == "cranes \x1b[31m"


def test_json_goes_into_a_file_as_it_would_be_printed(svc: Svc, store: dict[str, str]) -> None:
    output = svc("reports", "show", store["R"], "--json").json
    svc("reports", "show", store["R"], "--format", "json", "--out", "report.json")

    assert json.loads(Path("report.json").read_text("utf-8")) == output

"""Texts that are written to break pages stay texts, wherever they are stored and shown."""

import csv
import io
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape

import pytest

from tests.http.dashboard.offices import Office, page_of
from tests.pages.document import Document
from tests.pages.hostile_texts import TEXTS

SHOWN = 60
"""Characters of a text that every page shows of it, even where it shortens it."""

FORMS = {
    "projects/new": {"name": "{}", "description": "{}"},
    "automations/new": {"name": "{}", "instructions": "{}"},
    "profiles/new": {"name": "{}", "topic": "News: {}", "keywords": "{}", "frequency": "manual"},
    "workspace/rename": {"name": "{}"},
    "keys/{key}/edit": {"name": "{}"},
    "webhooks/{webhook}/edit": {"description": "{}"},
}
"""The texts that people store, by the form that takes them."""

LISTINGS = 6
"""How often the lists are looked at, each time with as many more texts as a page holds."""

LISTS = ["projects", "automations", "profiles", "keys", "webhooks", "members", "audit", "workspace"]


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    office = Office()
    yield office
    office.close()


def check(answer: Any) -> Document:
    """The page of an answer, in which nothing has become an element or a field."""
    page = page_of(answer)
    broken = [each.tag for each in page.root.every() if "data-broken" in each.fields]
    assert [*page.root.every("svc-broken"), *broken] == []
    assert "49" not in {each.text for each in page.root.every()}, "a template ran"
    return page


def start_of(text: str) -> str:
    return " ".join(text.split())[:SHOWN]


@pytest.mark.parametrize("start", range(LISTINGS))
def test_a_text_stays_a_text(office, start) -> None:
    below = f"/dashboard/w/{office.home}"
    for text in TEXTS[start::LISTINGS]:
        store(office, below, text)
        check(office.get("owner", f"{below}/search/all?{urlencode({'q': text[:40]})}"))
    for tail in LISTS:
        check(office.get("owner", f"{below}/{tail}?limit=100"))


def store(office: Office, below: str, text: str) -> None:
    """Send a text with every form; the page that answers shows it, or gives it back."""
    ids = {"key": office.key_ids["a"], "webhook": office.world.rows["a"]["whk"][-1]}
    for tail, fields in FORMS.items():
        path = f"{below}/{tail.format(**ids)}"
        pairs = [(name, words.replace("{}", text)) for name, words in fields.items()]
        answer = office.post("owner", path, pairs)
        if answer.status_code == 303:
            answer = office.get("owner", answer.headers["location"])
        page = check(answer)
        if answer.status_code == 200:
            assert start_of(text) in page.root.text, (tail, text)
            continue
        assert answer.status_code == 400, (tail, text)
        controls = [*page.main.every("input"), *page.main.every("textarea")]
        values = [each.fields.get("value") or each.raw_text for each in controls]
        assert any(start_of(text) in start_of(each) for each in values), (tail, text)


def test_what_others_publish_stays_text(office) -> None:
    items = "".join(
        f"<item><title>Port {number} {escape(text[:500])}</title><guid>hostile-{number}</guid>"
        f"<link>{escape(text[:200])}</link><description>{escape(text)} closed the port."
        "</description><pubDate>Wed, 04 Mar 2026 05:00:00 GMT</pubDate></item>"
        for number, text in enumerate(TEXTS)
    )
    body = f'<rss version="2.0"><channel><title>{escape(TEXTS[0])}</title>{items}</channel></rss>'
    office.world._take("https://feeds.example.org/hostile.xml", TEXTS[1], body.encode())
    below = f"/dashboard/w/{office.home}"
    rows = office.get("owner", f"{below}/news?limit=100&_as=json").json()["data"]
    hostile = [row for row in rows if row["title"].startswith("Port ")]
    assert len(hostile) >= len(TEXTS) - 5
    check(office.get("owner", f"{below}/news?limit=100"))
    for row in hostile:
        page = check(office.get("owner", f"{below}/news/{row['id']}"))
        assert start_of(row["title"]) in page.root.text


def test_no_cell_of_an_export_is_a_formula(office) -> None:
    below = f"/dashboard/w/{office.home}"
    for text in TEXTS:
        office.post("owner", f"{below}/projects/new", [("name", text)])
    answer = office.get("owner", f"{below}/projects?_as=csv&limit=100")
    cells = [cell for line in csv.reader(io.StringIO(answer.text)) for cell in line]
    assert {"'-2+3", "'@SUM(A1:A9)"} <= {*cells}
    assert [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"}] == []

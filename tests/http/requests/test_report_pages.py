"""The page of a report: with a key, and at an address that ends (Spec: Report; D16, D19)."""

import re
from datetime import timedelta

import attrs
import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.creation import KeyWish
from svc_core.base import passes
from svc_core.contract import problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.reports import addresses
from svc_core.reports.addresses import Opening
from svc_core.reports.audio import AUDIO, Audio, Recording
from svc_core.reports.model import REPORTS
from svc_core.reports.operations import MEDIA_PATH
from svc_http.stores import MemoryStorage
from tests.pages.reading import Page
from tests.pages.reports import ID, LONG, TITLE, hostile, put

API = f"/api/v1/reports/{ID}"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Desk:
    """A service with one report of hostile words, and a key of its workspace."""

    def __init__(self, house):
        self.house, self.runtime = house, house.service.runtime
        table = plans.DEFAULT_PLANS
        self.workspace = house.system(
            lambda ctx: accounts.create_workspace(ctx, name="W", plan="elite", plans=table)
        )
        wish = KeyWish(name="k", scopes=("reports:read",), workspace_id=self.workspace.id)
        self.key = house.system(lambda ctx: accounts.create_key(ctx, wish, plans=table)).secret
        self.write(lambda ctx: put(ctx, *hostile(house.clock())))

    def write(self, work):
        async def unit(tx):
            actor = Actor(self.workspace.id)
            return await work(Context(self.house.clock(), self.house.ids, actor, "t", None, tx=tx))

        return self.house.run(self.house.storage.write(self.workspace.id, unit))

    def read(self, **headers):
        return self.house.ask("GET", API, self.key, headers={"Accept": "text/html", **headers})

    def address(self, **changes):
        ends = self.house.clock() + timedelta(hours=1)
        opening = attrs.evolve(Opening(self.workspace.id, ID, ends), **changes)
        return f"/reports/{addresses.seal_report_link(self.runtime.keyring, opening, bytes(12))}"

    def open(self, path, method="GET", accept=FIREFOX, **headers):
        headers = {"Accept": accept, **headers}
        return self.house.ask(method, path, headers=headers)


@pytest.fixture
def desk(make_house):
    parts = {"operations": catalog.OPERATIONS, "storage": MemoryStorage(catalog.COLLECTIONS)}
    return Desk(make_house(parts=parts))


def speak(desk):
    recording = Recording("ab" * 32 + ".mp3", "audio/mpeg", 1_000, "ab" * 32, 185.4)
    audio = Audio("aud_" + "7" * 24, ID, recording, "espeak-ng en", desk.house.clock())
    desk.write(lambda ctx: ctx.save(AUDIO, ID, audio))


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("text/html", "text/html; charset=utf-8"),
        (FIREFOX, "text/html; charset=utf-8"),
        ("text/html;q=0.4, application/json;q=0.5", "application/json"),
        ("text/html;q=0.5, text/markdown;q=0.4", "text/html; charset=utf-8"),
        ("text/*", "text/markdown; charset=utf-8"),
        ("*/*", "application/json"),
    ],
)
def test_a_report_is_a_page_to_who_prefers_one(desk, accept, form):
    answer = desk.read(Accept=accept)
    assert (answer.status_code, answer.headers["content-type"]) == (200, form)


def test_the_page_is_whole_and_nothing_in_it_is_markup_of_strangers(desk):
    answer = desk.read()
    page = Page(answer.text)
    page.check()
    names = {name for name, _ in page.elements}
    assert names.isdisjoint({"script", "img", "iframe", "object", "form", "svg", "audio"})
    assert names >= {"article", "style", "time", "sup", "ol"}
    assert TITLE.split(" {{")[0].split("\u202e")[0] in page.words["h1"]
    assert "{{ 7 * 7 }}" in page.words["h1"]
    assert page.words["title"].startswith("Ports </title><script>")
    assert LONG in answer.text
    assert re.findall("[\u202a-\u202e\u2066-\u2069]", answer.text) == []
    for link in page.fields("href"):
        assert re.match(r"https?://|#|data:image/svg\+xml,", link), link
    for number in (1, 3, 4):
        assert f'href="#source-{number}"' in answer.text
    assert page.fields("src") == []
    assert answer.text.count("Also reported by") == 1
    assert answer.text.count("On the same event") == 1


def test_the_page_may_load_its_own_style_and_nothing_else(desk):
    answer = desk.read()
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; base-uri 'none'; form-action 'none';")
    assert re.search(r"style-src 'sha256-[A-Za-z0-9+/=]{44}'; img-src data:$", policy)
    assert answer.headers.get_list("content-security-policy") == [policy]
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "private, no-cache"
    assert answer.headers["x-robots-tag"] == "noindex"
    not_modified = desk.read(**{"If-None-Match": answer.headers["etag"]})
    # A browser takes the fields of a 304 for those of the page that it has.
    assert not_modified.status_code == 304
    assert not_modified.headers["content-security-policy"] == policy


def test_what_is_spoken_can_be_heard_on_the_page(desk):
    silent = desk.read()
    speak(desk)
    answer = desk.read()
    page = Page(answer.text)
    page.check()
    (player,) = page.find_all("audio")
    name = "ab" * 32 + ".mp3"
    query = passes.issue(desk.runtime.keyring, name, desk.house.clock()).query
    assert player["src"] == f"https://api.example.org{MEDIA_PATH}/{name}?{query}"
    assert player["aria-label"]
    assert "3:05 to hear" in answer.text
    policy = answer.headers["content-security-policy"]
    assert policy.endswith("; media-src https://api.example.org")
    assert answer.headers["etag"] != silent.headers["etag"]
    desk.house.clock.forward(hours=2)  # the address of the sound has ended, and so has the page
    assert desk.read().text != answer.text


def test_a_page_is_the_page_whatever_is_included(desk, check_problem):
    page = desk.house.ask("GET", f"{API}?format=html", desk.key)
    answer_with_parts = desk.house.ask("GET", f"{API}?format=html&include=sources,graph", desk.key)
    assert (answer_with_parts.text, answer_with_parts.headers["etag"]) == (
        page.text,
        page.headers["etag"],
    )
    for query in ("include=sources&view=agent", "include=all"):
        answer = desk.house.ask("GET", f"{API}?format=html&{query}", desk.key)
        check_problem(answer, problem.INVALID_PARAMETER)


# -- at an address that ends -------------------------------------------------------------------


def test_the_address_gives_the_page_that_the_key_gives(desk):
    path = desk.address()
    answer, expected = desk.open(path), desk.read()
    assert answer.status_code == 200
    assert answer.content == expected.content
    assert answer.headers["etag"] == expected.headers["etag"]
    for name in ("cache-control", "content-security-policy", "referrer-policy", "x-robots-tag"):
        assert answer.headers[name] == expected.headers[name]
    assert desk.open(path, accept="application/json").content == expected.content
    head = desk.open(path, "HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(expected.content))
    again = desk.open(path, **{"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304
    assert desk.open(path, "POST").status_code == 405
    assert not any("ratelimit" in name for name in answer.headers)


@pytest.mark.parametrize("accept", [FIREFOX, "*/*"])
@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (problem.LINK_EXPIRED, {"ends_at": "now"}),
        (problem.NOT_FOUND, {"report_id": "rpt_" + "8" * 24}),
        (problem.NOT_FOUND, {"tenant": "wsp_" + "8" * 24}),
        (problem.FORBIDDEN, None),
    ],
)
def test_what_opens_nothing_says_so_clearly(desk, check_problem, kind, changes, accept):
    if changes == {"ends_at": "now"}:
        changes = {"ends_at": desk.house.clock()}
    path = desk.address() + "A" if changes is None else desk.address(**changes)
    answer = desk.open(path, accept=accept)
    assert answer.status_code == kind.status
    if accept == "*/*":
        check_problem(answer, kind)
        return
    page = Page(answer.text)
    page.check()
    assert page.words["h1"] == kind.title
    assert kind.code in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


def test_a_report_that_was_removed_is_gone_from_its_address(desk):
    path = desk.address()
    desk.write(lambda ctx: ctx.remove(REPORTS, ID))
    assert desk.open(path).status_code == 404


def test_the_token_is_in_no_log(desk):
    path = desk.address()
    desk.open(path)
    desk.runtime.journal.flush()
    assert desk.house.log.lines[-1]["route"] == "/reports/{token}"
    assert path.rpartition("/")[2] not in desk.house.log.text

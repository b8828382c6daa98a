"""What the derived pages show and do, with the rows of the demo and a person at the desk."""

import asyncio
import csv
import io
import json
import re
from collections.abc import Iterator
from html import unescape
from typing import Any, get_args
from urllib.parse import parse_qs, quote

import attrs
import pytest

from svc_core.access.model import MEMBERS, WORKSPACES
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.intel.folding.model import HealthStatus
from svc_core.operation.stream import Stream
from svc_http.dashboard import derived
from svc_http.dashboard.captions import operation_title
from svc_http.dashboard.derived import (
    STREAM_BYTES,
    operation_page,
    page_routes,
    spoken_words,
    stream_bytes,
)
from svc_http.dashboard.desk import Desk, Home, Person
from svc_http.dashboard.form_fields import fields_of
from svc_http.dashboard.page_addresses import (
    BY_ID,
    EVERY,
    is_safe,
    page_address,
    page_ids,
    paths_of,
    row_id_for,
    show_of,
)
from svc_http.dashboard.page_markup import render_page
from svc_http.dashboard.people_views import VIEWS
from svc_http.dashboard.room_tables import tsv_rows
from svc_http.dashboard.spots import Spot
from svc_http.dashboard.value_shapes import anchor_of, title_of
from svc_http.dashboard.visit import Download, HtmlPage, Redirection, Visit
from svc_http.exchange.http_exchange import Exchange, Load
from tests.golden.house import NOW, House

SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "GET",
    "path": "/dashboard",
    "query_string": b"",
    "headers": [],
    "client": ("127.0.0.1", 5000),
}
BARE = {"shell": None}


class Visitor:
    """A person with a role in the demo's workspace, who visits pages."""

    def __init__(self, house: House, role: str, *, is_operator: bool = False) -> None:
        (row,), (member,) = house.rows(WORKSPACES), house.rows(MEMBERS)
        self.user_id = member.user_id
        self.home = Home(row.id, row.name, row.plan, role)  # type: ignore[arg-type]
        self.house, self.is_operator = house, is_operator
        self.ids: dict[str, str] = {}

    def visit(self, id_: str, **rest: Any) -> Any:
        """The answer to a visit of the page of an operation."""
        return self.house._runner.run(self.page(id_, **rest))

    async def page(self, id_: str, *, query: str = "", form: Any = None, **ids: str) -> Any:
        """The same within a loop that runs."""
        operation = BY_ID[id_]
        exchange = Exchange(dict(SCOPE), None, None, 1_000, Load(9, lambda _: "here"))  # type: ignore[arg-type]
        homes = (self.home,)
        person = Person(
            self.user_id, "ann", "Ann", "ses_1", NOW, self.is_operator, homes, self.home
        )
        path = page_address(operation, self.home.id, ids)
        if "/operate/" in path:
            person = attrs.evolve(person, home=None)
        values = {name: tuple(words) for name, words in parse_qs(query).items()}
        sent = form and {name: w if type(w) is tuple else (w,) for name, w in form.items()}
        desk = Desk(person, self.house.service.runtime, exchange)
        visit = Visit(path, {"workspaceId": self.home.id, **ids}, values, sent)
        return await operation_page(operation, desk, visit)

    def text(self, id_: str, **rest: Any) -> str:
        """The HTML of a page."""
        return html_of(self.visit(id_, **rest))

    def act(self, id_: str, changes: Any = None, **ids: str) -> Any:
        """The answer to the form of a page as it stands there, but for changes."""
        page = self.visit(id_, **ids)
        form = dict(page.values["hidden"])
        for field in page.values["fields"]:
            words = field.values if field.kind == "choices" else tuple(filter(None, [field.value]))
            if words or field.kind not in {"choices", "check"}:
                form[field.name] = words or ("",)
        return self.visit(id_, form={**form, **(changes or {})}, **ids)


TOGGLES = {"archive", "restore", "pin", "unpin"}


def verbs_of(acts: Any) -> set[str]:
    return {act.operation.verb for act in acts}


def html_of(page: Any) -> str:
    assert isinstance(page, HtmlPage), page
    return render_page(page.template, **{**BARE, **page.values}).decode()


def hrefs_of(text: str) -> set[str]:
    return {unescape(href) for href in re.findall(r'href="([^"]*)"', text)}


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    house = House()
    yield house
    house.close()


@pytest.fixture(scope="module")
def owner(house: House) -> Visitor:
    return Visitor(house, "owner", is_operator=True)


@pytest.fixture
def project(owner: Visitor) -> str:
    answer = owner.act("createProject", {"name": "Ports"})
    match = re.search(r"/projects/(prj_\w+)\?_done=createProject$", answer.address)
    assert match, answer
    return match[1]


@pytest.fixture(scope="module")
def known_ids(owner: Visitor) -> dict[str, str]:
    """An id for each name of an input, from the first rows of the lists."""
    ids: dict[str, str] = {}
    for operation in EVERY:
        show = show_of(operation)
        if is_safe(operation) and show is not None and not page_ids(operation):
            page = owner.visit(operation.id, query="format=json" if operation.media[1:] else "")
            rows = page.values["rows"]
            for id_ in filter(None, (row_id_for(show, row) for row in rows)):
                ids.setdefault(page_ids(show)[-1], id_)
    return ids


def spot_title(page: HtmlPage) -> str:
    """What a page is called: its row has a name, or the operation has one."""
    title = operation_title(page.values["operation"])
    return title_of(page.values.get("row", {}), title) if page.values["spot"].ids else title


READS = [operation for operation in EVERY if is_safe(operation)]
LISTS = [operation for operation in READS if operation.columns and not operation.local]
UNAVAILABLE = {"AUDIO_NOT_AVAILABLE", "SERVICE_UNAVAILABLE"}


# -- reading -----------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", READS, ids=lambda operation: operation.id)
def test_what_can_be_read_has_a_page(owner, known_ids, operation) -> None:
    ids = {name: known_ids[name] for name in page_ids(operation) if name in known_ids}
    if len(ids) < len(page_ids(operation)):
        pytest.skip("the demo has no such row")
    try:
        answer = owner.visit(operation.id, **ids)
    except Problem as refusal:
        if refusal.type.code not in UNAVAILABLE:
            raise
        pytest.skip("the demo has no such part")
    if isinstance(answer, HtmlPage):
        text = html_of(answer)
        assert spot_title(answer) in unescape(text)
        assert text.count("<h1") == 1


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_the_rows_of_a_page_are_those_of_the_api(house, owner, known_ids, operation) -> None:
    ids = {name: known_ids[name] for name in page_ids(operation) if name in known_ids}
    if operation.method != "GET" or len(ids) < len(page_ids(operation)):
        pytest.skip("not read by GET, or the demo has no such row")
    target = operation.address.format(**ids)
    has_limit = any(field.name == "limit" for field in fields_of(operation))
    query = "limit=7" if has_limit else ""
    headers = {"Accept": "application/json"}
    rows = house.ask("GET", f"{target}?{query}", headers=headers).json()

    page = owner.visit(operation.id, query=query, **ids)

    assert page.values["rows"] == rows["data"]
    assert html_of(page).count("<tr>") == len(rows["data"]) + bool(rows["data"])
    cursor = rows["meta"]["page"]["nextCursor"]
    assert bool(page.values["next"]) == bool(cursor)


@pytest.mark.parametrize(
    "origin",
    ["listMarkets?format=ndjson", "listMarkets?cursor=x", "listMarkets?nope=1", "listKeys?", "x"],
)
def test_an_odd_origin_leaves_a_row_without_neighbours(owner, known_ids, origin: str) -> None:
    page = owner.visit("getMarket", query=f"_from={quote(origin)}", marketId=known_ids["marketId"])

    assert page.values["around"] == ("", "")


def test_a_query_names_no_other_row_than_the_address(owner, known_ids) -> None:
    key_id = known_ids["keyId"]

    page = owner.visit("getKey", query="keyId=key_0123456789abcdef01234567", keyId=key_id)

    assert page.values["row"]["id"] == key_id


def test_a_row_leads_to_its_page_and_from_there_to_its_neighbours(owner) -> None:
    rows = owner.visit("listNews", query="limit=3&language=en").values["rows"]
    ids = [row["id"] for row in rows]
    links = hrefs_of(owner.text("listNews", query="limit=3&language=en"))
    (link,) = (link for link in links if f"/news/{ids[1]}?" in link)

    page = owner.visit("getNewsItem", query=link.partition("?")[2], newsId=ids[1])

    before, after = page.values["around"]
    assert f"/news/{ids[0]}?" in before
    assert f"/news/{ids[2]}?" in after


@pytest.mark.parametrize(
    "origin", ["", "listNews", "listReports?limit=1", "nothing?x", "createProfile?"]
)
def test_a_list_that_is_none_gives_no_neighbours(owner, known_ids, origin) -> None:
    query, market = f"_from={quote(origin)}", known_ids["marketId"]

    page = owner.visit("getMarket", query=query, marketId=market)

    assert page.values["around"] == ("", "")


def test_a_refused_filter_comes_back_with_its_fault(owner) -> None:
    page = owner.visit("listOsintEvents", query="minConfidence=2&severity=high")

    assert page.status == 400
    fields = {field.name: field for field in page.values["fields"]}
    assert "at most 1" in fields["minConfidence"].error
    assert fields["severity"].values == ("high",)
    assert "minConfidence" in html_of(page)


def test_what_no_operation_knows_is_refused_as_by_the_api(owner) -> None:
    page = owner.visit("listNews", query="colour=red")

    assert page.values["refusal"].type is problem.UNKNOWN_PARAMETER


def test_chosen_filters_stand_in_their_controls(owner) -> None:
    text = owner.text("listOsintEvents", query="severity=high,critical&provider=usgs,gdacs")

    assert re.search(r'value="high" checked', text)
    assert re.search(r'value="critical" checked', text)
    assert re.search(r"<textarea[^>]*>\s*usgs,gdacs</textarea>", text)


@pytest.mark.parametrize("form", ["csv", "ndjson", "json"])
def test_an_export_has_the_rows_of_all_pages(house, owner, form) -> None:
    rows = house.ask("GET", "/api/v1/news?limit=100").json()["data"]

    answer = owner.visit("listNews", query=f"limit=9&_as={form}")

    assert isinstance(answer, Download)
    text = answer.body.decode()
    assert answer.file_name == f"listNews.{form}"
    if form == "csv":
        head, *lines = csv.reader(io.StringIO(text))
        assert tuple(head) == BY_ID["listNews"].columns
        ids = [line[0] for line in lines]
    else:
        data = map(json.loads, text.splitlines()) if form == "ndjson" else json.loads(text)["data"]
        ids = [row["id"] for row in data]
    assert ids[: len(rows)] == [row["id"] for row in rows]


@pytest.mark.parametrize("form", ["csv", "ndjson", "json"])
def test_others_have_their_turn_between_two_rows_of_an_export(owner, form) -> None:
    turns: list[int] = []

    async def others() -> None:
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    async def export() -> Any:
        task = asyncio.create_task(others())
        answer = await owner.page("listNews", query=f"limit=100&_as={form}")
        task.cancel()
        return answer

    answer = owner.house._runner.run(export())
    assert len(turns) >= len(
        answer.body.splitlines() if form != "json" else json.loads(answer.body)["data"]
    )


def test_an_export_ends_with_the_page_that_passes_its_bound_of_bytes(owner, monkeypatch) -> None:
    monkeypatch.setattr(derived, "BYTES_MAX", 1_000)
    answer = owner.visit("listNews", query="limit=9&_as=json")
    assert len(json.loads(answer.body)["data"]) == 9


def test_an_empty_list_says_what_is_missing_and_how_to_begin(owner) -> None:
    assert "No conversations yet" in owner.text("listThreads")
    assert "Nothing matches" in owner.text("listEntities", query="q=zzqx")
    assert "Nothing was looked for yet" in owner.text("searchEverything")


def test_backticks_of_a_text_are_code_and_all_else_is_text(owner) -> None:
    assert "<code>history</code> of what was displaced" in owner.text("listSubjects")

    page = owner.visit("createProject")
    field = attrs.evolve(page.values["fields"][0], hint="`<b>` & `c`, a ` alone")
    text = html_of(attrs.evolve(page, values={**page.values, "fields": (field,)}))
    assert "<code>&lt;b&gt;</code> &amp; <code>c</code>, a ` alone</p>" in text


def test_a_page_says_the_same_as_a_request(owner) -> None:
    text = unescape(owner.text("listNews", query="limit=5&language=en"))
    assert "/api/v1/news?limit=5&language=en" in text.replace(
        "language=en&limit=5", "limit=5&language=en"
    )
    assert "Authorization: Bearer $SVC_KEY" in text

    assert "svc keys list" in owner.text("listKeys")


@pytest.mark.parametrize(
    ("id_", "name", "kind"),
    [
        ("getReport", "markdown", "text"),
        ("getEntity", "stix", "download"),
        ("getSubject", "svg", "download"),
        ("listNews", "ndjson", "download"),
    ],
)
def test_other_representations_are_shown_or_offered(owner, known_ids, id_, name, kind) -> None:
    ids = {each: known_ids[each] for each in page_ids(BY_ID[id_])}

    answer = owner.visit(id_, query=f"format={name}", **ids)

    assert (answer.template if isinstance(answer, HtmlPage) else "download") == kind


# -- acting ------------------------------------------------------------------------------------


def test_a_form_creates_and_leads_to_what_it_made(owner, project) -> None:
    text = owner.text("getProject", query="_done=createProject", projectId=project)

    assert "Ports" in text
    assert "Project created" in text


def test_the_same_form_sent_twice_makes_one(owner) -> None:
    page = owner.visit("createProject")
    form = {**dict(page.values["hidden"]), "name": "Once"}

    addresses = [owner.visit("createProject", form=form).address for _ in range(2)]

    assert addresses[0] == addresses[1]


def test_a_form_that_was_sent_and_is_changed_is_another_one(owner) -> None:
    page = owner.visit("createProject")
    form = {**dict(page.values["hidden"]), "name": "First"}
    owner.visit("createProject", form=form)

    answer = owner.visit("createProject", form={**form, "name": "Second"})

    assert answer.values["refusal"].type is problem.IDEMPOTENCY_CONFLICT
    again = owner.visit("createProject", form={**dict(answer.values["hidden"]), "name": "Second"})
    assert isinstance(again, Redirection)


def test_the_order_of_a_list_is_chosen_at_its_columns(owner) -> None:
    links = hrefs_of(owner.text("listNews", query="limit=5&cursor="))

    assert any("sort=publishedAt" in link and "cursor" not in link for link in links)


def test_a_change_sends_what_was_touched(owner, project) -> None:
    answer = owner.act("updateProject", {"description": "Of the coast"}, projectId=project)
    assert isinstance(answer, Redirection)

    row = owner.visit("getProject", projectId=project).values["row"]
    assert (row["name"], row["description"]) == ("Ports", "Of the coast")

    owner.act("updateProject", {"description": ""}, projectId=project)
    assert owner.visit("getProject", projectId=project).values["row"]["description"] is None


def test_a_form_that_somebody_was_faster_than_is_refused(owner, project) -> None:
    page = owner.visit("updateProject", projectId=project)
    owner.act("updateProject", {"name": "Harbours"}, projectId=project)

    form = {**dict(page.values["hidden"]), "name": "Docks"}
    answer = owner.visit("updateProject", form=form, projectId=project)

    assert answer.status == 412
    assert {field.name: field.value for field in answer.values["fields"]}["name"] == "Docks"


def test_a_refused_form_comes_back_as_it_was_sent(owner) -> None:
    answer = owner.act("createProfile", {"name": "Ports", "topic": "x", "timezone": "Nowhere"})

    fields = {field.name: field for field in answer.values["fields"]}
    assert answer.status == 400
    assert fields["name"].value == "Ports"
    assert fields["topic"].error
    text = html_of(answer)
    assert 'href="#f-topic"' in text
    assert answer.values["request_id"] in text


def test_what_can_be_undone_acts_at_once_and_offers_it(owner, project) -> None:
    page = owner.text("getProject", projectId=project)
    path = page_address(BY_ID["archiveProject"], owner.home.id, {"projectId": project})
    assert f'<form method="post" action="{path}">' in page

    answer = owner.visit("archiveProject", form={"_key": "k" * 20}, projectId=project)

    assert answer.address.endswith("?_done=archiveProject")
    text = owner.text("getProject", query="_done=archiveProject", projectId=project)
    assert page_address(BY_ID["restoreProject"], owner.home.id, {"projectId": project}) in text
    assert "Undo" in text


def test_a_row_offers_what_its_state_allows(owner, project) -> None:
    shown = owner.visit("getProject", projectId=project).values
    assert {"archive", "pin"} == verbs_of(shown["spot"].steps(shown["row"])) & TOGGLES
    assert "cannot be undone" not in owner.text("archiveProject", projectId=project)

    row = {**shown["row"], "status": "archived", "pinned": True}

    assert {"restore", "unpin"} == verbs_of(shown["spot"].steps(row)) & TOGGLES


def test_a_row_of_a_list_has_no_button_of_what_the_list_is_of(owner) -> None:
    visit = Visit("", {"webhookId": "whk_" + "1" * 24})
    spot = Spot(BY_ID["listDeliveries"], owner.visit("listKeys").values["spot"].desk, visit)

    acts = spot.steps({"eventId": "evt_" + "1" * 24}, is_listed=True)

    assert verbs_of(acts) == {"redeliver"}


def test_what_a_group_only_lists_is_named_before_and_after_a_refusal(owner) -> None:
    (member,) = owner.visit("listMembers").values["rows"]

    assert member["name"] in owner.text("removeMember", userId=member["id"])
    refusal = owner.act("removeMember", userId=member["id"])

    assert refusal.status == 409
    assert member["name"] in html_of(refusal)
    assert owner.act("removeMember", userId="usr_" + "0" * 24).values["what"] == ""


def test_a_name_that_is_taken_is_a_fault_of_its_field(owner) -> None:
    owner.act("createKey", {"name": "Twice"})

    answer = owner.act("createKey", {"name": "Twice"})

    (name, *_) = answer.values["fields"]
    assert (answer.status, name.name, name.error) == (409, "name", "another key has this name")


def test_the_sample_of_a_key_is_what_it_may_call(owner) -> None:
    text = html_of(owner.act("createKey", {"name": "Reader", "scopes": ("news:read",)}))

    assert "/api/v1/news" in text
    assert "/api/v1/reports" not in text


def test_what_an_act_made_is_where_it_leads(owner, known_ids) -> None:
    answer = owner.act("generateReport", profileId=known_ids["profileId"])

    assert re.search(r"/reports/rpt_\w+\?_done=generateReport$", answer.address)


def test_what_an_answer_names_stands_for_its_ids(owner, known_ids) -> None:
    page = owner.visit("getReportGraph", reportId=known_ids["reportId"])
    names = page.values["names"]

    assert names
    shown = re.findall(r"<td[^>]*>(.*?)</td>", html_of(page), re.DOTALL)
    assert not any(f">{id_}<" in cell for id_ in names for cell in shown)


def test_an_id_is_shown_beside_the_name_and_a_name_leads_to_its_row(owner, known_ids) -> None:
    id_, entity = known_ids["profileId"], known_ids["entityId"]
    assert f">{id_}<" in owner.text("getProfile", profileId=id_)

    cells = {"type": "actor", "label": "Reed Warbler", "id": entity}

    assert anchor_of(cells, ("type", "label")) == "label"
    assert anchor_of({"type": "actor"}, ("type",)) == "type"


def test_what_cannot_be_undone_asks_first_and_names_it(owner) -> None:
    made = owner.act(
        "createProfile",
        {
            "name": "Asked",
            "topic": "Strikes in ports",
            "frequency": "manual",
            "timezone": "UTC",
        },
    )
    id_ = re.search(r"prf_\w+", made.address)[0]  # type: ignore[index]

    text = owner.text("deleteProfile", profileId=id_)

    assert "Asked" in text
    assert "What goes with it" in text
    assert owner.act("deleteProfile", profileId=id_).address.endswith(
        "/profiles?_done=deleteProfile"
    )
    with pytest.raises(Problem) as refused:
        owner.visit("getProfile", profileId=id_)
    assert refused.value.type is problem.NOT_FOUND


def test_a_secret_is_shown_once_and_never_stored(owner) -> None:
    answer = owner.act("createKey", {"name": "Site"})

    assert answer.is_secret
    secret = answer.values["row"]["key"]
    text = html_of(answer)
    assert secret in text
    assert f"Bearer {secret}" in unescape(text)
    rows = owner.visit("listKeys").values["rows"]
    assert secret not in json.dumps(rows)


def test_a_secret_that_must_be_sent_is_made_anew(owner) -> None:
    pages = [owner.visit("createWebhook") for _ in range(2)]

    secrets = {field.value for page in pages for field in page.values["fields"] if field.secret}
    assert len(secrets) == 2
    assert all(page.is_secret for page in pages)
    assert not any(
        secret in json.dumps(page.values["request"].json) for page in pages for secret in secrets
    )
    assert not any(
        field.value
        for field in owner.visit("replaceWebhook", webhookId=hook_of(owner)).values["fields"]
        if field.secret
    )


def hook_of(owner: Visitor) -> str:
    answer = owner.act("createWebhook", {"url": "https://hooks.example.com/svc"})
    return re.search(r"whk_\w+", answer.address)[0]  # type: ignore[index]


def test_rows_that_are_found_by_a_form_are_shown_with_it(owner) -> None:
    answer = owner.act("retrieveKnowledge", {"query": "strike"})

    assert answer.template == "list"
    assert answer.values["rows"]
    assert 'method="post"' in html_of(answer)


def test_an_answer_in_parts_is_shown_as_a_whole(owner) -> None:
    messages = json.dumps([{"role": "user", "content": "What is new?"}])

    answer = owner.act(
        "createChatCompletion", {"messages": messages, "model": "svc-agent", "stream": "true"}
    )

    assert answer.template == "text"
    assert answer.values["text"]
    assert not re.search(r"data:|\[DONE\]|[{}]", answer.values["text"])


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        (
            [
                {"type": "start", "messageId": "m"},
                {"type": "source-url", "sourceId": "src_1", "title": "Port", "url": "/a"},
                {"type": "source-document", "sourceId": "src_2", "title": "A claim"},
                {"type": "text-delta", "id": "t", "delta": "It is so [1]. "},
                {"type": "text-delta", "id": "t", "delta": "Or so [2]."},
            ],
            "It is so [1]. Or so [2].\n\n[1] Port /a\n[2] A claim",
        ),
        (
            [
                {"choices": [{"index": 0, "delta": {"role": "assistant"}}]},
                {"choices": [{"index": 0, "delta": {"content": "Yes."}}]},
                {"choices": [], "usage": {}},
            ],
            "Yes.",
        ),
    ],
)
def test_the_page_of_the_agent_shows_what_it_says(chunks, text) -> None:
    frames = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)

    assert spoken_words(f"{frames}data: [DONE]\n\n") == text
    assert spoken_words(frames + 'data: {"choices": [{"del') == text  # cut
    refusal = 'data: {"type": "error", "errorText": "Gone."}\n\n'
    assert spoken_words(refusal) == refusal


def test_an_answer_without_an_end_is_cut(owner) -> None:
    ends = []

    async def parts(_: Any) -> Any:
        while True:
            yield b"x" * 10_000

    async def settle() -> None:
        ends.append(True)

    stream = Stream("text/event-stream", parts, b"", lambda _: b"", settle=settle)

    content = owner.house._runner.run(stream_bytes(stream))

    assert STREAM_BYTES < len(content) <= STREAM_BYTES + 10_000
    assert ends == [True]


def test_an_answer_that_takes_too_long_ends_with_its_farewell(owner) -> None:
    async def parts(_: Any) -> Any:
        yield b"first, "
        await asyncio.Event().wait()

    stream = Stream("text/event-stream", parts, b"", lambda _: b"bye", seconds_max=0.0)

    assert owner.house._runner.run(stream_bytes(stream)).endswith(b"bye")


# -- who sees what -----------------------------------------------------------------------------


@pytest.mark.parametrize("id_", ["listKeys", "createKey", "createWebhook", "listSources"])
def test_what_is_not_for_a_role_is_not_there(house, id_) -> None:
    with pytest.raises(Problem) as refused:
        Visitor(house, "member").visit(id_)

    assert refused.value.type is problem.NOT_FOUND


def test_buttons_are_those_that_a_role_may_press(house, owner, known_ids) -> None:
    member = Visitor(house, "member")
    profile = known_ids["profileId"]

    links = hrefs_of(member.text("getProfile", profileId=profile))

    assert not any("/edit" in link or "/delete" in link for link in links)
    assert any("/edit" in link for link in hrefs_of(owner.text("getProfile", profileId=profile)))


def test_words_of_others_stay_words(owner) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    answer = owner.act("createProject", {"name": hostile})
    id_ = re.search(r"prj_\w+", answer.address)[0]  # type: ignore[index]

    for text in (owner.text("getProject", projectId=id_), owner.text("listProjects")):
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert hostile in unescape(text)


def test_a_page_by_hand_stands_in_place_of_the_derived_one() -> None:
    async def own(_: Any, __: Any) -> Any:
        raise AssertionError

    routes = {route.path: route for route in page_routes({"listNews": own})}
    plain = {route.path: route for route in page_routes({})}

    assert routes.keys() == plain.keys() == {path for each in EVERY for path in paths_of(each)}
    (path,) = paths_of(BY_ID["listNews"])
    assert routes[path].get is own
    assert plain[path].get is not own
    assert VIEWS.keys() <= BY_ID.keys()


def test_the_table_of_verbs_has_verbs_of_operations_and_pairs_that_undo_each_other() -> None:
    rows = {row["verb"]: row for row in tsv_rows("verbs.tsv")}
    assert rows.keys() <= {operation.verb for operation in EVERY}
    assert {row["mark"] for row in rows.values()} == {"main", "danger", ""}
    undoing = {verb: row["undo"] for verb, row in rows.items() if row["undo"]}
    assert {undo: verb for verb, undo in undoing.items()} == undoing
    assert {*get_args(HealthStatus)} == {"disabled"} | (
        {*rows["enable"]["words"].split()} - {"enabled"}
    )


def test_what_changes_is_posted_and_what_is_dangerous_is_guarded() -> None:
    routes = {route.path: route for route in page_routes({})}

    for operation in EVERY:
        for path in paths_of(operation):
            assert (routes[path].post is None) == is_safe(operation)
            assert routes[path].is_guarded == operation.guarded

"""The text facets of a report over HTTP: scopes, prices, statuses, tags (Spec: Reports; Scopes)."""

import json
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
from svc_core.outbox.model import EVENTS
from svc_core.reports import notices, render
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import Recording
from svc_core.reports.model import (
    FACETS,
    REPORTS,
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
    ReportWords,
    Statement,
)
from svc_http.stores import MemoryStorage
from tests.http.conftest import START

ID = "rpt_" + "7" * 24
PATH = f"/api/v1/reports/{ID}"
MANAGING = ("profiles:read", "profiles:write", "webhooks:manage")
AUDIO_TEXT = f"{PATH}/audio-text"
SPEECH = "The E-U spends 1.2 billion US dollars, 5 percent more."


def legacy_report(at):
    """A report from before signals and graphs, its words and its row."""
    opening = (Statement("The EU spends $1.2bn, 5% more.", ()),)
    title, words = "Ports <b>", ReportWords(opening, (), (), (), ())
    row = ReportRow(
        id=ID,
        profile_id="prf_" + "7" * 24,
        title=title,
        summary=opening[0].text,
        language="en",
        generated_at=at,
        period=Period(at - timedelta(days=1), at),
        status="ready",
        has_audio=False,
        counts=ReportCounts(sources=1, signals=0, entities=0, incidents=0),
        links=ReportLinks(
            self_=PATH,
            audio=None,
            graph=f"{PATH}/graph",
            signals=f"{PATH}/signals",
            text=f"{PATH}/text",
        ),
    )
    facets = ReportFacets(
        report_id=ID,
        digest="0" * 64,
        **attrs.asdict(words, recurse=False),
        signals=None,
        graph=None,
        content=ReportContent(
            html=render.html_fragment(title, words), markdown=render.markdown(title, words)
        ),
        text=render.report_text(title, words),
    )
    return row, facets


@pytest.fixture
def serve(make_house):
    """A service of the real catalogue with one old report, and keys of its workspace by scope."""

    def make(**settings):
        house = make_house(
            parts={
                "operations": catalog.OPERATIONS,
                "storage": MemoryStorage(catalog.COLLECTIONS),
            },
            **settings,
        )
        table = plans.DEFAULT_PLANS
        workspace = house.system(
            lambda ctx: accounts.create_workspace(ctx, name="W", plan="elite", plans=table)
        )

        async def key(ctx, scope):
            wish = KeyWish(name=scope, scopes=(scope,), workspace_id=workspace.id)
            return (await accounts.create_key(ctx, wish, plans=table)).secret

        async def write(tx):
            actor = Actor(workspace.id)
            ctx = Context(house.clock(), house.ids, actor, "test", keyring=None, tx=tx)
            row, facets = legacy_report(house.clock())
            await ctx.save(REPORTS, ID, row)
            await ctx.save(FACETS, ID, facets)

        house.run(house.storage.write(workspace.id, write))
        scopes = ("reports:read", "reports:audio", "news:read", *MANAGING)
        return house, {scope: house.system(lambda c, s=scope: key(c, s)) for scope in scopes}

    return make


def test_the_words_for_speech_are_read_with_the_right_to_read_reports(serve, check_problem):
    house, keys = serve()
    answer = house.ask("GET", AUDIO_TEXT, keys["reports:read"])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "private, no-cache"
    body = answer.json()
    assert SPEECH in body["text"].split("\n\n")
    assert body["wordCount"] == len(body["text"].split())
    assert body["estimatedDurationSeconds"] == -(-body["wordCount"] * 60 // 150)
    for scope in ("reports:audio", "news:read"):
        answer = house.ask("GET", AUDIO_TEXT, keys[scope])
        detail = check_problem(answer, problem.INSUFFICIENT_SCOPE)["detail"]
        assert "reports:read" in detail


def test_the_operator_may_ask_for_the_right_to_audio_instead(serve, check_problem):
    house, keys = serve(audio_text_scope="reports:audio")
    assert house.ask("GET", AUDIO_TEXT, keys["reports:audio"]).status_code == 200
    answer = house.ask("GET", AUDIO_TEXT, keys["reports:read"])
    assert "reports:audio" in check_problem(answer, problem.INSUFFICIENT_SCOPE)["detail"]
    assert house.ask("GET", f"{PATH}/text", keys["reports:read"]).status_code == 200
    operation = house.ask("GET", "/openapi.json").json()["paths"]["/reports/{reportId}/audio-text"]
    assert operation["get"]["x-required-scopes"] == ["reports:audio"]


def test_texts_name_their_characters(serve):
    house, keys = serve()
    for path, kind in ((PATH, "text/markdown"), (f"{PATH}/text", "text/plain")):
        answer = house.ask("GET", path, keys["reports:read"], headers={"Accept": kind})
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"


def test_the_text_has_its_words_counted_and_is_given_plain(serve):
    house, keys = serve()
    facet = house.ask("GET", f"{PATH}/text", keys["reports:read"]).json()
    plain = house.ask("GET", f"{PATH}/text", keys["reports:read"], headers={"Accept": "text/plain"})
    assert plain.text == facet["text"]
    assert plain.headers["x-content-type-options"] == "nosniff"
    assert facet["wordCount"] == len(facet["text"].split())
    assert facet["readingTimeSeconds"] == -(-facet["wordCount"] * 60 // 238)


# -- audio -------------------------------------------------------------------------------------

AUDIO = f"{PATH}/audio"
RECORDING = Recording(f"{'ab' * 32}.mp3", "audio/mpeg", 1_000, "ab" * 32, 12.345)


def speak(house):
    """Give the report its recording, as the worker does."""

    async def adopt(tx, tenant):
        ctx = Context(house.clock(), house.ids, Actor(tenant), "test", keyring=None, tx=tx)
        assert await speaking.attach_audio(
            ctx, await speaking.speech_task(ctx, ID), RECORDING, "a voice"
        )

    (row,) = house.run(house.storage.across(REPORTS, limit=2))
    house.run(house.storage.write(row.tenant, lambda tx: adopt(tx, row.tenant)))


def test_a_redirect_leads_to_the_file_by_an_absolute_address(serve):
    house, keys = serve()
    speak(house)
    answer = house.ask("GET", f"{AUDIO}?redirect=true", keys["reports:audio"])
    assert (answer.status_code, answer.content) == (302, b"")
    assert "content-type" not in answer.headers
    assert answer.headers["cache-control"] == "private, no-store"
    limits = [name for name in answer.headers if "ratelimit" in name]
    assert limits
    assert all(name.startswith("x-ratelimit-") for name in limits)  # the draft's are not for 3xx
    url = house.ask("GET", AUDIO, keys["reports:audio"]).json()["url"]
    assert answer.headers["location"] == url
    assert url.startswith(f"https://api.example.org/media/{RECORDING.name}?")
    assert house.ask("GET", f"{AUDIO}?redirect=maybe", keys["reports:audio"]).status_code == 400


@pytest.mark.parametrize("path", [AUDIO, f"{PATH}?include=audio"])
def test_an_address_is_never_kept_beyond_its_time(serve, path):
    """What a page holds that is remembered until the next commit must not age."""
    house, keys = serve()
    speak(house)
    key = keys["reports:audio" if path is AUDIO else "reports:read"]

    def url():
        body = house.ask("GET", path, key).json()
        return body["url"] if path is AUDIO else body["data"]["audio"]["url"]

    first = url()
    assert url() == first
    house.clock.forward(seconds=passes.STEP_SECONDS)
    assert url() != first


# -- deprecated members ------------------------------------------------------------------------

END = START + timedelta(minutes=1)


def deprecated_members(house, keys):
    """What answers and an event say now under former names, each by its replacement."""
    profile = {"name": f"At {house.clock()}", "topic": "Cranes", "frequency": "manual"}
    headers = {"Idempotency-Key": f"key-{house.clock().timestamp()}"}
    profile_row = house.ask(
        "POST", "/api/v1/profiles", keys["profiles:write"], json=profile, headers=headers
    ).json()["data"]
    detail = f"/api/v1/profiles/{profile_row['id']}"
    answers = [profile_row]
    answers += [house.ask("GET", detail, keys["profiles:read"]).json()["data"]]
    for method, body in (("PATCH", {"topic": "Ports"}), ("PUT", profile)):
        answer = house.ask(method, detail, keys["profiles:write"], json=body)
        answers.append(answer.json()["data"])
    lists = [house.ask("GET", "/api/v1/profiles", keys["profiles:read"]).json()]
    lists += [house.ask("GET", "/api/v1/subscriptions", keys["profiles:read"]).json()]
    lists += [house.ask("GET", "/api/v1/reports", keys["reports:read"]).json()]
    lists += [house.ask("GET", "/api/v1/webhooks", keys["webhooks:manage"]).json()]
    rows = lists[0]["data"]
    audio = house.ask("GET", AUDIO, keys["reports:audio"]).json()
    within = house.ask("GET", f"{PATH}?include=audio", keys["reports:read"]).json()
    (row_of_tenant,) = house.run(house.storage.across(REPORTS, limit=2))

    async def event_data(ctx):
        row, facets = await ctx.value(REPORTS, ID), await ctx.value(FACETS, ID)
        subscription = await notices.subscription_to(ctx, profile_row["id"])
        await notices.notify(ctx, row, facets, subscription)
        newest = await ctx.tx.documents.scan(EVENTS, limit=1)
        return json.loads(EVENTS.decode(newest.rows[0].raw).body)["data"]

    event = house.run(house.service.runtime.service.write(row_of_tenant.tenant, event_data))
    return [
        *(("count", "pageCount", page["meta"]) for page in lists),
        *(("reportGeneratedAt", "reportGeneratedAtISO", row) for row in rows),
        *(
            ("generatedAt", "generatedAtISO", member["deliveryMetadata"])
            for member in (*answers, *rows)
        ),
        ("duration", "durationSeconds", audio),
        ("duration", "durationSeconds", within["data"]["audio"]),
        ("generatedAt", "generatedAtISO", event),
    ]


def test_every_deprecated_member_stands_until_the_window_ends_to_the_millisecond(serve):
    house, keys = serve(aliases_until=END)
    speak(house)
    hook = {"url": "http://127.0.0.1:9/", "secret": "whsec_" + "QUJD" * 8}
    headers = {"Idempotency-Key": "key-12345"}
    manager = keys["webhooks:manage"]
    answer = house.ask("POST", "/api/v1/webhooks", manager, json=hook, headers=headers)
    assert answer.status_code == 201
    house.clock.at = END - timedelta(milliseconds=1)
    before = deprecated_members(house, keys)
    assert len(before) >= 13
    for former, name, members in before:
        assert members[former] == members[name]
    house.clock.at = END
    after = deprecated_members(house, keys)
    assert len(after) == len(before) + 2  # one more profile in the list
    for former, name, members in after:
        assert former not in members
        assert name in members

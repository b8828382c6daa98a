"""Reports from evidence: gathered, composed, published, read (Spec: Report; Reports)."""

import json
import math
from datetime import timedelta
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.contract.problem import Problem
from svc_core.intel.news.model import NEWS
from svc_core.operation.ports import SYSTEM, FeedPosition
from svc_core.reports import composition as reports
from svc_core.reports import render
from svc_core.reports.composition import Window, evidence_of, others_of_stories
from svc_core.reports.model import FACETS, REPORTS, ReportSource, ReportWords, Section, Statement
from svc_core.reports.profiles.model import DUE, LEAVING
from svc_core.reports.publications import READS_MAX
from svc_core.reports.recordings import FORGET_AT_ONCE, forget_reports
from svc_core.reports.report_commands import TriggerReport, trigger_report
from svc_core.text.containment import TextWords
from tests.core.report_building import STORIES, compose, gather, publish, take_stories


@pytest.fixture
def profile(house: Any) -> Any:
    take_stories(house, STORIES)
    return house.profile(name="Ports", topic="Strikes at European ports", keywords=["Rotterdam"])


def read(house: Any, report_id: str, query: str = "", **headers: str) -> Any:
    reply = house.send("getReport", path={"reportId": report_id}, query=query, **headers)
    return json.loads(reply.body)["data"]


# -- making ------------------------------------------------------------------------------------


def test_a_report_tells_what_matches_and_nothing_else(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])
    detail = read(house, row.id, "include=content,sources")
    titles = [source["title"] for source in detail["sources"]]
    assert {STORIES[0][0], STORIES[1][0]} <= set(titles)
    assert STORIES[3][0] not in titles
    assert "chocolate" not in detail["content"]["markdown"].lower()
    assert row.counts.sources >= 2
    assert (row.status, row.has_audio, row.language) == ("ready", False, "en")


def test_every_sentence_stands_in_an_item_that_it_cites(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])

    facets = house.value(FACETS, row.id)
    words = {source.number: source.title for source in facets.sources}
    texts = dict(STORIES)
    statements = [*facets.opening, *facets.key_points, *facets.briefs]
    statements += [statement for section in facets.sections for statement in section.statements]
    assert statements
    for statement in statements:
        assert statement.citations
        quotes = [words[number] for number in statement.citations]
        assert any(statement.text[:-1] in f"{title} {texts[title]}" for title in quotes)
    statements += [Statement(signal.title, signal.citations) for signal in facets.signals]
    statements += [Statement(signal.summary, signal.citations) for signal in facets.signals]
    for statement in statements:
        items = [f"{words[number]} {texts[words[number]]}" for number in statement.citations]
        assert all(TextWords.of(item).holds(TextWords.of(statement.text)) for item in items)


def test_nothing_matching_makes_a_short_honest_report(house: Any) -> None:
    take_stories(house, STORIES)
    profile = house.profile(topic="Quantum gravity experiments on Neptune")
    row = publish(house, profile["id"])
    detail = read(house, row.id, "include=sources,signals,graph,content")
    assert row.counts == attrs.evolve(row.counts, sources=0, signals=0, entities=0, incidents=0)
    assert (detail["sources"], detail["signals"]) == ([], [])
    assert detail["graph"]["counts"]["incidentAnchors"] == 0
    assert row.summary
    assert row.summary in detail["content"]["markdown"].replace("\\", "")


def test_an_office_is_looked_for_by_the_name_of_who_holds_it(house: Any) -> None:
    stories = [
        ("Bridge in Lyon", "French President Jeanne Morel opened a bridge. It is 90 metres long."),
        (
            "Trip to Oslo",
            "Jeanne Morel, the French president, flew to Oslo. The talks took an hour.",
        ),
        ("Morel signs a law on ferries", "Jeanne Morel signed a law on ferries in Brest."),
        *STORIES,
    ]
    take_stories(house, stories)
    profile = house.profile(topic="The French president")
    detail = read(house, publish(house, profile["id"]).id, "include=sources")
    assert {source["title"] for source in detail["sources"]} == {title for title, _ in stories[:3]}


def test_the_same_evidence_makes_the_same_report_once(house: Any, profile: Any) -> None:
    first = publish(house, profile["id"])
    before = house.send("getReport", path={"reportId": first.id}, query="include=content,graph")
    changes = house.changes()
    house.clock.advance(60)
    again = publish(house, profile["id"])
    after = house.send("getReport", path={"reportId": first.id}, query="include=content,graph")
    assert again == first
    assert after.body == before.body
    assert house.changes() == changes


def test_a_named_period_makes_one_report_and_new_evidence_renews_it(
    house: Any, profile: Any
) -> None:
    window = Window(house.clock.now(), house.clock.now() - timedelta(days=2), by="published")
    first = publish(house, profile["id"], window)
    assert publish(house, profile["id"], window) == first
    house.clock.advance(60)
    take_stories(house, [("Strike at Rotterdam port ends", "The Rotterdam port strike ended.")], 20)
    renewal = publish(house, profile["id"], attrs.evolve(window, end=window.end))
    assert renewal.id == first.id
    listing = json.loads(house.send("listReports").body)["data"]
    assert [row["id"] for row in listing] == [first.id]


def test_a_named_period_selects_by_the_items_own_dates(house: Any, profile: Any) -> None:
    far = house.clock.now() - timedelta(days=400)
    window = Window(far, far - timedelta(days=1), by="published")
    assert publish(house, profile["id"], window).counts.sources == 0
    open_window = Window(house.clock.now(), None, by="published")
    assert publish(house, profile["id"], open_window).counts.sources > 0


def test_later_reports_cover_only_what_came_since(house: Any, profile: Any) -> None:
    publish(house, profile["id"])
    house.clock.advance(3 * 24 * 3600)
    fresh = ("Rotterdam dockworkers return to work", "Rotterdam dockworkers ended the port strike.")
    take_stories(house, [fresh], 30)
    row = publish(house, profile["id"])
    titles = [source["title"] for source in read(house, row.id, "include=sources")["sources"]]
    assert titles == [fresh[0]]


def test_a_subject_without_a_known_word_finds_nothing_and_says_so(house: Any) -> None:
    take_stories(house, STORIES)
    for topic in ("!!! ???", "Xyzzy quux"):
        profile = house.profile(topic=topic)
        assert gather(house, profile["id"]).evidence == ()
        row = publish(house, profile["id"])
        assert row.counts.sources == 0
        assert topic in row.summary


def test_a_report_keeps_the_version_of_the_frequencies_that_it_was_made_with(house: Any) -> None:
    profile = house.profile(topic="Rotterdam port strike")
    versions = []
    for number, story in enumerate(STORIES):
        take_stories(house, [story], number)
        material = gather(house, profile["id"])
        facets = reports.compose(material, house.clock.now()).facets
        assert facets.frequencies == material.frequencies.version
        versions.append(facets.frequencies)
    assert len(set(versions)) == len(STORIES)


def test_an_item_that_vanished_is_not_evidence(house: Any, profile: Any) -> None:
    async def lose(ctx: Any) -> None:
        page = await ctx.tx.documents.scan(NEWS, limit=10)
        for row in page.rows:
            await ctx.remove(NEWS, row.id)

    house.run(lose, SYSTEM)
    assert publish(house, profile["id"]).counts.sources == 0


def test_a_profile_deleted_meanwhile_gets_no_report(house: Any, profile: Any) -> None:
    report = compose(house, profile["id"])
    house.send("deleteProfile", path={"profileId": profile["id"]})
    with pytest.raises(Problem, match="NOT_FOUND"):
        house.run(lambda ctx: reports.publish_report(ctx, report), "wsp_a")
    assert json.loads(house.send("listReports").body)["data"] == []


def test_an_item_without_title_is_named_by_its_words(house: Any) -> None:
    words = "Rotterdam dockworkers ended their strike at the port on Monday after long talks."
    take_stories(house, [("", f"{words} {words}")])
    profile = house.profile(topic="Strikes at European ports", keywords=["Rotterdam"])
    row = publish(house, profile["id"])
    source = read(house, row.id, "include=sources")["sources"][0]
    assert source["title"].startswith("Rotterdam dockworkers ended")
    assert source["title"].endswith("…")
    assert len(source["title"]) <= 80


def test_an_unknown_or_foreign_profile_makes_nothing(house: Any, profile: Any) -> None:
    with pytest.raises(Problem, match="NOT_FOUND"):
        house.run(lambda ctx: reports.gather_material(ctx, profile["id"]), "wsp_b")


def test_deleting_a_profile_removes_its_reports(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])
    house.send("deleteProfile", path={"profileId": profile["id"]})
    refusal = house.refusal("getReport", path={"reportId": row.id})
    assert refusal.type.code == "NOT_FOUND"
    deletions = [change["resourceId"] for change in house.changes() if change["tombstone"]]
    assert row.id in deletions


def test_only_one_worker_settles_a_due_profile(house: Any) -> None:
    take_stories(house, STORIES)
    profile = daily(house)
    house.clock.advance(24 * 3600)

    seen = due_of(house, profile["id"])
    report = compose(house, profile["id"])
    first = house.run(lambda ctx: reports.settle_run(ctx, report, seen), "wsp_a")
    second = house.run(lambda ctx: reports.settle_run(ctx, report, seen), "wsp_a")
    assert first is not None
    assert second is None
    after = house.value(DUE, profile["id"])
    assert after.next_run_at is not None
    assert after.next_run_at > house.clock.now()
    assert after.covered_until == house.clock.now()
    assert after.last_report_id == first.id
    house.send("deleteProfile", path={"profileId": profile["id"]})
    assert house.run(lambda ctx: reports.settle_run(ctx, report, seen), "wsp_a") is None


def daily(house: Any) -> Any:
    return house.profile(
        topic="Strikes at European ports", frequency="daily", scheduleTimeOfDay="06:00"
    )


def due_of(house: Any, profile_id: str) -> Any:
    return house.run(lambda ctx: ctx.load(DUE, profile_id), "wsp_a")


def test_the_first_scheduled_report_begins_where_one_made_by_hand_ended(house: Any) -> None:
    take_stories(house, STORIES)
    profile = daily(house)
    publish(house, profile["id"])
    surely = house.clock.now() - timedelta(seconds=30)  # what was on its way may be missing
    assert house.value(DUE, profile["id"]).covered_until == surely
    window = Window(house.clock.now(), None, by="published")
    second = daily(house)
    publish(house, second["id"], window)
    assert house.value(DUE, second["id"]).covered_until is None


def test_a_run_that_fails_is_tried_later_and_ever_more_rarely(house: Any) -> None:
    profile = daily(house)
    waits = []
    for _ in range(12):
        seen = due_of(house, profile["id"])
        house.run(lambda ctx, seen=seen: reports.postpone(ctx, profile["id"], seen), "wsp_a")
        after = house.value(DUE, profile["id"])
        waits.append((after.next_run_at - house.clock.now()) / timedelta(minutes=1))
    assert waits[:4] == [5, 10, 20, 40]
    assert waits[-1] == 24 * 60
    stale = due_of(house, profile["id"])
    house.run(lambda ctx: reports.postpone(ctx, profile["id"], stale), "wsp_a")
    now = due_of(house, profile["id"])
    house.run(
        lambda ctx: reports.postpone(ctx, profile["id"], stale), "wsp_a"
    )  # somebody was first
    assert due_of(house, profile["id"]) == now
    house.send("deleteProfile", path={"profileId": profile["id"]})
    house.run(lambda ctx: reports.postpone(ctx, profile["id"], now), "wsp_a")


def test_an_item_that_tells_only_when_it_changed_is_dated_by_that(house: Any) -> None:
    take_stories(house, STORIES)
    profile = house.profile(topic="Strikes at European ports", keywords=["Rotterdam"])

    async def redate(ctx: Any) -> None:
        for row in (await ctx.tx.documents.scan(NEWS, limit=10)).rows:
            item = NEWS.decode(row.raw)
            old = item.published_at - timedelta(days=900)
            await ctx.save(NEWS, row.id, attrs.evolve(item, published_at=None, updated_at=old))

    house.run(redate, SYSTEM)
    assert publish(house, profile["id"]).counts.sources == 0
    row = publish(house, profile["id"], Window(house.clock.now(), None, by="published"))
    sources = read(house, row.id, "include=sources")["sources"]
    assert {source["publishedAt"][:4] for source in sources} == {"2023"}
    listing = json.loads(house.send("listNews").body)["data"]
    assert [item["updatedAt"] for item in listing] == sorted(
        (item["updatedAt"] for item in listing), reverse=True
    )


def test_the_other_items_of_a_story_are_gathered_within_the_window(
    house: Any, profile: Any
) -> None:
    since = house.clock.now()
    house.clock.advance(60)
    take_stories(house, [("Cranes stand idle", "Nobody works."), ("Dockers walk out", "All.")], 20)

    async def group(ctx: Any) -> None:
        for row in (await ctx.tx.documents.scan(NEWS, limit=10)).rows:
            item = NEWS.decode(row.raw)
            if item.title != "Dockers walk out":
                await ctx.save(NEWS, row.id, attrs.evolve(item, story_id="inc_1"))

    def titles(window: Window) -> set[str]:
        return {item.title for item in gather(house, profile["id"], window).evidence}

    house.run(group, SYSTEM)
    both = titles(Window(house.clock.now(), since - timedelta(days=2)))
    assert {STORIES[0][0], "Cranes stand idle"} <= both
    assert "Dockers walk out" not in both
    assert "Cranes stand idle" not in titles(Window(since, since - timedelta(days=2)))

    async def others(ctx: Any) -> set[str]:
        first = (await ctx.tx.documents.scan(NEWS, where={"story": ("inc_1",)}, limit=9)).rows
        items = await evidence_of(ctx, [row.id for row in first], Window(house.clock.now()))
        oldest = min(items, key=lambda item: (item.published_at, item.id))
        newest = [item for item in items if item.published_at != oldest.published_at]
        window = Window(oldest.published_at, by="published")
        return {row.id for row in await others_of_stories(ctx, newest[:1], window, limit=1)}

    # What came since a window of old dates takes no place of what lies in it.
    assert house.run(others, SYSTEM)


def test_an_older_named_period_is_recognised_behind_a_newer_report(
    house: Any, profile: Any
) -> None:
    whole = Window(house.clock.now(), None, by="published")
    last_hour = Window(house.clock.now(), house.clock.now() - timedelta(hours=1), by="published")
    first = publish(house, profile["id"], whole)
    house.clock.advance(60)
    publish(house, profile["id"], last_hour)
    changes = house.changes()
    assert publish(house, profile["id"], whole) == first
    assert house.changes() == changes


def copies_of(house: Any, row: Any, count: int) -> list[str]:
    """So many copies of a report, in its profile; their ids."""

    async def unit(ctx: Any) -> list[str]:
        facets = FACETS.decode((await ctx.load(FACETS, row.id)).raw)
        ids = [ctx.ids.new("rpt") for _ in range(count)]
        for id_ in ids:
            await ctx.create(REPORTS, id_, attrs.evolve(row, id=id_))
            await ctx.create(FACETS, id_, attrs.evolve(facets, report_id=id_))
        return ids

    ids: list[str] = house.run(unit, "wsp_a")
    return ids


def row_count(house: Any, collection: Any) -> int:
    return len(house.run(lambda ctx: ctx.tx.documents.scan(collection, limit=999), "wsp_a").rows)


def test_reports_of_a_deleted_profile_go_in_short_units_and_are_hidden_at_once(
    house: Any, profile: Any
) -> None:
    row = publish(house, profile["id"])
    ids = [row.id, *copies_of(house, row, 2 * FORGET_AT_ONCE)]
    house.send("deleteProfile", path={"profileId": profile["id"]})
    assert row_count(house, REPORTS) == row_count(house, FACETS) == len(ids) - FORGET_AT_ONCE
    assert json.loads(house.send("listReports").body)["data"] == []
    for operation in catalog.OPERATIONS:
        if "{reportId}" in operation.path:
            for id_ in (ids[0], ids[-1]):
                with pytest.raises(Problem, match="NOT_FOUND"):
                    house.send(operation.id, path={"reportId": id_})
    units = 1
    while row_count(house, LEAVING):  # whoever is killed here leaves the rest to the next
        house.run(lambda ctx: forget_reports(ctx, profile["id"]), "wsp_a")
        units += 1
    assert units == math.ceil(len(ids) / FORGET_AT_ONCE)
    assert row_count(house, REPORTS) == row_count(house, FACETS) == 0
    changes = house.run(lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=999), "wsp_a").changes
    of_reports = (item for item in changes if item.resource_type == "report")
    deletions = [report.resource_id for report in of_reports if report.change_type == "deleted"]
    assert sorted(deletions) == sorted(ids)


def test_other_reports_are_listed_while_those_of_a_deleted_profile_go(
    house: Any, profile: Any
) -> None:
    other_report = publish(house, profile["id"])
    second = house.profile(name="Other", topic=profile["topic"])
    row = publish(house, second["id"])
    copies_of(house, row, FORGET_AT_ONCE + 5)
    house.send("deleteProfile", path={"profileId": second["id"]})
    page = json.loads(house.send("listReports", query="limit=2").body)
    assert [item["id"] for item in page["data"]] == [other_report.id]
    assert page["links"]["next"] is None
    assert read(house, other_report.id)["id"] == other_report.id


def test_one_page_is_not_looked_for_among_all_that_is_hidden(house: Any, profile: Any) -> None:
    other_report = publish(house, profile["id"])
    house.clock.advance(60)
    second = house.profile(name="Other", topic=profile["topic"])
    copies_of(house, publish(house, second["id"]), FORGET_AT_ONCE + 2 * READS_MAX)
    house.send("deleteProfile", path={"profileId": second["id"]})
    ids, query, pages = [], "limit=1", 0
    while query:
        page = json.loads(house.send("listReports", query=query).body)
        ids += [item["id"] for item in page["data"]]
        cursor, pages = page["meta"]["page"]["nextCursor"], pages + 1
        query = cursor and f"limit=1&cursor={cursor}"
    assert ids == [other_report.id]
    assert pages == 3


def test_nobody_is_told_anew_of_a_report_of_a_deleted_profile(house: Any, profile: Any) -> None:
    copies_of(house, publish(house, profile["id"]), FORGET_AT_ONCE)
    house.send("deleteProfile", path={"profileId": profile["id"]})
    (row,) = house.run(lambda ctx: ctx.tx.documents.scan(REPORTS, limit=2), "wsp_a").rows
    with pytest.raises(Problem, match="NOT_FOUND"):
        house.run(lambda ctx: trigger_report(ctx, TriggerReport(row.id)), "wsp_a")


def test_an_identifier_is_never_given_twice(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])
    with pytest.raises(Problem, match="RESOURCE_CONFLICT"):
        house.run(lambda ctx: ctx.create(REPORTS, row.id, row), "wsp_a")


# -- reading -----------------------------------------------------------------------------------


def test_the_listing_shows_the_row_and_the_profile_its_newest_report(
    house: Any, profile: Any
) -> None:
    row = publish(house, profile["id"])
    listing = json.loads(house.send("listReports").body)["data"]
    assert listing == [read(house, row.id)]
    assert listing[0]["links"]["self"] == f"/api/v1/reports/{row.id}"
    of_profile = json.loads(house.send("listProfiles").body)["data"][0]
    assert of_profile["reportGeneratedAtISO"] == listing[0]["generatedAt"]
    for query, count in [
        (f"profileId={profile['id']}", 1),
        (f"profileId={profile['id'].removeprefix('prf_')}", 1),
        ("profileId=prf_" + "0" * 24, 0),
    ]:
        assert len(json.loads(house.send("listReports", query=query).body)["data"]) == count


@pytest.mark.parametrize("expansion", ["content", "sources", "signals", "graph", "audio"])
def test_an_expansion_is_there_only_when_asked_for(
    house: Any, profile: Any, expansion: str
) -> None:
    row = publish(house, profile["id"])
    assert expansion not in read(house, row.id)
    detail = read(house, row.id, f"include={expansion}")
    assert expansion in detail
    absent = {"content", "sources", "signals", "graph", "audio"} - {expansion}
    assert not absent & set(detail)


def test_each_form_of_a_report_has_its_own_tag(house: Any, profile: Any) -> None:
    path = {"reportId": publish(house, profile["id"]).id}
    queries = ["", "include=content", "include=graph,content", "view=agent", "format=markdown"]
    tags = [
        dict(house.send("getReport", path=path, query=query).headers)["ETag"] for query in queries
    ]
    assert len(set(tags)) == len(queries)
    permutation = house.send("getReport", path=path, query="include=content,graph")
    assert dict(permutation.headers)["ETag"] == tags[2]


def test_the_agents_view_has_no_markup(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])
    view = read(house, row.id, "view=agent")
    assert set(view) == {
        "id", "title", "summary", "period", "language", "keyPoints", "briefs", "notes", "signals",
        "sources",
    }  # fmt: skip
    assert all(point["citations"] for point in view["keyPoints"])
    texts = [point["text"] for point in view["keyPoints"]]
    assert view["summary"].startswith(texts[0])
    lines = [*view["keyPoints"], *view["briefs"]]
    numbers = {n for line in lines for n in (*line["citations"], *line["alsoReportedBy"])}
    assert numbers == {source["number"] for source in view["sources"]}


def test_markdown_comes_by_accept_and_by_format(house: Any, profile: Any) -> None:
    path = {"reportId": publish(house, profile["id"]).id}
    by_accept = house.send("getReport", path=path, accept="text/markdown")
    by_format = house.send("getReport", path=path, query="format=markdown")
    assert by_accept.body == by_format.body
    assert by_accept.media_type == "text/markdown; charset=utf-8"
    for options in ({"accept": "text/markdown"}, {"query": "format=markdown&"}):
        query = options.pop("query", "") + "include=content,sources,signals,graph,audio"
        reply = house.send("getReport", path=path, query=query, **options)
        assert (reply.body, reply.headers) == (by_accept.body, by_accept.headers)
    assert by_accept.body.startswith(b"# Ports")


def test_the_facets_are_their_own_objects(house: Any, profile: Any) -> None:
    path = {"reportId": publish(house, profile["id"]).id}
    signals = json.loads(house.send("getReportSignals", path=path).body)
    graph = json.loads(house.send("getReportGraph", path=path).body)
    words = json.loads(house.send("getReportText", path=path).body)
    assert isinstance(signals["signals"], list)
    nodes = {node["id"] for node in graph["nodes"]}
    assert all({edge["sourceId"], edge["targetId"]} <= nodes for edge in graph["edges"])
    assert graph["counts"]["nodes"] == len(nodes)
    assert graph["counts"]["incidentAnchors"] == len(graph["incidentAnchors"]) > 0
    assert words["wordCount"] == len(words["text"].split())
    assert words["readingTimeSeconds"] == -(-words["wordCount"] * 60 // 238)
    plain = house.send("getReportText", path=path, accept="text/plain")
    assert plain.body.decode() == words["text"]
    assert plain.media_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("words", "count"),
    [("", 0), (" one\ntwo ", 2), ("港口罢工", 2), ("港口罢", 2), ("OPEC 会议 now", 3), ("เรือ", 2)],
)
def test_words_are_counted_in_every_script(words: str, count: int) -> None:
    assert render.word_count(words) == count


def test_a_report_older_than_signals_and_graphs_says_so(house: Any, profile: Any) -> None:
    row = publish(house, profile["id"])

    async def age(ctx: Any) -> None:
        facets = FACETS.decode((await ctx.load(FACETS, row.id)).raw)
        await ctx.save(FACETS, row.id, attrs.evolve(facets, signals=None, graph=None))

    house.run(age, "wsp_a")
    path = {"reportId": row.id}
    signals = json.loads(house.send("getReportSignals", path=path).body)
    graph = json.loads(house.send("getReportGraph", path=path).body)
    assert signals["signals"] == []
    assert graph["graph"] is None
    assert set(graph["counts"].values()) == {0}
    detail = read(house, row.id, "include=signals,graph")
    assert (detail["signals"], detail["graph"]) == ([], None)


# -- words as markup ---------------------------------------------------------------------------


def test_every_representation_says_the_same(house: Any) -> None:
    statement = Statement("A <b> & c_d_", (1,))
    source = ReportSource(1, "obs_x", "Title *", "https://a.example/?q=<1>", "Paper", None)
    odd = ReportSource(2, "obs_y", "Script", "javascript:alert(1)", "Paper", house.clock.now())
    title = "1. Title"
    words = ReportWords(
        (statement,),
        (Statement("Point", (2,)),),
        (Section("s", "Heading", (Statement("Told", (1,)),), (1, 2), ()),),
        (Statement("Brief", (), (1,)),),
        (source, odd),
    )
    html = render.html_fragment(title, words)
    assert "A &lt;b&gt; &amp; c_d_" in html
    assert "javascript:" not in html
    assert html.count('id="source-') == 2
    markdown = render.markdown(title, words)
    assert markdown.startswith("# 1\\. Title\n")
    assert "javascript:" not in markdown
    assert "[Title \\*](<https://a.example/?q=%3C1%3E>), Paper, no date" in markdown
    assert "Told [1](<https://a.example/?q=%3C1%3E>)\n\nOn the same event: Paper (2)\n" in markdown
    also = "Also reported by: [Paper (1)](<https://a.example/?q=%3C1%3E>)"
    assert f"- Brief\n  {also}\n\n## Sources\n" in markdown
    assert render.report_text(title, words).split("\n\n") == [
        "1. Title", "A & c_d_", "Point", "Heading", "Told", "Brief\n",
    ]  # fmt: skip

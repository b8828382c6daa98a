"""The change feed (Spec: Representation rules 7; Events, Change feed)."""

import json
from typing import Any

from attrs import evolve

from svc_core import catalog
from svc_core.changes.render import ResourceType
from svc_core.contract.cursor import Watermark, seal_watermark
from svc_core.ledger.append.batches import SUBJECT
from svc_core.operation.ports import Change
from svc_core.testing.clock import START


def page(house: Any, tenant: str = "wsp_a", query: str = "") -> Any:
    return json.loads(house.send("listChanges", tenant=tenant, query=query).body)


def test_every_published_kind_is_named_in_the_interface() -> None:
    kinds = {collection.kind for collection in catalog.COLLECTIONS if collection.kind}
    # A ledger is no collection; it publishes the subjects that it is about.
    assert kinds | {SUBJECT} == set(ResourceType.__args__)  # type: ignore[attr-defined]


def test_an_empty_feed_still_has_a_watermark(house: Any) -> None:
    empty = page(house)
    assert empty["data"] == []
    assert empty["meta"]["watermark"].startswith("w1.")
    assert empty["links"]["next"] is None


def test_resuming_from_a_watermark_misses_and_repeats_nothing(house: Any) -> None:
    for name in "abc":
        house.profile(name=name)
    whole = page(house)["data"]
    seen: list[Any] = []
    query = "limit=2"
    while True:
        part = page(house, query=query)
        seen += part["data"]
        if not part["data"]:
            break
        query = f"limit=2&after={part['meta']['watermark']}"
    assert seen == whole
    assert len(whole) == 6


def test_a_change_says_what_happened_to_what(house: Any) -> None:
    profile = house.profile()
    house.send("updateProfile", path={"profileId": profile["id"]}, body={"name": "B"})
    house.send("deleteProfile", path={"profileId": profile["id"]})
    rows = [row for row in page(house)["data"] if row["resourceType"] == "profile"]
    assert [row["changeType"] for row in rows] == ["created", "updated", "deleted"]
    assert [row["tombstone"] for row in rows] == [False, False, True]
    assert [row["version"] for row in rows] == [1, 2, 3]
    assert [row["changedFields"] for row in rows] == [None, ["name"], None]
    assert {(row["lastState"], row["mergedIntoId"]) for row in rows} == {(None, None)}
    assert {row["resourceId"] for row in rows} == {profile["id"]}
    assert rows[0]["links"]["self"] == f"/api/v1/profiles/{profile['id']}"
    assert rows[0]["occurredAt"] == "2026-01-02T03:04:05Z"
    assert "count" not in page(house)["meta"]


def test_a_change_of_what_everybody_reads_says_what_became_of_it(house: Any) -> None:
    change = Change("chg_1", "updated", "newsItem", "obs_1", 2, START, None, everybody=True)
    rows = (
        evolve(change, changed_fields=()),
        evolve(change, change_type="deleted", last_state=b'{"id":"obs_1","title":"\\u0000"}'),
        evolve(change, change_type="merged", merged_into_id="obs_2"),
        evolve(change, change_type="restored"),
    )

    async def append(ctx: Any) -> None:
        for change in rows:
            await ctx.tx.changes.append(change)

    house.run(append)
    names = ("changeType", "tombstone", "changedFields", "lastState", "mergedIntoId")
    assert [tuple(row[name] for name in names) for row in page(house)["data"]] == [
        ("updated", False, [], None, None),
        ("deleted", True, None, {"id": "obs_1", "title": "\0"}, None),
        ("merged", False, None, None, "obs_2"),
        ("restored", False, None, None, None),
    ]


def test_a_filter_skips_rows_and_still_advances(house: Any) -> None:
    house.profile()
    only = page(house, query="types=subscription")
    assert {row["resourceType"] for row in only["data"]} == {"subscription"}
    assert page(house, query=f"after={only['meta']['watermark']}")["data"] == []


def test_a_spoilt_or_foreign_watermark_is_refused(house: Any) -> None:
    house.profile()
    mark = page(house)["meta"]["watermark"]
    for text in ("w1.nonsense", "x", mark[:-1], ""):
        refusal = house.refusal("listChanges", query=f"after={text}")
        assert refusal.type.code == "INVALID_WATERMARK"
    foreign = house.refusal("listChanges", tenant="wsp_b", query=f"after={mark}")
    assert foreign.type.code == "INVALID_WATERMARK"


def test_the_cursor_of_a_page_is_taken_as_on_every_list(house: Any) -> None:
    for name in "abc":
        house.profile(name=name)
    whole = page(house)
    assert whole["meta"]["page"]["nextCursor"] is None
    seen: list[Any] = []
    query: str | None = "limit=2&types=profile,subscription"
    while query is not None:
        part = page(house, query=query)
        seen += part["data"]
        token, link = part["meta"]["page"]["nextCursor"], part["links"]["next"]
        # What goes on is the watermark, by whichever name the page was asked for.
        assert token in (None, part["meta"]["watermark"])
        query = None if token is None else f"limit=2&types=profile,subscription&cursor={token}"
        if "cursor" in (query or "") and link is not None and seen != part["data"]:
            assert "after=" not in link
            assert page(house, query=link.partition("?")[2]) == page(house, query=query or "")
    assert seen == whole["data"]


def test_a_cursor_of_the_feed_is_refused_as_one_and_stands_alone(house: Any) -> None:
    house.profile()
    mark = page(house)["meta"]["watermark"]
    for tenant, query, code in (
        ("wsp_a", "cursor=w1.nonsense", "INVALID_CURSOR"),
        ("wsp_a", f"cursor={mark[:-1]}{'A' if mark[-1] != 'A' else 'B'}", "INVALID_CURSOR"),
        ("wsp_b", f"cursor={mark}", "INVALID_CURSOR"),
        ("wsp_a", f"cursor={mark}&after={mark}", "CONFLICTING_PARAMETERS"),
        ("wsp_a", f"tail=true&cursor={mark}&after={mark}", "CONFLICTING_PARAMETERS"),
        ("wsp_b", f"tail=true&cursor={mark}", "INVALID_CURSOR"),
    ):
        assert house.refusal("listChanges", tenant=tenant, query=query).type.code == code
    gone_id = seal_watermark(Watermark(b"another!", 0, 0), "wsp_a")
    assert house.refusal("listChanges", query=f"cursor={gone_id}").type.code == "WATERMARK_GONE"
    for query in (f"tail=true&cursor={mark}", f"tail=true&after={mark}"):
        assert house.send("listChanges", query=query).stream is not None
    # The event that was seen last beats both.
    values = {"query": f"tail=true&cursor={mark}&after={mark}", "last_event_id": mark}
    assert house.send("listChanges", **values).stream is not None


def test_a_watermark_of_another_life_is_gone(house: Any) -> None:
    for mark in (Watermark(b"another!", 0, 0),):
        text = seal_watermark(mark, "wsp_a")
        assert house.refusal("listChanges", query=f"after={text}").type.code == "WATERMARK_GONE"


def test_a_watermark_ahead_of_the_feed_is_gone(house: Any) -> None:
    async def epoch(ctx: Any) -> bytes:
        return bytes(await ctx.tx.changes.epoch())

    life = house.run(epoch)
    for mark in (Watermark(life, 5, 0), Watermark(life, 0, 5)):
        text = seal_watermark(mark, "wsp_a")
        assert house.refusal("listChanges", query=f"after={text}").type.code == "WATERMARK_GONE"

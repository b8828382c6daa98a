"""The change feed as a stream: the rows of the pages, each with the watermark after it."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from attrs import evolve

from svc_core import wire
from svc_core.base import drive
from svc_core.changes.render import ChangeRow, dump_change
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import FeedPosition, Transaction
from svc_core.operation.stream import Stream


class EndedError(Exception):
    """There is nothing more to tell."""


class Watch:
    """A look at the house's store that tells of no news: whoever waits has seen everything."""

    def __init__(self, house: Any, tenant: str = "wsp_a") -> None:
        self.house = house
        self.tenant = tenant
        self.waited = 0

    async def read(self, usecase: Callable[[Context], Awaitable[Any]]) -> Any:
        async def unit(tx: Transaction) -> Any:
            return await usecase(self.house.context(tx, self.tenant, "listChanges"))

        return await self.house.store.read(self.tenant, unit)

    async def news(self) -> None:
        self.waited += 1


def open_tail(house: Any, query: str = "tail=true", tenant: str = "wsp_a", **fields: str) -> Stream:
    reply = house.send("listChanges", tenant=tenant, query=query, **fields)
    assert (reply.status, reply.media_type, reply.body) == (200, "text/event-stream", b"")
    assert reply.fleeting
    assert ("X-Accel-Buffering", "no") in reply.headers
    assert reply.stream is not None
    return reply.stream  # type: ignore[no-any-return]


def events(data: bytes) -> list[tuple[str, dict[str, Any]]]:
    """The id and the row of each event."""
    rows = []
    for block in data.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line)
        if fields.get("event") == "change":
            rows.append((fields["id"], json.loads(fields["data"])))
    return rows


def collect(stream: Stream, watch: Watch) -> bytes:
    """Everything until there is nothing more to tell."""

    async def collect() -> bytes:
        stream_bytes = b""
        parts: AsyncIterator[bytes] = stream.parts(watch)
        async for part in parts:
            stream_bytes += part
            if watch.waited:
                break
        await parts.aclose()  # type: ignore[attr-defined]
        return stream_bytes

    return drive.run(collect())


def whole(house: Any, query: str = "tail=true", **fields: str) -> list[tuple[str, Any]]:
    class Once(Watch):
        async def news(self) -> None:
            raise EndedError

    stream_bytes = b""

    async def collect() -> None:
        nonlocal stream_bytes
        async for part in open_tail(house, query, **fields).parts(Once(house)):
            stream_bytes += part

    with pytest.raises(EndedError):
        drive.run(collect())
    assert stream_bytes.startswith(b"retry: 1000\n\n")
    return events(stream_bytes)


def test_the_rows_are_those_of_the_pages_in_their_order(house: Any) -> None:
    assert whole(house) == []
    for name in "abc":
        house.profile(name=name)
    house.add()
    assert [row for _, row in whole(house)] == house.changes()


def test_the_quick_form_of_a_row_is_the_form_of_its_model(house: Any) -> None:
    profile = house.profile()
    house.send("deleteProfile", path={"profileId": profile["id"]})
    house.add()
    records_ = house.run(lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=100), "wsp_a")
    assert len(records_.changes) == 4
    for change in records_.changes:
        for row in (change, evolve(change, path=None, resource_id='"\u2028é')):
            raw = dump_change(row, Actor("wsp_a"))
            assert wire.to_bytes(wire.from_bytes(ChangeRow, raw)) == raw


def test_each_event_is_a_place_to_go_on_from(house: Any) -> None:
    for name in "abc":
        house.profile(name=name)
    rows = whole(house)
    for at, (mark, _) in enumerate(rows, 1):
        assert whole(house, f"tail=true&after={mark}") == rows[at:]
        assert house.rows("listChanges", f"after={mark}") == [row for _, row in rows[at:]]


def test_the_last_event_beats_the_address_that_is_repeated(house: Any) -> None:
    house.profile()
    rows = whole(house)
    first, last = rows[0][0], rows[-1][0]
    assert whole(house, f"tail=true&after={first}", last_event_id=last) == []
    assert house.rows("listChanges", "limit=100") == [row for _, row in rows]


def test_rows_that_are_not_wanted_are_passed_over_and_counted(house: Any) -> None:
    for name in "ab":
        house.profile(name=name)
    rows = whole(house)
    only = whole(house, "tail=true&types=subscription")
    assert only == [pair for pair in rows if pair[1]["resourceType"] == "subscription"]
    assert len(only) == 2


def test_a_feed_of_many_pages_comes_in_parts(house: Any) -> None:
    for number in range(100):  # as many as a workspace may have: two rows each
        house.profile(name=f"P{number}")
    rows = whole(house)
    assert len(rows) == 200
    assert len({mark for mark, _ in rows}) == 200


def test_what_is_committed_while_it_waits_comes_next(house: Any) -> None:
    class Busy(Watch):
        async def news(self) -> None:
            if self.waited:
                self.waited += 1
            else:
                self.house.profile(name="late")
                self.waited = 1

    watch = Busy(house)
    assert [row["resourceType"] for _, row in events(collect(open_tail(house), watch))] == [
        "profile",
        "subscription",
    ]


def test_tenants_do_not_see_each_other(house: Any) -> None:
    house.profile("wsp_a")
    stream = open_tail(house, tenant="wsp_b")

    class Once(Watch):
        async def news(self) -> None:
            raise EndedError

    async def first() -> bytes:
        stream_bytes = b""
        try:
            async for part in stream.parts(Once(house, "wsp_b")):
                stream_bytes += part
        except EndedError:
            return stream_bytes
        raise AssertionError("it waits for news")

    assert events(drive.run(first())) == []


def test_a_stream_ends_in_its_own_words(house: Any) -> None:
    stream = open_tail(house)
    assert stream.heartbeat == b": keep-alive\n\n"
    assert stream.farewell(None) == b"event: end\ndata: {}\n\n"
    assert stream.farewell(b'{"code":"X"}') == b'event: end\ndata: {"code":"X"}\n\n'


@pytest.mark.parametrize(
    ("query", "fields", "kind"),
    [
        ("", {"accept": "text/event-stream"}, problem.NOT_ACCEPTABLE),
        ("tail=false", {"accept": "text/event-stream"}, problem.NOT_ACCEPTABLE),
        ("tail=true", {"accept": "application/json"}, problem.NOT_ACCEPTABLE),
        ("tail=true&format=json", {}, problem.INVALID_PARAMETER),
        ("format=sse", {}, problem.INVALID_PARAMETER),
        ("tail=yes", {}, problem.INVALID_PARAMETER),
        ("tail=true&after=w1.x", {}, problem.INVALID_WATERMARK),
        ("tail=true", {"last_event_id": "w1.x"}, problem.INVALID_WATERMARK),
    ],
)
def test_what_is_no_stream_is_refused_before_it_begins(
    house: Any, query: str, fields: dict[str, str], kind: Any
) -> None:
    refusal: Problem = house.refusal("listChanges", query=query, **fields)
    assert refusal.type is kind


@pytest.mark.parametrize(
    ("query", "accept"),
    [("tail=true", "*/*"), ("tail=true", "text/event-stream"), ("tail=true&format=sse", "*/*")],
)
def test_a_stream_is_given_by_tail(house: Any, query: str, accept: str) -> None:
    open_tail(house, query, accept=accept)

"""Streams: begun and ended as promised, whoever ends them, and counted while they are open."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.base.seals import Keyring
from svc_core.contract import problem
from svc_core.contract.answer import Answer
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import Overloaded, StorageUnavailable
from svc_core.operation.stream import Stream
from svc_core.testing.clock import START
from svc_http.exchange.fair_shares import BOUNDS, Bound, Load
from svc_http.exchange.flow import Flow
from svc_http.exchange.http_exchange import ClientGoneError, Exchange
from svc_http.guard import streams
from svc_http.guard.streams import StreamRooms
from svc_http.service.commits import Commits, StoreWatch
from svc_http.stores import MemoryStorage

TAIL = "/api/v2/changes"

SOON = 60.0
"""What has not come by then never comes: a busy machine takes its time."""


# -- one flow ----------------------------------------------------------------------------------


class Client:
    """The other end of a stream, in ASGI's words; it reads at once unless told otherwise."""

    def __init__(self) -> None:
        self.output = b""
        self.is_begun = False
        self.is_over = False
        self.is_told_the_end = False
        self.sending = asyncio.Event()
        self.first_bytes = asyncio.Event()
        self.leaving = asyncio.Event()
        self.reading = asyncio.Event()
        self.reading.set()

    async def receive(self) -> Any:
        await self.leaving.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.is_begun = True
            return
        self.is_told_the_end = not message["more_body"]
        self.sending.set()
        await self.reading.wait()
        self.output += message.get("body", b"")
        self.is_over = not message["more_body"]
        self.first_bytes.set()


def farewell(problem_: bytes | None) -> bytes:
    return b"[end %b]" % (b"" if problem_ is None else json.loads(problem_)["code"].encode())


def flow(client: Client, parts: Callable[[Any], AsyncIterator[bytes]], **how: Any) -> Flow:
    scope = {"method": "GET", "path": TAIL, "query_string": b"", "headers": []}
    load = Load(1, lambda _: "")
    storage = MemoryStorage(())

    async def may() -> None:
        return None

    watch = StoreWatch(storage, "", lambda tx, now: tx, Commits(storage), lambda: None)  # type: ignore[arg-type,return-value]
    exchange = Exchange(scope, client.receive, client.send, 1_000, load)
    options = {field.name for field in attrs.fields(Stream)} & set(how)
    flow_ = Flow(
        exchange=exchange,
        stream=Stream(
            "text/plain",
            parts,
            b"[beat]",
            how.pop("farewell", farewell),
            **{name: how.pop(name) for name in options - {"farewell"}},
        ),
        watch=watch,
        begin=lambda: exchange.begin(200, []),
        room=contextlib.nullcontext(),
        check_access=may,
        drain=asyncio.Event(),
        origin="https://api.example.org",
    )
    return attrs.evolve(flow_, **how)


async def one_and_wait(_: Any) -> AsyncIterator[bytes]:
    yield b"one"
    await asyncio.Event().wait()


async def client_of(parts: Any = one_and_wait, **how: Any) -> Client:
    """What a client has heard when the flow is over, which must be soon."""
    client = Client()
    async with asyncio.timeout(SOON):
        await flow(client, parts, **how).run()
    return client


def run(work: Any) -> Any:
    return asyncio.run(work)


def test_parts_that_end_end_the_answer() -> None:
    async def two(_: Any) -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    client = run(client_of(two))
    assert (client.output, client.is_over) == (b"onetwo", True)


def test_its_time_is_over_with_a_word() -> None:
    client = run(client_of(seconds_max=0.05))
    assert (client.output, client.is_over) == (b"one[end ]", True)


def test_silence_is_broken_by_heartbeats() -> None:
    client = run(client_of(seconds_max=1.0, heartbeat_seconds=0.03))
    assert client.output.startswith(b"one[beat][beat]")
    assert client.output.endswith(b"[end ]")


def test_the_end_of_the_server_is_told() -> None:
    async def go() -> Client:
        client, drain = Client(), asyncio.Event()
        running = asyncio.create_task(flow(client, one_and_wait, drain=drain).run())
        await client.first_bytes.wait()
        drain.set()
        async with asyncio.timeout(SOON):
            await running
        return client

    client = run(go())
    assert (client.output, client.is_over) == (b"one[end SHUTTING_DOWN]", True)


def test_a_key_that_may_no_longer_read_ends_it() -> None:
    calls = []

    async def check_access() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise Problem(problem.API_KEY_REVOKED)

    client = run(client_of(check_access=check_access, recheck_seconds=0.01))
    assert (client.output, client.is_over) == (b"one[end API_KEY_REVOKED]", True)


def test_a_key_that_may_no_longer_read_is_told_nothing_more() -> None:
    is_revoked = False

    async def check_access() -> None:
        if is_revoked:
            raise Problem(problem.API_KEY_REVOKED)

    async def parts(_: Any) -> AsyncIterator[bytes]:
        nonlocal is_revoked
        yield b"one"
        is_revoked = True
        yield b"two"

    client = run(client_of(parts, check_access=check_access))
    assert (client.output, client.is_over) == (b"one[end API_KEY_REVOKED]", True)


def test_an_end_that_is_for_nobody_any_more_is_no_end() -> None:
    is_revoked = False

    async def check_access() -> None:
        if is_revoked:
            raise Problem(problem.API_KEY_REVOKED)

    async def parts(_: Any) -> AsyncIterator[bytes]:
        nonlocal is_revoked
        yield b"one"
        is_revoked = True
        yield b"[end]"

    client = run(client_of(parts, check_access=check_access, farewell=lambda _: b""))
    assert (client.output, client.is_told_the_end) == (b"one", False)


@pytest.mark.parametrize(
    ("held_up", "last"), [("key", b"SHUTTING_DOWN"), ("beat", b"SHUTTING_DOWN"), ("time", b"")]
)
def test_what_was_made_goes_out_before_the_end(held_up: str, last: bytes) -> None:
    async def go() -> Client:
        client, drain = Client(), asyncio.Event()
        ready, asking = asyncio.Event(), asyncio.Event()

        async def parts(_: Any) -> AsyncIterator[bytes]:
            yield b"one"
            await ready.wait()
            yield b"two"
            await asyncio.Event().wait()

        async def check_access() -> None:
            if ready.is_set():
                asking.set()
                if held_up != "beat":
                    await asyncio.Event().wait()

        how: dict[str, Any] = {"heartbeat_seconds": 0.01} if held_up == "beat" else {}
        if held_up == "time":
            how["seconds_max"] = 0.1
        running = asyncio.create_task(
            flow(client, parts, drain=drain, check_access=check_access, **how).run()
        )
        await client.first_bytes.wait()
        if held_up == "beat":
            client.reading.clear()
            client.sending.clear()
            await client.sending.wait()
        ready.set()
        await asking.wait()
        if held_up != "time":
            drain.set()
            for _ in range(9):
                await asyncio.sleep(0)
        client.reading.set()
        async with asyncio.timeout(SOON):
            await running
        return client

    client = run(go())
    assert client.output.replace(b"[beat]", b"") == b"onetwo[end %b]" % last
    assert client.is_over


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (Problem(problem.WATERMARK_GONE), b"WATERMARK_GONE"),
        (StorageUnavailable("disk full"), b"STORAGE_UNAVAILABLE"),
        (Overloaded(), b"OVERLOADED"),
        (RuntimeError("a defect"), b"INTERNAL_ERROR"),
    ],
)
def test_what_goes_wrong_is_told_within_and_what_is_no_refusal_goes_to_the_log(
    failure: Exception, code: bytes
) -> None:
    async def fail(_: Any) -> AsyncIterator[bytes]:
        yield b"one"
        raise failure

    client = Client()
    expected = (
        contextlib.nullcontext() if code == b"WATERMARK_GONE" else pytest.raises(type(failure))
    )
    with expected:
        run(flow(client, fail).run())
    assert (client.output, client.is_over) == (b"one[end %b]" % code, True)


def test_whoever_leaves_is_noticed_and_everything_is_given_back() -> None:
    given_back = []

    async def parts(_: Any) -> AsyncIterator[bytes]:
        try:
            yield b"one"
            await asyncio.Event().wait()
        finally:
            given_back.append(True)

    async def go() -> Client:
        client = Client()
        running = asyncio.create_task(flow(client, parts).run())
        await client.first_bytes.wait()
        client.leaving.set()
        async with asyncio.timeout(SOON):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return client

    client = run(go())
    assert (client.output, client.is_over, given_back) == (b"one", False, [True])


def test_whoever_does_not_read_is_cut_off() -> None:
    async def go(parts: Any, **how: Any) -> Client:
        client = Client()
        client.reading.clear()
        async with asyncio.timeout(SOON):
            await flow(client, parts, slow_seconds=0.05, **how).run()
        return client

    async def silent(_: Any) -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    assert run(go(one_and_wait)).output == b""
    assert run(go(silent, heartbeat_seconds=0.01)).output == b""


def test_a_farewell_waits_for_nobody() -> None:
    async def go() -> None:
        client, drain = Client(), asyncio.Event()
        running = asyncio.create_task(flow(client, one_and_wait, drain=drain).run())
        await client.first_bytes.wait()
        client.reading.clear()
        drain.set()
        async with asyncio.timeout(SOON):
            await running
        # What was not taken whole has no end: nobody takes it for an answer.
        assert not client.is_told_the_end

    run(go())


class Bill:
    """How often a stream was settled."""

    def __init__(self) -> None:
        self.times = 0

    async def settle(self) -> None:
        await asyncio.sleep(0)
        self.times += 1


async def refuses(_: Any) -> AsyncIterator[bytes]:
    raise Problem(problem.PROVIDER_CREDITS_EXHAUSTED)
    yield b""


async def waits(_: Any) -> AsyncIterator[bytes]:
    await asyncio.Event().wait()
    yield b""


def test_what_refuses_while_the_head_waits_is_the_whole_answer() -> None:
    client, bill = Client(), Bill()
    with pytest.raises(Problem, match="PROVIDER_CREDITS_EXHAUSTED"):
        run(flow(client, refuses, patience_seconds=SOON, settle=bill.settle).run())
    assert (client.is_begun, client.output, bill.times) == (False, b"", 1)


def test_whoever_leaves_while_the_head_waits_is_noticed() -> None:
    async def go() -> None:
        client.leaving.set()
        async with asyncio.timeout(SOON):
            await flow(client, waits, patience_seconds=SOON, settle=bill.settle).run()

    client, bill = Client(), Bill()
    with pytest.raises(ClientGoneError):
        run(go())
    assert (client.is_begun, bill.times) == (False, 1)


def test_the_end_of_the_server_while_the_head_waits_is_a_refusal() -> None:
    async def go() -> None:
        drain = asyncio.Event()
        drain.set()
        async with asyncio.timeout(SOON):
            await flow(client, waits, patience_seconds=SOON, drain=drain).run()

    client = Client()
    with pytest.raises(Problem, match="SHUTTING_DOWN") as refusal:
        run(go())
    assert refusal.value.headers["Retry-After"]
    assert not client.is_begun


def test_a_head_waits_no_longer_than_it_may_and_what_fails_later_is_told_within() -> None:
    async def late(_: Any) -> AsyncIterator[bytes]:
        await client.first_bytes.wait()
        raise Problem(problem.PROVIDER_CREDITS_EXHAUSTED)
        yield b""

    client, bill = Client(), Bill()
    run(flow(client, late, patience_seconds=0.01, settle=bill.settle).run())
    assert client.output == b"[beat][end PROVIDER_CREDITS_EXHAUSTED]"
    assert (client.is_begun, client.is_over, bill.times) == (True, True, 1)


def test_a_stream_without_a_part_is_an_empty_answer() -> None:
    async def empty(_: Any) -> AsyncIterator[bytes]:
        yield b""

    client = run(client_of(empty, patience_seconds=SOON))
    assert (client.is_begun, client.output, client.is_over) == (True, b"", True)


def test_who_never_waits_leaves_room_for_everybody_else() -> None:
    async def endless(_: Any) -> AsyncIterator[bytes]:
        while True:
            yield b""

    async def go() -> None:
        client = Client()
        running = asyncio.create_task(flow(client, endless, settle=bill.settle).run())
        await asyncio.sleep(0)
        client.leaving.set()
        async with asyncio.timeout(SOON):
            await running

    bill = Bill()
    run(go())
    assert bill.times == 1


@pytest.mark.parametrize("how", ["cancelled", "no room", "broken pipe", "slow"])
def test_whatever_happens_it_is_settled_once(how: str) -> None:
    async def go() -> None:
        client = Client()
        options: dict[str, Any] = {"settle": bill.settle}
        if how == "no room":
            options["room"] = StreamRooms(Bound(0)).room(key="k")
        if how == "slow":
            options["slow_seconds"] = 0.01
            client.reading.clear()
        flow_ = flow(client, one_and_wait, **options)
        if how == "broken pipe":
            flow_.exchange._send = fail
        running = asyncio.create_task(flow_.run())
        if how == "cancelled":
            await client.first_bytes.wait()
            running.cancel()
        async with asyncio.timeout(SOON):
            await asyncio.gather(running, return_exceptions=True)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    async def fail(message: Any) -> None:
        raise OSError(113, "No route to host")

    bill = Bill()
    run(go())
    assert bill.times == 1


def test_an_answer_that_cannot_be_settled_has_its_end_all_the_same() -> None:
    async def part(_: Any) -> AsyncIterator[bytes]:
        yield b"one"

    async def settle() -> None:
        raise Overloaded

    client = Client()
    with pytest.raises(Overloaded):
        run(flow(client, part, settle=settle).run())
    assert (client.output, client.is_over) == (b"one", True)


def test_streams_of_one_kind_take_no_room_of_another() -> None:
    rooms = streams.rooms()
    with contextlib.ExitStack() as stack:
        for number in range(BOUNDS["agent streams"].places):
            caller = {"key": f"k{number}", "address": f"a{number}", "workspace": f"w{number}"}
            stack.enter_context(rooms["agent"].room(**caller))
        with pytest.raises(Problem, match="OVERLOADED"):
            stack.enter_context(rooms["agent"].room(key="k", address="a", workspace="w"))
        stack.enter_context(rooms["account"].room(key="k", address="a", workspace="w"))


@pytest.mark.parametrize(
    ("shared", "places"), [("key", 2), ("address", 3), ("workspace", 4), ("nothing", 5)]
)
def test_only_so_many_are_open(shared: str, places: int) -> None:
    rooms = StreamRooms(Bound(5, {"key": 2, "address": 3, "workspace": 4}))

    def stream(number: int) -> contextlib.AbstractContextManager[None]:
        names = ("key", "address", "workspace")
        return rooms.room(**{name: "same" if name == shared else str(number) for name in names})

    with contextlib.ExitStack() as stack:
        for number in range(places):
            stack.enter_context(stream(number))
        assert len(rooms) == places
        with pytest.raises(Problem) as refusal:
            stack.enter_context(stream(places))
    assert refusal.value.type is problem.OVERLOADED
    assert refusal.value.headers["Retry-After"] == "1"
    assert len(rooms) == 0
    assert not rooms._places_of


# -- waiting for commits -----------------------------------------------------------------------


def test_a_commit_wakes_whoever_waits_and_none_is_missed() -> None:
    async def go() -> None:
        storage = MemoryStorage(catalog.COLLECTIONS)
        commits = Commits(storage)
        assert not await commits.after(commits.version, 0.01)

        async def write(tx: Any) -> None:
            await tx.answers.put("op", "key", Answer(b"", 200, (), b"", START))

        before = commits.version
        waiting = [asyncio.create_task(commits.after(before, 5)) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.to_thread(lambda: asyncio.run(storage.write("", write)))
        async with asyncio.timeout(SOON):
            assert await asyncio.gather(*waiting) == [True] * 3
            assert await commits.after(before, 5)

    run(go())
    run(go())


def test_a_commit_after_the_end_of_the_loop_wakes_nobody() -> None:
    storage = MemoryStorage(catalog.COLLECTIONS)
    commits = Commits(storage)
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(commits.after(0, 5))
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    commits._wake(frozenset({"news"}))
    waiting._log_destroy_pending = False  # type: ignore[attr-defined]
    with contextlib.suppress(RuntimeError):
        waiting.get_coro().close()
    assert run(commits.after(-1, 0.1))


# -- over the whole service --------------------------------------------------------------------


class Seat:
    """One request whose answer is read as it comes."""

    def __init__(self, house: Any, key: str, query: str = "tail=true", **fields: str) -> None:
        self.client = Client()
        self.head: dict[str, Any] = {}
        fields_sent = {"authorization": f"Bearer {key}", **fields}
        self.scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": TAIL,
            "raw_path": TAIL.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(n.replace("_", "-").encode(), v.encode()) for n, v in fields_sent.items()],
            "client": ("127.0.0.1", 5000),
        }
        self.task = asyncio.create_task(house.service(self.scope, self._receive, self._send))
        self._is_read = False

    async def _receive(self) -> Any:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        return await self.client.receive()

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.head = message
        else:
            await self.client.send(message)

    async def until(self, text: bytes) -> bytes:
        async with asyncio.timeout(SOON):
            while text not in self.client.output:
                self.client.first_bytes.clear()
                await self.client.first_bytes.wait()
        return self.client.output

    async def leave(self) -> None:
        self.client.leaving.set()
        async with asyncio.timeout(SOON):
            await self.task

    @property
    def fields(self) -> dict[str, str]:
        return {n.decode(): v.decode() for n, v in self.head["headers"]}


@pytest.fixture
def whole(make_house: Any) -> Any:
    storage = MemoryStorage(catalog.COLLECTIONS)
    return make_house(parts={"operations": catalog.OPERATIONS, "storage": storage})


def test_a_stream_is_counted_once_and_seen_in_the_metrics(whole: Any) -> None:
    key = whole.key("osint:read", "profiles:write")

    async def go() -> None:
        seat = Seat(whole, key, origin="https://shop.example")
        await seat.until(b"retry")
        assert seat.head["status"] == 200
        assert seat.fields["content-type"] == "text/event-stream"
        assert seat.fields["cache-control"] == "private, no-store"
        assert seat.fields["x-accel-buffering"] == "no"
        assert "content-length" not in seat.fields
        assert "access-control-expose-headers" in seat.fields
        remaining = int(seat.fields["x-ratelimit-remaining-minute"])
        assert len(whole.service.runtime.streams["account"]) == 1
        again = Seat(whole, key)
        await again.until(b"retry")
        assert int(again.fields["x-ratelimit-remaining-minute"]) == remaining - 1
        await seat.leave()
        await again.leave()
        assert len(whole.service.runtime.streams["account"]) == 0
        assert whole.service.edge.under_way == 0

    whole.run(go())
    assert "svc_streams_open 0.0" in whole.ask("GET", "/metrics").text


def test_more_streams_of_one_key_than_there_may_be_are_refused(whole: Any) -> None:
    key = whole.key("osint:read")

    async def go() -> bytes:
        seats = [Seat(whole, key) for _ in range(BOUNDS["account streams"].each["key"])]
        for seat in seats:
            await seat.until(b"retry")
        refused_seat = Seat(whole, key)
        async with asyncio.timeout(SOON):
            await refused_seat.task
        assert refused_seat.head["status"] == 503
        for seat in seats:
            await seat.leave()
        return refused_seat.client.output

    assert json.loads(whole.run(go()))["code"] == "OVERLOADED"


def test_a_row_comes_when_it_is_committed_and_a_revoked_key_ends_it(
    whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = whole.key("osint:read", "profiles:write")

    async def go() -> bytes:
        seat = Seat(whole, key)
        await seat.until(b"retry")
        second = Seat(whole, key)  # a second one, to see that both hear of it
        await second.until(b"retry")
        await second.leave()
        [entry] = whole.service.runtime.principals._entries.values()

        async def unit(tx: Any) -> Any:
            ctx = Context(
                whole.clock(), whole.ids, Actor(""), "t", Keyring({1: b"k" * 32}, 1), tx=tx
            )
            return await accounts.revoke_key(ctx, entry.principal.key.id)

        await whole.storage.write("", unit)
        async with asyncio.timeout(SOON):
            await seat.task
        return seat.client.output

    monkeypatch.setattr("svc_http.adapter.endpoints.Flow", _quick)
    assert b'"code":"API_KEY_REVOKED"' in whole.run(go())


def _quick(**parts: Any) -> Flow:
    return Flow(**parts, recheck_seconds=0.05)


def test_head_has_the_fields_and_no_stream(whole: Any) -> None:
    key = whole.key("osint:read")
    answer = whole.ask("HEAD", f"{TAIL}?tail=true", key)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "text/event-stream"

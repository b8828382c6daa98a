"""Floods by clients that do nothing but hold on: whoever has a key is served all the while."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_http.exchange import http_exchange as exchange
from svc_http.exchange.fair_shares import BOUNDS, FEW, Bound, Shares
from svc_http.guard import edge
from svc_http.guard import gate as gather
from svc_http.stores import MemoryStorage

NOTES = "/api/v1/notes"
UNKNOWN = "svc_f{:063x}"
GOOD = b'{"text":"a"}'


class Client:
    """One request of a client that says what it is given and no more, at its own address."""

    def __init__(self, house, path, *lines, method="GET", at=1, frames=(), reads=True):
        self.events = []
        self._messages = [*frames]
        self._reads = reads
        self.has_more = asyncio.Event()
        scope = {
            "type": "http", "http_version": "1.1", "method": method, "path": path,
            "raw_path": path.encode(), "query_string": b"", "client": (f"203.0.113.{at}", 1),
            "headers": [(name.encode(), value.encode()) for name, value in lines],
        }  # fmt: skip
        self.task = asyncio.create_task(house.service(scope, self._receive, self._send))

    async def _receive(self):
        if not self._messages:
            await self.has_more.wait()
        return self._messages.pop(0)

    async def _send(self, message):
        self.events.append(message)
        if not self._reads and message["type"] == "http.response.body":
            await asyncio.Event().wait()

    def say(self, *chunks):
        last = len(chunks) - 1
        self._messages = [
            {"type": "http.request", "body": chunk, "more_body": number < last}
            for number, chunk in enumerate(chunks)
        ]
        self.has_more.set()

    async def status(self):
        await self.task
        return self.events[0]["status"]


def bearer(key):
    return ("authorization", f"Bearer {key}")


def posting(key, number=0):
    """The fields of a request with a body that is yet to come."""
    return (
        bearer(key), ("content-type", "application/json"), ("content-length", str(len(GOOD))),
        ("idempotency-key", f"{number:08d}"),
    )  # fmt: skip


async def until(is_so):
    while not is_so():  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0)


async def cancel_all(clients):
    for client in clients:
        client.task.cancel()
    await asyncio.gather(*(client.task for client in clients), return_exceptions=True)


# -- working slots -----------------------------------------------------------------------------

FLOODS = {
    "slow bodies": lambda house, key, at: Client(
        house, NOTES, *posting(key, at), method="POST", at=at
    ),
    "lingering refusals": lambda house, key, at: Client(
        house, "/nowhere", ("content-length", "9"), method="POST", at=at
    ),
    "lingering strangers": lambda house, key, at: Client(
        house, NOTES, ("content-length", "9"), method="POST", at=at
    ),
    "unread answers": lambda house, key, at: Client(house, "/livez", at=at, reads=False),
    "unread pages": lambda house, key, at: Client(house, NOTES, bearer(key), at=at, reads=False),
}
SLOTS = 3


@pytest.mark.parametrize("kind", FLOODS)
def test_whoever_waits_for_its_client_holds_no_working_slot(make_house, kind):
    house = make_house(in_flight_max=SLOTS)
    key, other_key = house.key(), house.key()
    load, edge = house.service.runtime.load, house.service.edge

    async def go():
        flood = [FLOODS[kind](house, other_key, at) for at in range(SLOTS)]
        await until(lambda: edge.under_way == SLOTS and not load.in_flight)
        reader = Client(house, NOTES, bearer(key), at=99)
        writer = Client(house, NOTES, *posting(key), method="POST", at=99)
        writer.say(GOOD[:4], GOOD[4:])
        assert (await reader.status(), await writer.status()) == (200, 201)
        await cancel_all(flood)
        assert (load.in_flight, edge.under_way) == (0, 0)

    house.run(go())


def test_a_body_that_came_waits_for_nobodys_slot(make_house):
    house = make_house(in_flight_max=1)
    key, load = house.key(), house.service.runtime.load

    async def go():
        slow = Client(house, NOTES, *posting(key), method="POST")
        await until(lambda: len(load.bodies))
        load.in_flight += 1
        slow.say(GOOD)
        assert await slow.status() == 503
        load.in_flight -= 1
        again = Client(house, NOTES, *posting(key), method="POST")
        again.say(GOOD)
        assert await again.status() == 201
        assert load.in_flight == 0

    house.run(go())


# -- rooms -------------------------------------------------------------------------------------


def test_the_slowest_body_gives_way_when_there_are_too_many(make_house):
    house = make_house(in_flight_max=2)
    key, load = house.key(), house.service.runtime.load

    async def go():
        slow = []
        for number in range(3):
            slow.append(Client(house, NOTES, *posting(key, number), method="POST", at=number))
            await until(lambda: slow[-1].task.done() or (len(load.bodies) and not load.in_flight))
        assert await slow[0].status() == 408
        for client in slow[1:]:
            client.say(GOOD)
            assert await client.status() == 201

    house.run(go())


def test_refusals_linger_in_a_room_of_their_own(house):
    load = house.service.runtime.load

    async def go():
        strangers = [
            Client(house, "/nowhere", ("content-length", "9"), method="POST", at=number % 250)
            for number in range(BOUNDS["lingering"].places + 9)
        ]
        for client in strangers[:9]:
            assert await client.status() == 404
            assert client.events[-1]["more_body"] is False
        assert len(load.lingering) == BOUNDS["lingering"].places
        assert not any(client.task.done() for client in strangers[9:])
        await cancel_all(strangers)
        assert len(load.lingering) == 0

    house.run(go())


@given(st.integers(1, 40), st.lists(st.sampled_from("abcd"), max_size=120))
def test_everybody_gets_a_place_and_the_room_is_never_too_full(places, comers):
    room = Shares(Bound(places))
    pairs = []
    for number, share in enumerate(comers):
        seat = room.enter(number, share)
        pairs.append((number, share))
        assert number in room
        if seat is not None:
            shares = [of for _, of in pairs]
            largest = max(shares.count(of) for of in shares)
            loser = dict(pairs)[seat]
            assert largest <= FEW or shares.count(loser) == largest
            crowd = [client for client, of in pairs if largest <= FEW or of == loser]
            assert seat == crowd[0]
            pairs = [(client, of) for client, of in pairs if client != seat]
        assert len(room) == len(pairs) <= places
    for number, _ in pairs:
        room.leave(number)
        room.leave(number)
    assert len(room) == 0


def test_a_share_is_counted_by_address_and_by_key():
    room = Shares(Bound(FEW + 1))
    room.enter("oldest", "here", "other key")
    for number in range(FEW):
        room.enter(number, f"address {number}", "key")
    assert room.enter("one more", "elsewhere", "key") == 0


def test_a_place_that_can_be_spared_is_given_up_first():
    room = Shares(Bound(2), lambda place: place == "idle")
    room.enter("busy", "here")
    room.enter("idle", "there")
    assert room.enter("new", "anywhere") == "idle"


# -- answers -----------------------------------------------------------------------------------


def test_an_answer_that_nobody_reads_is_cut_off_when_somebody_else_comes(house, monkeypatch):
    monkeypatch.setattr(exchange, "SLOW_SECONDS", -1.0)
    monkeypatch.setattr(edge, "LOOK_SECONDS", 0.0)
    key = house.key()

    async def go():
        client = Client(house, NOTES, bearer(key), reads=False)
        await until(lambda: len(client.events) == 2)
        assert await Client(house, "/livez", at=2).status() == 200
        await client.task

    house.run(go())
    house.service.runtime.journal.flush()
    assert [line["status"] for line in house.log.lines[-2:]] == [200, 499]


def test_a_request_that_the_host_cancels_is_cancelled(house):
    async def go():
        client = Client(house, "/livez", reads=False)
        await until(lambda: client.events)
        await cancel_all([client])
        assert client.task.cancelled()

    house.run(go())


def test_a_long_answer_leaves_in_parts(house, monkeypatch):
    whole = house.raw({"path": "/openapi.json"})
    monkeypatch.setattr(exchange, "PART_BYTES", 1_000)
    answer = house.raw({"path": "/openapi.json"})
    assert answer.body == whole.body
    assert {len(message["body"]) for message in answer.events[1:-1]} == {1_000}
    assert [message["more_body"] for message in answer.events[-2:]] == [True, False]


# -- unknown keys ------------------------------------------------------------------------------


class Halting(MemoryStorage):
    """A store whose reads wait as long as it is told to."""

    def __init__(self, collections):
        super().__init__(collections)
        self.waiting = 0
        self.goes_on = asyncio.Event()
        self.goes_on.set()

    async def read(self, tenant, unit):
        self.waiting += 1
        await self.goes_on.wait()
        self.waiting -= 1
        return await super().read(tenant, unit)


def test_a_known_key_does_not_wait_behind_unknown_ones(make_house, monkeypatch):
    monkeypatch.setitem(BOUNDS, "lookups", Bound(2))
    storage = Halting(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    key, load = house.key(), house.service.runtime.load
    assert house.ask("GET", NOTES, key).status_code == 200
    house.ticks += gather.TTL_SECONDS + 1

    async def go():
        storage.goes_on.clear()
        flood = [Client(house, NOTES, bearer(UNKNOWN.format(at)), at=at) for at in range(9)]
        await until(lambda: storage.waiting == 2)
        client = Client(house, NOTES, bearer(key), at=99)
        await until(lambda: storage.waiting == 3)
        assert load.in_flight == 1  # the known one's
        storage.goes_on.set()
        assert await client.status() == 200
        assert [await client.status() for client in flood] == [401] * 9

    house.run(go())


def test_so_many_strangers_wait_and_the_oldest_gives_way(make_house, monkeypatch):
    monkeypatch.setitem(BOUNDS, "lookups", Bound(1))
    monkeypatch.setitem(BOUNDS, "strangers", Bound(2))
    storage = Halting(make_house().service_collections)
    house = make_house(parts={"storage": storage})

    async def go():
        storage.goes_on.clear()
        flood = [Client(house, NOTES, bearer(UNKNOWN.format(at)), at=at) for at in range(4)]
        assert await flood[1].status() == 503
        storage.goes_on.set()
        assert [await client.status() for client in flood] == [401, 503, 401, 401]

    house.run(go())


# -- turns -------------------------------------------------------------------------------------


class Slow(MemoryStorage):
    """A store whose writes wait as long as it is told to."""

    async def write(self, tenant, unit):
        await self.goes_on.wait()
        return await super().write(tenant, unit)


def test_whoever_waits_for_its_turn_holds_no_working_slot(make_house):
    storage = Slow(make_house().service_collections)
    storage.goes_on = asyncio.Event()
    storage.goes_on.set()
    house = make_house(in_flight_max=6, parts={"storage": storage})
    key, load = house.key(), house.service.runtime.load
    assert house.ask("GET", NOTES, key).status_code == 200  # it is known from here on

    async def go():
        storage.goes_on.clear()
        clients = [Client(house, NOTES, *posting(key), method="POST") for _ in range(5)]
        for client in clients:
            client.say(GOOD)
        await until(lambda: len(house.service.runtime.locks._waits) == 4)
        assert load.in_flight == 1
        assert await Client(house, NOTES, bearer(key), at=9).status() == 200
        storage.goes_on.set()
        assert [await client.status() for client in clients] == [201] * 5

    house.run(go())

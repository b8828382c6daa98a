"""When keys were last used: noted by the gate, written rarely, lost by no clean end."""

import asyncio
from datetime import timedelta

import pytest

from svc_core.access import operations as accounts
from svc_core.operation.ports import SYSTEM, StorageUnavailable
from svc_http.guard.use_log import Uses
from svc_http.service.key_uses import uses_loop, write_last_uses, write_uses
from svc_http.stores import MemoryStorage

NOTES = "/api/v1/notes"


def used(house):
    """When each key was last used, as storage has it."""
    keys = house.system(accounts.list_keys)
    return {key.name: key.last_used_at for key in keys}


def write(house):
    return house.run(write_uses(house.service.runtime.service, house.service.runtime.gate.uses))


def test_requests_write_nothing_and_one_write_tells_all_of_them(house):
    first, second = house.key(), house.key()
    before = house.storage.version
    for _ in range(3):
        house.clock.forward(seconds=1)
        assert house.ask("GET", NOTES, first).status_code == 200
    latest = house.clock()
    house.clock.forward(seconds=1)
    assert house.ask("GET", NOTES, second).status_code == 200
    assert house.storage.version == before
    assert write(house) == 2
    assert house.storage.version == before + 1
    assert sorted(used(house).values()) == [latest, house.clock()]
    assert write(house) == 0
    assert house.storage.version == before + 1


def test_a_noted_use_gives_no_new_quota_and_publishes_nothing(house):
    key = house.key()
    first = house.ask("GET", NOTES, key).headers["x-ratelimit-remaining-minute"]
    assert write(house) == 1
    house.ticks += 2
    second = house.ask("GET", NOTES, key).headers["x-ratelimit-remaining-minute"]
    assert int(second) == int(first) - 1
    head = house.system(lambda ctx: ctx.tx.changes.head())
    assert (head.everybody, head.own) == (0, 0)


class Failing(MemoryStorage):
    """A store whose writes fail while it is told so."""

    fails = False

    async def write(self, tenant, unit):
        if self.fails:
            raise StorageUnavailable("no room")
        return await super().write(tenant, unit)


def test_what_could_not_be_written_is_written_later_and_newer_uses_stand(make_house):
    storage = Failing(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    first, second = house.key(), house.key()
    for key in (first, second):
        assert house.ask("GET", NOTES, key).status_code == 200
    early = house.clock()
    storage.fails = True
    with pytest.raises(StorageUnavailable):
        write(house)
    house.clock.forward(seconds=5)
    assert house.ask("GET", NOTES, second).status_code == 200
    storage.fails = False
    assert write(house) == 2
    assert sorted(used(house).values()) == [early, early + timedelta(seconds=5)]


def test_the_end_of_the_loop_writes_what_is_left(house):
    key = house.key()
    uses = house.service.runtime.gate.uses

    async def live():
        looping = asyncio.create_task(uses_loop(house.service.runtime.service, uses))
        await asyncio.sleep(0)
        uses.note(id_, house.clock())
        looping.cancel()
        with pytest.raises(asyncio.CancelledError):
            await looping

    (id_,) = (key.id for key in house.system(accounts.list_keys))
    house.run(live())
    assert list(used(house).values()) == [house.clock()]
    assert house.ask("GET", NOTES, key).status_code == 200


class WatchedStorage(MemoryStorage):
    """A store that tells of every write once it is done."""

    def __init__(self, collections):
        super().__init__(collections)
        self.is_written = asyncio.Event()

    async def write(self, tenant, unit):
        try:
            return await super().write(tenant, unit)
        finally:
            self.is_written.set()


def test_the_loop_writes_again_and_again(make_house):
    storage = WatchedStorage(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    house.key()
    (id_,) = (key.id for key in house.system(accounts.list_keys))
    service, uses = house.service.runtime.service, house.service.runtime.gate.uses

    async def live():
        looping = asyncio.create_task(uses_loop(service, uses, 0))
        for _ in range(3):
            house.clock.forward(seconds=1)
            storage.is_written.clear()
            uses.note(id_, house.clock())
            async with asyncio.timeout(60):
                await storage.is_written.wait()
            (key,) = await service.read(SYSTEM, accounts.list_keys)
            assert key.last_used_at == house.clock()
        looping.cancel()
        await asyncio.gather(looping, return_exceptions=True)

    house.run(live())


def test_beyond_the_most_keys_only_known_ones_are_noted(house):
    uses = Uses(keys_max=2)
    for at, key in enumerate(("a", "b", "c", "a")):
        uses.note(key, house.clock() + timedelta(seconds=at))
    assert uses.take() == {
        "a": house.clock() + timedelta(seconds=3),
        "b": house.clock() + timedelta(seconds=1),
    }
    assert uses.take() == {}


def test_many_uses_are_written_a_few_at_a_time_and_what_is_left_is_kept(make_house, monkeypatch):
    monkeypatch.setattr("svc_http.service.key_uses.KEYS_AT_ONCE", 2)
    storage = Failing(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    runtime = house.service.runtime
    keys = [house.key() for _ in range(5)]
    house.asks([("GET", NOTES)])
    for key in keys:
        assert house.ask("GET", NOTES, key).status_code == 200
    before = storage.version
    assert write(house) == 5
    assert storage.version == before + 3
    for key in keys:
        assert house.ask("GET", NOTES, key).status_code == 200
    storage.fails = True
    house.run(write_last_uses(runtime.service, runtime.gate.uses))  # it does not stop the end
    storage.fails = False
    house.clock.forward(seconds=1)
    assert len(runtime.gate.uses.take()) == 5

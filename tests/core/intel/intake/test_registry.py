"""Sources in the store: added once, claimed once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.intake import health, registry
from svc_core.operation.ports import StoredRow

Make = Callable[..., Any]


def test_a_new_source_has_never_run_and_is_due_at_once(house: Any) -> None:
    source = house.add()
    assert source.health.status == "neverRun"
    assert (source.name, source.domain, source.cadence_seconds) == ("", "pier.org", 900)
    assert source.created_at == house.clock.now()
    assert SOURCES.order(source) == 0
    assert house.run(lambda ctx: ctx.find(SOURCES, source.id)) == source


def test_adding_a_source_again_changes_nothing(house: Any) -> None:
    first = house.add(name="Pier", topics=("world",), cadence_seconds=60)
    house.clock.advance(60)
    assert house.add() == first
    source = house.run(lambda ctx: ctx.load(SOURCES, first.id))
    assert source.version == 1


@pytest.mark.parametrize(
    ("wish", "keeps_copy"),
    [
        ({"name": "Quay"}, False),
        ({"topics": ("energy",)}, False),
        ({"country_code": "FR"}, False),
        ({"timezone": "Europe/Paris"}, False),
        ({"cadence_seconds": 3_600}, True),
    ],
)
def test_what_is_said_anew_is_changed(house: Any, wish: dict[str, Any], keeps_copy: bool) -> None:
    first = house.add(name="Pier", topics=("world",))
    house.run(lambda ctx: registry.save_source(ctx, attrs.evolve(first, etag='"1"', digest="d")))
    source = house.add(**wish)
    assert {name: getattr(source, name) for name in wish} == wish
    assert (source.etag, source.digest) == (('"1"', "d") if keeps_copy else (None, None))


def test_every_fault_of_a_wish_is_told(house: Any) -> None:
    with pytest.raises(Problem) as caught:
        house.add(topics=("world", "gossip", "fun"), cadence_seconds=1, timezone="Mars/Base")
    assert caught.value.type is problem.VALIDATION_FAILED
    for word in ("gossip", "fun", "cadenceSeconds", "timezone"):
        assert word in (caught.value.detail or "")
    assert house.run(lambda ctx: registry.stored_sources(ctx, limit=10)) == ()


@pytest.mark.parametrize("seconds", [0, 59, 604_801, -5])
def test_a_cadence_has_bounds(house: Any, seconds: int) -> None:
    with pytest.raises(Problem):
        house.add(cadence_seconds=seconds)


def _document_of(house: Any, source: Source) -> StoredRow[Source]:
    document: StoredRow[Source] = house.run(lambda ctx: ctx.load(SOURCES, source.id))
    return document


def test_a_claim_puts_the_source_off_and_is_given_once(house: Any) -> None:
    seen = _document_of(house, house.add())
    until = house.clock.now() + timedelta(minutes=5)
    [source] = house.run(lambda ctx: registry.claim_sources(ctx, [seen], until))
    assert source.health.next_attempt_at == until
    assert house.run(lambda ctx: registry.claim_sources(ctx, [seen], until)) == ()


def test_what_was_claimed_and_not_read_is_due_at_once_when_it_is_released(house: Any) -> None:
    read, other = house.add(), house.add("https://other.example/feed")
    until = house.clock.now() + timedelta(minutes=5)
    rows = [_document_of(house, source) for source in (read, other)]
    assert len(house.run(lambda ctx: registry.claim_sources(ctx, rows, until))) == 2
    house.run(
        lambda ctx: registry.note_run(
            ctx, read.id, lambda now: health.after_unchanged(now, ctx.now)
        )
    )
    after = house.run(lambda ctx: ctx.find(SOURCES, read.id))
    house.run(lambda ctx: registry.release_sources(ctx, [read.id, other.id, "src_gone"], until))
    assert house.run(lambda ctx: ctx.find(SOURCES, read.id)) == after
    due = house.run(lambda ctx: ctx.find(SOURCES, other.id))
    assert due.health.next_attempt_at == house.clock.now()


def test_a_removed_source_is_neither_claimed_nor_noted(house: Any) -> None:
    source = house.add()
    seen = _document_of(house, source)
    house.run(lambda ctx: ctx.tx.documents.delete(SOURCES, source.id))
    assert house.run(lambda ctx: registry.claim_sources(ctx, [seen], ctx.now)) == ()
    assert house.run(lambda ctx: registry.note_run(ctx, source.id, lambda source: source)) is None
    assert house.run(lambda ctx: ctx.find(SOURCES, source.id)) is None


def test_a_run_is_noted_on_the_source_as_it_is_now(house: Any) -> None:
    source = house.add()
    house.add(name="Quay")
    after = house.run(
        lambda ctx: registry.note_run(
            ctx, source.id, lambda now: health.after_failure(now, ctx.now, "timeout", "Late.", None)
        )
    )
    assert (after.name, after.health.status) == ("Quay", "error")
    assert house.run(lambda ctx: registry.stored_sources(ctx, limit=10)) == (after,)

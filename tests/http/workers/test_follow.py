"""Subscriptions to public profiles in every store: bounded, each told once, ended together."""

import asyncio
from functools import partial
from typing import Any

import attrs
import pytest

from svc_core.base.unset import UNSET
from svc_core.contract.problem import Problem
from svc_core.operation.ports import FeedPosition
from svc_core.reports import publications
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.model import (
    FOLLOWER_QUEUES,
    PROFILES,
    PUBLICATIONS,
    SUBSCRIPTIONS,
    ProfileInput,
    Publication,
    SubscriptionInput,
)
from svc_core.reports.profiles.operations import (
    CreateProfile,
    ProfileRequest,
    create_profile,
    delete_profile,
)
from svc_core.reports.profiles.subscriptions import SUBSCRIPTION_ROWS
from svc_http.service.workers import subscribers as worker
from svc_http.service.workers.subscribers import inform_subscribers
from tests.counted import Counted, KilledError
from tests.knowledge import TENANT, make_report, put

pytestmark = pytest.mark.anyio


def raise_(failure: BaseException) -> None:
    raise failure


async def public_profile(service: Any) -> str:
    """A public profile."""

    async def make(ctx: Any) -> str:
        wish = CreateProfile(ProfileInput(name="Ports", topic="Cranes", frequency="manual"))
        await create_profile(ctx, wish)
        row = (await ctx.tx.documents.scan(PROFILES, limit=1)).rows[0]
        profile = attrs.evolve(PROFILES.decode(row.raw), visibility="public")
        await ctx.save(PROFILES, row.id, profile)
        return str(row.id)

    id_: str = await service.write(TENANT, make)
    line = Publication(id_, TENANT, service.now())
    await service.system(lambda ctx: ctx.save(PUBLICATIONS, id_, line))
    return id_


async def subscribe(
    service: Any, profile_id: str, tenant: str, subscriptions_max: int = 1_000
) -> None:
    async def unit(ctx: Any) -> Any:
        offer = attrs.evolve(ctx, ahead=(TENANT, subscriptions_max))
        return await SUBSCRIPTION_ROWS.create_row(offer, SubscriptionInput(profile_id))

    await service.write(tenant, unit)


async def report(service: Any, number: int, profile_id: str) -> str:
    row, facets = make_report(number, f"Strike {number}", profile=profile_id)

    async def unit(ctx: Any) -> None:
        await put(ctx, row, facets, indexed=False)
        await following.note_news(ctx, row.id, 1)

    await service.write(TENANT, unit)
    return row.id


async def changes_of(service: Any, tenant: str, kind: str) -> list[tuple[str, str]]:
    read = partial(_feed, kind=kind)
    changes: list[tuple[str, str]] = await service.read(tenant, read)
    return changes


async def _feed(ctx: Any, kind: str) -> list[tuple[str, str]]:
    part = await ctx.tx.changes.read(FeedPosition(), types=(kind,), limit=1_000)
    return [(change.change_type, change.resource_id) for change in part.changes]


async def test_of_subscriptions_at_once_as_many_are_made_as_the_plan_has(any_house: Any) -> None:
    service = any_house.service
    profiles = [await public_profile(service) for _ in range(6)]
    calls = (subscribe(service, profile, "wsp_reader", 4) for profile in profiles)
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Problem)]
    assert [refusal.type.code for refusal in refusals] == ["RESOURCE_CONFLICT"] * 2
    assert (len(outcomes), all("4" in refusal.detail for refusal in refusals)) == (6, True)
    calls_of_other = (subscribe(service, profiles[0], "wsp_other") for _ in range(5))
    again = await asyncio.gather(*calls_of_other, return_exceptions=True)
    assert sum(isinstance(outcome, Problem) for outcome in again) == 4


async def test_each_is_told_once_however_often_workers_are_killed(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "AT_ONCE", 2)
    service = any_house.service
    profile = await public_profile(service)
    readers = [f"wsp_{number:02}" for number in range(5)]
    for reader in readers:
        await subscribe(service, profile, reader)
    reports = [await report(service, number, profile) for number in (1, 2)]
    for life in range(1, 60):
        dying = attrs.evolve(service, storage=Counted(service.storage, life))
        try:
            await inform_subscribers(dying, raise_)
        except KilledError:
            continue
        break
    for reader in readers:
        assert await changes_of(service, reader, "report") == [("created", id_) for id_ in reports]
        page = await service.read(reader, partial(_page, limit=1))
        assert len(page.rows) == 1
        assert page.next_cursor is not None


async def _page(ctx: Any, limit: int) -> Any:
    return await publications.reports_page(ctx, UNSET, after=UNSET, limit=limit)


async def test_several_workers_at_once_tell_each_once(any_house: Any) -> None:
    service = any_house.service
    profile = await public_profile(service)
    readers = [f"wsp_{number:02}" for number in range(6)]
    for reader in readers:
        await subscribe(service, profile, reader)
    reports = [await report(service, number, profile) for number in range(1, 4)]
    await asyncio.gather(*(inform_subscribers(service, raise_) for _ in range(3)))
    for reader in readers:
        assert await changes_of(service, reader, "report") == [("created", id_) for id_ in reports]


async def test_a_deleted_profile_ends_all_subscriptions_and_leaves_nothing(any_house: Any) -> None:
    service = any_house.service
    profile = await public_profile(service)
    readers = [f"wsp_{number:02}" for number in range(3)]
    for reader in readers:
        await subscribe(service, profile, reader)
    await service.write(TENANT, lambda ctx: delete_profile(ctx, ProfileRequest(profile)))
    await inform_subscribers(service, raise_)
    for reader in readers:
        kinds = [kind for kind, _ in await changes_of(service, reader, "subscription")]
        assert kinds == ["created", "deleted"]
        count = await service.read(
            reader, lambda ctx: ctx.tx.documents.count(SUBSCRIPTIONS, limit=1)
        )
        assert count == 0
    any_house.clock.advance(following.GRACE.total_seconds() + 1)
    await inform_subscribers(service, raise_)
    assert await service.storage.across(FOLLOWER_QUEUES, limit=1) == ()

"""What is left of a deleted profile goes, whoever is killed meanwhile, and whoever helps."""

import asyncio
from typing import Any

import attrs
import pytest

from svc_core.operation.context import Context
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import LEAVING, ProfileInput
from svc_core.reports.recordings import FORGET_AT_ONCE, forget_reports
from svc_core.reports.report_runs import make_report
from svc_http.service.workers import retention as worker
from svc_http.service.workers.retention import remove_orphan_reports
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio
TENANT = "wsp_" + "a" * 24


def end(failure: BaseException) -> None:
    """End as a process does that is killed."""
    raise failure


async def delete_profile_of(house: Any, count: int) -> None:
    """Delete a profile that has so many reports."""
    request = profiles.CreateProfile(ProfileInput("Ports", "Port strikes", "manual"))
    creation = await house.service.write(TENANT, lambda ctx: profiles.create_profile(ctx, request))
    profile_id = creation.location.rpartition("/")[2]
    row = await make_report(house.service, TENANT, profile_id)

    async def multiply(ctx: Context) -> None:
        facets = await ctx.value(FACETS, row.id)
        for _ in range(count - 1):
            id_ = ctx.ids.new("rpt")
            await ctx.create(REPORTS, id_, attrs.evolve(row, id=id_))
            await ctx.create(FACETS, id_, attrs.evolve(facets, report_id=id_))

    await house.service.write(TENANT, multiply)
    request_ = profiles.ProfileRequest(profile_id)
    await house.service.write(TENANT, lambda ctx: profiles.delete_profile(ctx, request_))


async def row_counts(house: Any) -> list[int]:
    async def count(ctx: Context) -> list[int]:
        documents = ctx.tx.documents
        return [
            await documents.count(collection, limit=999)
            for collection in (REPORTS, FACETS, LEAVING)
        ]

    counts: list[int] = await house.service.read(TENANT, count)
    return counts


async def test_who_is_killed_leaves_the_rest_to_the_next(any_house: Any) -> None:
    await delete_profile_of(any_house, 3 * FORGET_AT_ONCE)
    mortal = Counted(any_house.service.storage, dies_after=1)
    with pytest.raises(KilledError):
        await remove_orphan_reports(attrs.evolve(any_house.service, storage=mortal), end)
    assert await row_counts(any_house) == [FORGET_AT_ONCE, FORGET_AT_ONCE, 1]
    store = Counted(any_house.service.storage)
    await remove_orphan_reports(attrs.evolve(any_house.service, storage=store), end)
    assert (await row_counts(any_house), store.writes) == ([0, 0, 0], 1)


async def test_two_workers_remove_everything_once(any_house: Any) -> None:
    await delete_profile_of(any_house, 4 * FORGET_AT_ONCE)
    await asyncio.gather(*(remove_orphan_reports(any_house.service, end) for _ in range(2)))
    assert await row_counts(any_house) == [0, 0, 0]


async def test_what_cannot_be_removed_is_in_nobodys_way(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "ROUND_MAX", 1)
    for _ in range(2):
        await delete_profile_of(any_house, FORGET_AT_ONCE + 2)
    failures: list[BaseException] = []
    (first,) = await any_house.service.storage.across(LEAVING, limit=1)

    async def fail(ctx: Context, profile_id: str) -> None:
        if profile_id == first.document.id:
            raise ValueError("broken")
        await forget_reports(ctx, profile_id)

    monkeypatch.setattr(worker, "forget_reports", fail)
    await remove_orphan_reports(any_house.service, failures.append)
    assert await row_counts(any_house) == [2, 2, 1]
    assert [str(failure) for failure in failures] == ["broken"]

"""Removes reports with all that belongs to them, and looks after the files of their recordings.

Rule 1: a file has a row before it exists, with a time to check whether any row still needs it, so
        that no file is forgotten, whatever was interrupted.
Rule 2: the reports of a deleted profile go in short units of work, and are hidden at once.
Rule 3: a file is stored or removed only under its lease, by one process at a time among all of a
        store, and within that time: a row that names it is written in the first half of the lease,
        so that neither clocks nor commits that are minutes late harm the file.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from svc_core.base import ids
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import StoredRow
from svc_core.outbox import cloud_events as events
from svc_core.reports.audio import (
    AUDIO,
    FILE_CHECKS,
    FILE_LEASES,
    SPEECH_REQUESTS,
    FileCheck,
    FileLease,
)
from svc_core.reports.model import FACETS, REPORTS, ReportRow
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.model import LEAVING, Leaving
from svc_core.reports.report_index import unindex_reports as unindex

FORGET_AT_ONCE: Final = 25
"""Reports removed in one unit of work: about 20 ms, and 100 where each is as long as can be."""
LEASE: Final = timedelta(minutes=5)
"""How long the lease of a killed worker lasts: far longer than storing a file takes."""


async def check_file(ctx: Context, name: str) -> None:
    """Have a file checked: it is removed unless a row names it."""
    await ctx.save(FILE_CHECKS, _id(name), FileCheck(name, ctx.now))


async def cancel_check(ctx: Context, name: str) -> None:
    """Cancel the check of a file: a row names it, or somebody holds its lease."""
    await ctx.tx.documents.delete(FILE_CHECKS, _id(name))


async def take_lease(ctx: Context, name: str) -> StoredRow[FileLease] | None:
    """Take the lease on a file, to store or remove it; None while another process holds it.

    A lease that is not ended lapses after `LEASE`, and the file is checked.
    """
    before = await ctx.tx.documents.get(FILE_LEASES, _id(name))
    if before is not None and before.order > micros(ctx.now):
        return None
    return await ctx.save(FILE_LEASES, _id(name), FileLease(name, ctx.now + LEASE))


def is_early(lease: StoredRow[FileLease], now: datetime) -> bool:
    """Whether the lease is in its first half: there is time to name the file, or to remove it."""
    return now < FILE_LEASES.decode(lease.raw).until - LEASE / 2


async def end_lease(ctx: Context, lease: StoredRow[FileLease], *, is_settled: bool) -> None:
    """End a lease, so that others may take it; the file is checked unless it `is_settled`."""
    current = await ctx.if_unchanged(FILE_LEASES, lease)
    if current is None:
        return  # it had lapsed, and another process has taken it
    if is_settled:
        await ctx.tx.documents.delete(FILE_LEASES, lease.id)
    else:
        await ctx.save(FILE_LEASES, lease.id, FileLease(current.name, ctx.now))


async def announce(ctx: Context, report_id: str, audio: str | None) -> None:
    """Send the event that waits for a report's recording; those of followers soon after.

    `audio` is the path of the recording; None where there will be none.
    """
    await following.note_news(ctx, report_id)
    await events.release_waiting(
        ctx, report_id, partial(_with_audio, path=audio) if audio else None
    )


def _with_audio(members: dict[str, Any], path: str) -> dict[str, Any]:
    """The event of a report with the path of its recording."""
    data = members["data"]
    links = {**data["links"], "audio": members["source"] + path}
    return {**members, "data": {**data, "hasAudio": True, "links": links}}


async def give_up(ctx: Context, report_id: str) -> None:
    """Drop the request for a report's audio; its event waits no longer."""
    await ctx.tx.documents.delete(SPEECH_REQUESTS, report_id)
    await announce(ctx, report_id, None)


async def forget_audio(ctx: Context, report_id: str) -> None:
    """Drop a report's audio and the request for it; the file goes soon after."""
    await give_up(ctx, report_id)
    row = await ctx.tx.documents.delete(AUDIO, report_id)
    if row is not None:
        await check_file(ctx, AUDIO.decode(row.raw).recording.name)


async def forget_reports(ctx: Context, profile_id: str) -> None:
    """Remove some reports of a deleted profile, each with a tombstone in the change feed.

    Where there are more, the profile becomes `LEAVING`, and this has to be called again; until then
    its reports are hidden.
    """
    where = {"profile_id": (profile_id,)}
    page = await ctx.tx.documents.scan(REPORTS, where=where, limit=FORGET_AT_ONCE)
    await unindex(ctx, [row.id for row in page.rows])
    for row in page.rows:
        await ctx.remove(REPORTS, row.id)
        await ctx.remove(FACETS, row.id)
        await forget_audio(ctx, row.id)
    if not page.has_more:
        await ctx.tx.documents.delete(LEAVING, profile_id)
    elif await ctx.find(LEAVING, profile_id) is None:
        await ctx.save(LEAVING, profile_id, Leaving(profile_id, ctx.now))


async def visible_reports(ctx: Context, rows: Sequence[bytes]) -> tuple[bytes, ...]:
    """Those of some reports whose profile is not deleted."""
    page = await ctx.tx.documents.scan(LEAVING, limit=1)
    if not page.rows:
        return tuple(rows)
    owners = [REPORTS.decode(raw).profile_id for raw in rows]
    deleted_ids = await leaving(ctx, owners)
    return tuple(raw for raw, owner in zip(rows, owners, strict=True) if owner not in deleted_ids)


async def leaving(ctx: Context, profile_ids: Iterable[str]) -> frozenset[str]:
    """Those of some profiles that are deleted, and whose reports are hidden."""
    return frozenset(await ctx.tx.documents.get_many(LEAVING, list(dict.fromkeys(profile_ids))))


async def load_report(ctx: Context, report_id: str) -> StoredRow[ReportRow]:
    """A report whose profile is not deleted.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(REPORTS, report_id)
    if not await visible_reports(ctx, (document.raw,)):
        raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.")
    return document


def _id(name: str) -> str:
    return ids.derived_id("med", "media", "", name)

"""Local operations on reports: speak and announce one, and issue a link to its page.

The modules that speak reports are imported on first use.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, Protocol

from attrs import frozen

from svc_core import wire
from svc_core.base import seals
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.operation.context import Context, scan_values
from svc_core.operation.declaration import EVERYBODY, MANAGERS, Operation, local
from svc_core.operation.members import ReportId, micros
from svc_core.operation.units import WorkContext
from svc_core.outbox.model import DELIVERIES, WEBHOOKS_MAX
from svc_core.reports import addresses
from svc_core.reports.addresses import Opening
from svc_core.reports.audio import AUDIO, Audio
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.notices import notify, subscription_to
from svc_core.reports.recordings import load_report
from svc_core.wire.constraints import Arg, Ge, Le

GIVEN_REPORT = Annotated[ReportId, Arg(positional=True)]


class Speaker(Protocol):
    """Speaks reports with a voice."""

    async def record(self, tenant: str, task: Any) -> Audio | None:
        """Record a report (`SpeechTask`); None when its words changed meanwhile.

        Raises:
            Problem: SERVICE_UNAVAILABLE, with the remedy.
        """


@frozen
class SpeakReport:
    """The report to speak."""

    report_id: GIVEN_REPORT
    again: bool = False
    """Replace existing audio, with the voice of now."""


@frozen
class TriggerReport:
    """The report to be told of; without an id, the newest one of the workspace."""

    report_id: GIVEN_REPORT | None = None


@frozen
class QueuedNotice:
    """A delivery that waits to be sent."""

    webhook_id: str
    event_id: str


@frozen
class TriggeredReport:
    """What was queued for a report."""

    report_id: str
    deliveries: tuple[QueuedNotice, ...]


@frozen
class OpenReport:
    """The report whose page is to be opened by whoever has the address."""

    report_id: GIVEN_REPORT
    lasts_seconds: Annotated[int, Ge(60), Le(2_592_000), Arg(name="lasts")] = 86_400
    """How long it opens the page."""


@frozen
class ReportAddress:
    """An address that opens the page of a report until it ends."""

    url: str
    expires_at: datetime


async def speak_report(ctx: WorkContext, request: SpeakReport) -> Single[Audio]:
    """Speak a report now, unless it has audio; `isNew` tells whether that was done.

    Raises:
        Problem: NOT_FOUND, SERVICE_UNAVAILABLE, or RESOURCE_CONFLICT when it was made anew.
    """
    from svc_core.reports import speech_tasks as speaking  # noqa: PLC0415 - see above

    work, tenant, id_ = ctx.work, ctx.actor.tenant, request.report_id
    before = await work.read(tenant, lambda unit: unit.find(AUDIO, id_))
    if before is not None and not request.again:
        return _audio_answer(before, is_new=False)
    speaker = ctx.borrow(Speaker)
    task = await work.read(tenant, lambda unit: speaking.speech_task(unit, id_))
    audio = await speaker.record(tenant, task)
    if audio is None:
        raise Problem(problem.RESOURCE_CONFLICT, "The report was made again meanwhile.")
    return _audio_answer(audio, is_new=True)


def _audio_answer(audio: Audio, *, is_new: bool) -> Single[Audio]:
    members: Any = wire.to_json(audio)
    recording = members.pop("recording")
    return Single(wire.to_bytes({**members, **recording, "isNew": is_new}))


async def trigger_report(ctx: Context, request: TriggerReport) -> Single[TriggeredReport]:
    """Tell of a report as if it had just been made; the deliveries that were queued.

    Raises:
        Problem: NOT_FOUND.
    """
    id_ = request.report_id or await _newest(ctx)
    report = REPORTS.decode((await load_report(ctx, id_)).raw)
    subscription = await subscription_to(ctx, report.profile_id)
    if subscription is None:
        raise AssertionError("a profile of one's own has its subscription")
    await notify(ctx, report, await ctx.value(FACETS, id_), subscription, may_wait=False)
    # Deliveries are listed by when they were made: these have just been.
    deliveries = await scan_values(ctx, DELIVERIES, start=micros(ctx.now), limit=WEBHOOKS_MAX)
    event_ids = {row.webhook_id: row.event_id for row in deliveries if row.subject == id_}
    notices = tuple(QueuedNotice(*pair) for pair in event_ids.items())
    return Single(wire.to_bytes(TriggeredReport(id_, notices)))


async def open_report(ctx: Context, request: OpenReport) -> Single[ReportAddress]:
    """An address of the report's page that needs no key.

    Raises:
        Problem: NOT_FOUND.
    """
    await load_report(ctx, request.report_id)
    ends = (ctx.now + timedelta(seconds=request.lasts_seconds)).replace(microsecond=0)
    opening = Opening(ctx.actor.tenant, request.report_id, ends)
    token = addresses.seal_report_link(ctx.keyring, opening, ctx.ids.random(seals.NONCE_BYTES))
    url = f"{ctx.host.origin}{addresses.PATH}/{token}"
    return Single(wire.to_bytes(ReportAddress(url, ends)))


async def _newest(ctx: Context) -> str:
    newest = await ctx.tx.documents.scan(REPORTS, limit=1)
    if not newest.rows:
        detail = "There is no report yet; make one: svc reports generate PROFILE_ID"
        raise Problem(problem.NOT_FOUND, detail)
    return newest.rows[0].id


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "reports",
        "Give out an address that opens the page of a report in a browser, without a key",
        open_report,
        method="GET",
        description="The address expires after a day, or after `lastsSeconds`.",
        roles=EVERYBODY,
        audited=True,
    ),
    local(
        "reports speak",
        "Make the audio of a report now, unless it has some",
        speak_report,
        description="It is spoken with the voice of the settings.",
        roles=MANAGERS,
    ),
    local(
        "webhooks trigger",
        "Announce a report again to every webhook that takes its events",
        trigger_report,
        roles=MANAGERS,
    ),
)

"""The command that speaks a report."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from attrs import frozen

from svc_core import problem, wire
from svc_core.problem import Problem
from svc_core.reports import speaking
from svc_core.resources.audio import Audio
from svc_core.resources.members import ReportId
from svc_core.resources.report import REPORTS
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Command, short, table
from svc_http.providers.speech import SpeechFailed
from svc_http.runtime.service import Service
from svc_http.settings import SettingsError
from svc_http.workers.speak import Studio

MakeStudio = Callable[[], Studio]
"""Makes what speaks, or refuses with the way to have it."""


@frozen
class SpeakReport:
    """The report that is meant; `again` speaks it though it has audio."""

    report_id: ReportId
    again: bool = False
    workspace: str | None = None


def nobody() -> Studio:
    """No voice.

    Raises:
        SettingsError: always.
    """
    raise SettingsError("setting 'speech' is none")


async def speak(service: Service, args: SpeakReport, make_studio: MakeStudio) -> Json:
    """Speak a report now; `isNew` tells whether that was done."""
    tenant = await accounts.owner(service, REPORTS, args.report_id, args.workspace)
    before = await service.read(tenant, lambda ctx: speaking.present(ctx, args.report_id))
    if before is not None and not args.again:
        return _told(before, is_new=False)
    try:
        studio = make_studio()
    except SettingsError as mute:
        raise Problem(problem.SERVICE_UNAVAILABLE, f"Reports have no voice here: {mute}") from mute
    task = await service.read(tenant, lambda ctx: speaking.ask(ctx, args.report_id))
    try:
        made = await studio.record(service, tenant, task)
    except SpeechFailed as failure:
        again = f"once that is mended: svc reports speak {args.report_id}"
        told = f"The report was not spoken: {failure}; {again}"
        raise Problem(problem.SERVICE_UNAVAILABLE, told) from failure
    if made is None:
        raise Problem(problem.RESOURCE_CONFLICT, "The report was made again meanwhile.")
    return _told(made, is_new=True)


def _told(audio: Audio, *, is_new: bool) -> Json:
    recording = cast("dict[str, Json]", wire.to_json(audio.recording))
    told = cast("dict[str, Json]", wire.to_json(audio))
    return {**told, **recording, "isNew": is_new}


def commands(make_studio: MakeStudio) -> Mapping[str, Command[Any]]:
    """The command, with what speaks."""

    async def run(service: Service, args: SpeakReport) -> Json:
        return await speak(service, args, make_studio)

    return table(short("reports speak", SpeakReport, run))

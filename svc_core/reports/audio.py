"""The audio of a report over HTTP (Spec: Report, audio facet).

A file's address is made when it is asked for: with a CDN it stands there under its name, without
one this service gives it to whoever has a pass, and every pass ends.
"""

from typing import Annotated

from attrs import frozen

from svc_core import passes, problem, wire
from svc_core.constraints import Doc, Example
from svc_core.operation import PATH, QUERY, T4_PREMIUM_AUDIO, Context, Operation
from svc_core.problem import Problem
from svc_core.resources.audio import AUDIO, Audio, AudioFacet
from svc_core.resources.members import ReportId
from svc_core.resources.report import REPORTS
from svc_core.result import Bare, Redirect
from svc_core.unset import UNSET

MEDIA_PATH = "/media"


@frozen
class GetAudio:
    """The audio of one report."""

    report_id: Annotated[ReportId, PATH]
    redirect: Annotated[
        bool, QUERY, Doc("Answer 302 with the file's address instead of 200."), Example(False)
    ] = False


async def get_audio(ctx: Context, request: GetAudio) -> Bare[AudioFacet] | Redirect:
    """What is known of a report's audio, or the way to it.

    Raises:
        Problem: NOT_FOUND, or AUDIO_NOT_AVAILABLE for a report without audio.
    """
    document = await ctx.load(REPORTS, request.report_id)
    facet = await audio_facet(ctx, request.report_id)
    if facet is None:
        raise Problem(problem.AUDIO_NOT_AVAILABLE)
    if request.redirect:
        return Redirect(facet.url)
    return Bare(wire.dumps(facet), (*document.tag, facet.url, int(ctx.aliases)))


async def audio_facet(ctx: Context, report_id: str) -> AudioFacet | None:
    """The audio of a report, its file addressed as of now; None where there is none."""
    stored = await ctx.tx.documents.get(AUDIO, report_id)
    return None if stored is None else _facet(ctx, AUDIO.decode(stored.raw))


def _facet(ctx: Context, audio: Audio) -> AudioFacet:
    recording = audio.recording
    return AudioFacet(
        id=audio.id,
        url=media_address(ctx, recording.name),
        mime_type=recording.mime_type,
        size_bytes=recording.size_bytes,
        sha256=recording.sha256,
        duration_seconds=recording.duration_seconds,
        voice=audio.voice,
        created_at=audio.created_at,
        # Spec: Versioning, deprecated members: the old name stays beside the new one.
        duration=recording.duration_seconds if ctx.aliases else UNSET,
    )


def media_address(ctx: Context, name: str) -> str:
    """Where a media file is for whoever asks now: at the CDN, or here with a pass."""
    if ctx.host.media_base_url is not None:
        return f"{ctx.host.media_base_url}/{name}"
    query = passes.issue(ctx.keyring, name, ctx.now).query
    return f"{ctx.host.origin}{MEDIA_PATH}/{name}?{query}"


OPERATION: Operation[GetAudio, Bare[AudioFacet] | Redirect] = Operation(
    id="getReportAudio",
    group="reports",
    verb="audio",
    method="GET",
    path="/reports/{reportId}/audio",
    summary="Read a report's audio",
    description=(
        "Where the report can be listened to, how long it plays and what the file is. The file is "
        "fetched without a key, whole or in ranges. Without a CDN its address ends: ask here again "
        "for a new one. A report that is not spoken, or not yet, answers 404 "
        "`AUDIO_NOT_AVAILABLE`; `hasAudio` of its row tells beforehand."
    ),
    tag="Reports",
    request=GetAudio,
    response=Bare[AudioFacet] | Redirect,
    run=get_audio,
    scopes=frozenset({"reports:audio"}),
    auth="bearer-or-x402",
    tier=T4_PREMIUM_AUDIO,
    fails=(problem.AUDIO_NOT_AVAILABLE,),
)

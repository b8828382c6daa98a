"""The commands for reports: make one now, list them, read one."""

from datetime import datetime
from typing import Literal

from attrs import frozen

from svc_core import problem, wire
from svc_core.operation import Context
from svc_core.problem import Problem
from svc_core.reports import rules
from svc_core.resources.members import ProfileId, ReportId
from svc_core.resources.profile import PROFILES
from svc_core.resources.report import FACETS, REPORTS
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Rows, row, short, table
from svc_http.runtime.service import Service
from svc_http.workers import make_report

EXPANSIONS = frozenset({"content", "sources", "signals", "graph"})


@frozen
class GenerateReport:
    """A report about a profile: of the period between the two instants, or of what is new.

    An `end` without a `start` reaches back to the first item; a `start` without an `end` reaches
    to now.
    """

    profile_id: ProfileId
    workspace: str | None = None
    start: datetime | None = None
    end: datetime | None = None


@frozen
class ListReports:
    """The newest reports of a workspace, or of one profile."""

    workspace: str | None = None
    profile_id: ProfileId | None = None
    limit: Rows = 20


@frozen
class ShowReport:
    """The report that is meant and the form it is wanted in."""

    report_id: ReportId
    format: Literal["json", "md", "text"] = "json"
    workspace: str | None = None


async def generate(service: Service, args: GenerateReport) -> Json:
    """Make a report now; when it would only repeat one there is, that one is the answer.

    `isNew` tells the two apart.
    """
    tenant = await accounts.owner(service, PROFILES, args.profile_id, args.workspace)
    if args.start is not None and args.start >= (args.end or service.now()):
        raise Problem(problem.VALIDATION_FAILED, "/start: must be before the end")
    began = service.now()
    made = await make_report(service, tenant, args.profile_id, start=args.start, end=args.end)
    told: dict[str, Json] = wire.to_json(made)  # type: ignore[assignment]  # an object
    return told | {"isNew": made.generated_at >= began}


async def list_(service: Service, args: ListReports) -> Json:
    """Reports, newest first."""
    tenant = await _tenant(service, args)
    where = {} if args.profile_id is None else {"profile_id": (args.profile_id,)}

    async def unit(ctx: Context) -> Json:
        found = await ctx.tx.documents.scan(REPORTS, where=where, limit=args.limit)
        return [row(document.raw) for document in found.rows]

    return await service.read(tenant, unit)


async def _tenant(service: Service, args: ListReports) -> str:
    if args.profile_id is None:
        return await accounts.tenant(service, args.workspace)
    return await accounts.owner(service, PROFILES, args.profile_id, args.workspace)


async def show(service: Service, args: ShowReport) -> Json:
    """One report: its members and facets, or its words as Markdown or plain text."""
    tenant = await accounts.owner(service, REPORTS, args.report_id, args.workspace)

    async def unit(ctx: Context) -> Json:
        report = REPORTS.decode((await ctx.load(REPORTS, args.report_id)).raw)
        facets = FACETS.decode((await ctx.load(FACETS, args.report_id)).raw)
        if args.format == "json":
            return wire.to_json(rules.expand(report, facets, EXPANSIONS))
        text = facets.content.markdown if args.format == "md" else facets.text
        return {"id": report.id, "format": args.format, "text": text}

    return await service.read(tenant, unit)


COMMANDS = table(
    short("reports generate", GenerateReport, generate),
    short("reports list", ListReports, list_),
    short("reports show", ShowReport, show),
)

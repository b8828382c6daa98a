"""The operations of projects (Spec: Projects).

Rule 1: a project belongs to its owner alone; to others of the workspace it does not exist.
Rule 2: PUT resets what it leaves out, PATCH changes only what it names.
Rule 3: what changes nothing writes nothing: same version, no change record.
Rule 4: reports and subjects are there when they are put in; they may go later.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset, patch_members
from svc_core.contract import problem
from svc_core.contract.result import Created, Page, Single
from svc_core.operation import crud
from svc_core.operation.context import Context
from svc_core.operation.crud import update_row
from svc_core.operation.declaration import BODY, PATH, QUERY, Operation
from svc_core.operation.members import Cursor, Limit, ProjectId
from svc_core.projects.model import (
    PROJECTS,
    PROJECTS_MAX,
    Archivable,
    Project,
    ProjectInput,
    ProjectPatch,
)
from svc_core.reports.model import REPORTS
from svc_core.wire import InputFault
from svc_core.wire.constraints import Doc

# -- requests ----------------------------------------------------------------------------------


@frozen
class ListProjects:
    """The caller's projects, newest first."""

    status: Annotated[Maybe[Archivable], QUERY, Doc("Only those.")] = UNSET
    pinned: Annotated[Maybe[bool], QUERY, Doc("Only pinned ones, or only others.")] = UNSET
    limit: Limit = 20
    cursor: Cursor = UNSET


@frozen
class CreateProject:
    """A new project."""

    body: Annotated[ProjectInput, BODY]


@frozen
class ProjectRequest:
    """One project."""

    project_id: Annotated[ProjectId, PATH]


@frozen
class ReplaceProject(ProjectRequest):
    """One project, replaced whole."""

    body: Annotated[ProjectInput, BODY]


@frozen
class PatchProject(ProjectRequest):
    """One project, changed in part."""

    body: Annotated[ProjectPatch, BODY]


# -- use cases ---------------------------------------------------------------------------------


async def list_projects(ctx: Context, request: ListProjects) -> Page[Project]:
    """The caller's own projects."""
    pinned = request.pinned
    filters = {
        "status": request.status,
        "pinned": UNSET if isinstance(pinned, Unset) else str(pinned).lower(),
    }
    return await ctx.page(PROJECTS, where=filters, after=request.cursor, limit=request.limit)


async def create_project(ctx: Context, request: CreateProject) -> Created[Project]:
    """Begin a project of the caller's own."""
    members = patch_members(request.body, ProjectInput)
    await _check(ctx, members)
    project = crud.new_row(ctx, PROJECTS, **members)
    return await crud.create_own(ctx, PROJECTS, project, PROJECTS_MAX)


async def change_project(ctx: Context, request: ReplaceProject | PatchProject) -> Single[Project]:
    """Change the members that are sent; a replacement sends its defaults too."""
    before, members = PROJECTS.decode(ctx.row.raw), patch_members(request.body, ProjectInput)
    await _check(ctx, members, before.report_ids, before.subject_ids)
    return await ctx.rewrite(PROJECTS, update_row(before, ctx.now, **members))


async def _check(
    ctx: Context,
    members: Mapping[str, Any],
    reports: tuple[str, ...] = (),
    subjects: tuple[str, ...] = (),
) -> None:
    """Check that the reports and subjects exist, or were in the project before.

    Raises:
        Problem: VALIDATION_FAILED, naming every one that is not.
    """
    ids, subject_ids = members.get("report_ids", ()), members.get("subject_ids", ())
    faults = await ctx.missing_faults(REPORTS, ids, pointer="/reportIds", earlier=reports)
    visible = {*subjects, *await ctx.tx.ledger.get_many(subject_ids)}
    faults += [
        InputFault(f"/subjectIds/{index}", "is no subject of this workspace")
        for index, id_ in enumerate(subject_ids)
        if id_ not in visible
    ]
    problem.refuse(faults)


def _set_members(**members: Any) -> Callable[[Context, ProjectRequest], Awaitable[Single[Project]]]:
    """A use case that sets these members of a project."""

    async def run(ctx: Context, request: ProjectRequest) -> Single[Project]:  # noqa: ARG001
        after = update_row(PROJECTS.decode(ctx.row.raw), ctx.now, **members)
        return await ctx.rewrite(PROJECTS, after)

    return run


# -- declarations ------------------------------------------------------------------------------

_EXAMPLE = {
    "name": "Port strikes",
    "description": "What the strikes do to container traffic.",
    "notes": "Ask the port authority for its figures.",
}
_READ, _WRITE = frozenset({"projects:read"}), frozenset({"projects:write"})
_ROWS = crud.RowOperations(PROJECTS, "project_id", _READ, _WRITE, idempotency="optional")
_PATH, _REPEAT = "/projects/{projectId}", " Where it is so already, nothing is written."

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _ROWS.operation(
        "projects list",
        "GET /projects",
        "List your projects",
        list_projects,
        description="Those of the person behind the key, newest first; nobody else sees them.",
        columns=("id", "name", "status", "pinned", "updatedAt"),
    ),
    _ROWS.operation(
        "projects create",
        "POST /projects",
        "Create a project",
        create_project,
        description="Its reports and subjects must be there; one that goes later stays named.",
        fails=(problem.RESOURCE_CONFLICT,),
        examples={"body": _EXAMPLE},
    ),
    _ROWS.show(
        "getProject",
        "projects show",
        f"GET {_PATH}",
        "Read a project",
        ProjectRequest,
        description="One project of the person behind the key.",
    ),
    _ROWS.operation(
        "projects replace",
        f"PUT {_PATH}",
        "Replace a project",
        change_project,
        id_="replaceProject",
        request=ReplaceProject,
        description="What is left out gets its default; `status` and `pinned` stay." + _REPEAT,
        examples={"body": _EXAMPLE},
    ),
    _ROWS.operation(
        "projects update",
        f"PATCH {_PATH}",
        "Change a project",
        change_project,
        id_="updateProject",
        request=PatchProject,
        description="Changes the members that are sent (JSON Merge Patch, RFC 7396)." + _REPEAT,
        examples={"body": {"notes": "The authority has answered."}},
    ),
    *(
        _ROWS.operation(
            f"projects {verb}",
            f"POST {_PATH}/{verb}",
            f"{verb.capitalize()} a project",
            _set_members(**members),
            id_=f"{verb}Project",
            description=description + _REPEAT,
        )
        for verb, description, members in (
            ("archive", "Puts it aside; it is kept.", {"status": "archived"}),
            ("restore", "Takes it up again.", {"status": "active"}),
            ("pin", "Marks it as one to be found at once.", {"pinned": True}),
            ("unpin", "Takes the mark away.", {"pinned": False}),
        )
    ),
)

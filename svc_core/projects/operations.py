"""The operations of projects (Spec: Projects).

Rule 1: a project belongs to its owner alone; to others of the workspace it does not exist.
Rule 2: reports and subjects are there when they are put in; they may go later.
"""

from typing import Annotated, Any

from attrs import frozen

from svc_core.access.model import LARGER_PLAN, plan_bound
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import problem
from svc_core.operation.context import Context
from svc_core.operation.crud import Crud, RowEdit
from svc_core.operation.declaration import QUERY, Operation
from svc_core.operation.members import PageRequest
from svc_core.projects.model import PROJECTS, Archivable, Project, ProjectInput
from svc_core.reports.model import REPORTS
from svc_core.wire import InputFault


@frozen
class ListProjects(PageRequest):
    """The caller's projects, newest first."""

    status: Annotated[Maybe[Archivable], QUERY] = UNSET
    """Only those."""
    pinned: Annotated[Maybe[bool], QUERY] = UNSET
    """Only pinned ones, or only others."""


async def _check(ctx: Context, change: RowEdit[Project]) -> Project:
    """Check that the reports and subjects exist, or were in the project before.

    Raises:
        Problem: VALIDATION_FAILED, naming every one that is not.
    """
    ids, subject_ids = (change.members.get(name, ()) for name in ("report_ids", "subject_ids"))
    reports, subjects = change.former("report_ids"), change.former("subject_ids")
    faults = await ctx.missing_faults(REPORTS, ids, pointer="/reportIds", earlier=reports)
    visible = {*subjects, *await ctx.tx.ledger.get_many(subject_ids)}
    faults += [
        InputFault(f"/subjectIds/{index}", "is no subject of this workspace")
        for index, id_ in enumerate(subject_ids)
        if id_ not in visible
    ]
    problem.refuse(faults)
    return change.after


PROJECT_ROWS = Crud(
    PROJECTS,
    idempotency="optional",
    body=ProjectInput,
    bound=plan_bound("projects"),
    cure=LARGER_PLAN,
    example={
        "name": "Port strikes",
        "description": "What the strikes do to container traffic.",
        "notes": "Ask the port authority for its figures.",
    },
    complete=_check,
)
_REPEAT = " A request that changes nothing writes nothing."

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    PROJECT_ROWS.listing(
        ListProjects,
        "Those of the person behind the key, newest first; nobody else sees them.",
        columns=("id", "name", "status", "pinned", "updatedAt"),
    ),
    PROJECT_ROWS.declare(
        "create",
        "Its reports and subjects must exist. Ids of those deleted later stay in the project.",
    ),
    PROJECT_ROWS.declare("show", "One project of the person behind the key."),
    PROJECT_ROWS.declare(
        "replace",
        "Omitted members get their defaults; `status` and `pinned` stay." + _REPEAT,
    ),
    PROJECT_ROWS.declare(
        "update",
        "Changes the members that are sent (JSON Merge Patch, RFC 7396)." + _REPEAT,
        examples={"body": {"notes": "The authority has answered."}},
    ),
    *(
        PROJECT_ROWS.switch(verb, description + _REPEAT, members)
        for verb, description, members in (
            ("archive", "Moves the project out of the way and keeps it.", {"status": "archived"}),
            ("restore", "Takes it up again.", {"status": "active"}),
            ("pin", "Marks the project as a favourite.", {"pinned": True}),
            ("unpin", "Takes the mark away.", {"pinned": False}),
        )
    ),
)

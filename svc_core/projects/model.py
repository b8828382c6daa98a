"""Projects: private collections of reports, subjects and notes of one person (Spec: Projects)."""

from typing import Annotated, Literal

from attrs import frozen

from svc_core.operation.members import (
    NOT_BLANK,
    CreatedAt,
    OwnerId,
    ProjectId,
    ReportId,
    SubjectId,
    UpdatedAt,
)
from svc_core.operation.ports import Collection, attribute_keys
from svc_core.reports.profiles.model import Name
from svc_core.wire.constraints import Doc, Example, MaxLen

Description = Annotated[
    str | None, MaxLen(2_000), NOT_BLANK, Doc("What it is about; null if not given.")
]
Notes = Annotated[str | None, MaxLen(20_000), NOT_BLANK, Doc("Free text; null if not given.")]
ReportIds = Annotated[tuple[ReportId, ...], MaxLen(500), Doc("Its reports."), Example([])]
SubjectIds = Annotated[
    tuple[SubjectId, ...], MaxLen(500), Doc("Its subjects of the ledger."), Example([])
]
Archivable = Annotated[
    Literal["active", "archived"], Doc("What is archived may be restored."), Example("active")
]
Pinned = Annotated[bool, Doc("Whether its owner has pinned it."), Example(False)]


@frozen(kw_only=True)
class Project:
    """Reports, subjects and notes that its owner keeps together."""

    id: ProjectId
    owner_id: OwnerId
    name: Name
    description: Description
    status: Archivable = "active"
    pinned: Pinned = False
    report_ids: ReportIds
    subject_ids: SubjectIds
    notes: Notes
    created_at: CreatedAt
    updated_at: UpdatedAt


@frozen
class ProjectInput:
    """A whole project as a client sends it; what is left out takes its default."""

    name: Name
    description: Description = None
    report_ids: ReportIds = ()
    subject_ids: SubjectIds = ()
    notes: Notes = None


PROJECTS: Collection[Project] = Collection(
    name="projects",
    model=Project,
    prefix="prj",
    keys={
        **attribute_keys("owner_id", "status"),
        "pinned": lambda project: str(project.pinned).lower(),
    },
    kind="project",
    owner="owner_id",
)

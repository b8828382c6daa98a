"""`svc ledger fold` and `svc ledger history`: a subject, and the records that it is made of."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from svc_http.cli import show
from svc_http.cli.options import Common, Workspace
from svc_http.cli.reach import call

TEXT_SHOWN = 60
"""Characters of an observation or a record in a table."""

SubjectId = Annotated[str, Parameter(help="The id of the subject, sbj_...")]
RecordTime = Annotated[
    str | None, Parameter(help="RFC 3339: consider what was recorded by then. Default: all.")
]
Size = Annotated[int | None, Parameter(help="Consider only this many records, the oldest.")]


def fold(
    subject_id: SubjectId,
    *,
    record_time: RecordTime = None,
    valid_time: Annotated[
        str | None, Parameter(help="RFC 3339: show what holds at that time. Default: now.")
    ] = None,
    size: Size = None,
    include: Annotated[
        tuple[Literal["history", "segments"], ...],
        Parameter(negative=(), help="Add what was displaced, or the segments of valid time."),
    ] = (),
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """Show a subject as it was known at a record time, for what held at a valid time."""
    asked: dict[str, Any] = {
        "subjectId": subject_id,
        "recordTime": record_time,
        "validTime": valid_time,
        "size": size,
        "include": list(include),
        "workspace": workspace,
    }
    view: Any = call(common, "ledger fold", asked)
    if common.json:
        show.as_json(view)
        return
    _paint(view)


def history(
    subject_id: SubjectId,
    *,
    limit: Annotated[int, Parameter(help="Show at most this many, the newest.")] = 100,
    workspace: Workspace = None,
    common: Common = Common(),  # noqa: B008 - frozen
) -> None:
    """List the records about a subject, oldest first: what was said, by whom and when."""
    asked: dict[str, Any] = {"subjectId": subject_id, "limit": limit, "workspace": workspace}
    records: Any = call(common, "ledger history", asked)
    if common.json:
        show.as_json(records)
        return
    rows = ({**record, "says": said(record["payload"])} for record in records)
    columns = ("seq", "recordedAt", "kind", "op", "says", "validFrom", "validTo", "author", "id")
    show.table(rows, columns, "No records.")


# -- a view for people -------------------------------------------------------------------------


def _paint(view: Mapping[str, Any]) -> None:
    identity = view["identity"]
    if identity is None:
        show.lines(f"{view['id']}: nothing in force says what it is at {view['validTime']}.")
    else:
        shown = {"description": identity["description"], "state": _state(identity)}
        show.lines(f"{identity['label']} ({identity['type']})")
        show.members({"id": view["id"], **shown})
    show.members({"known at": view["recordTime"], "holds at": view["validTime"]})
    _section("Designators", view["designators"], ("scheme", "value", "state", "author", "id"))
    _section("Claims", list(_claims(view["claims"])), CLAIM_COLUMNS)
    _section("Observations", view["observations"], ("observedAt", "says", "state", "id"))
    _section("Refuted", view["rejected"], ("kind", "says", "author", "id"))
    _section("Displaced", view.get("history", ()), ("kind", "op", "says", "by", "id"))
    _section("Segments of valid time", view.get("segments", ()), ("validFrom", "validTo"))
    _closing(view)


CLAIM_COLUMNS = ("predicate", "value", "stands", "state", "authors", "confidence", "evidence", "id")


def _claims(claims: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each candidate of each predicate, the best first."""
    for predicate, claim in claims.items():
        for candidate in claim["candidates"]:
            newest = candidate["support"][-1]
            yield {
                "predicate": predicate,
                "value": said(candidate["value"]),
                "stands": _stands(claim, candidate),
                "state": _state(newest),
                "authors": candidate["authors"],
                "confidence": candidate["confidence"],
                "evidence": len({id_ for each in candidate["support"] for id_ in each["evidence"]}),
                "id": newest["id"],
            }


def _stands(claim: Mapping[str, Any], candidate: Mapping[str, Any]) -> str:
    if candidate["rank"] < 0:
        return "refuted"
    if claim["contested"]:
        return "contested"
    return "value" if candidate["best"] else "other"


def _section(title: str, rows: Any, columns: tuple[str, ...]) -> None:
    if not rows:
        return
    show.lines("", title)
    show.table(map(_row, rows), columns, "")


def _row(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item with what a table shows of it besides its members."""
    by = [f"{each['op']} {each['id']}" for each in item.get("displacedBy", ())]
    says = item.get("text") or said(item.get("content"))
    state = _state(item) if "verification" in item else item.get("state")
    return {**item, "state": state, "says": _cut(says), "by": by}


def _state(item: Mapping[str, Any]) -> str:
    return "erased" if item["erased"] else str(item["verification"]["state"])


def _closing(view: Mapping[str, Any]) -> None:
    for collision in view.get("collisions", ()):
        others = ", ".join(collision["subjects"])
        show.lines("", f"{collision['scheme']} {collision['value']} also belongs to {others}.")
    if view["unreadable"]:
        show.lines("", f"Claims in force without their content: {len(view['unreadable'])}.")
    basis = view["basis"]
    show.lines("", f"From the first {basis['size']} records; --size {basis['size']} repeats it.")


def said(value: Any) -> str:
    """What a payload or a value says, in a line; its salt is nobody's business."""
    if value is None:
        return "(erased)"
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        value = {name: member for name, member in value.items() if name != "salt"}
        if "predicate" in value:
            return _cut(f"{value['predicate']} = {said(value['value'])}")
        if "scheme" in value:
            return _cut(f"{value['scheme']} {value['value']}")
        named = [name for name in ("text", "label", "state", "reason") if name in value]
        if named:
            return _cut(str(value[named[0]]))
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_SHOWN else f"{text[: TEXT_SHOWN - 1]}…"

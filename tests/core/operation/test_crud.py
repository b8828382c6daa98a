"""Rows that people keep follow from one declaration: a small resource shows all of it."""

import json
from typing import Annotated, Any

import pytest
from attrs import frozen

from svc_core import catalog
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.operation.crud import Crud
from svc_core.operation.declaration import QUERY
from svc_core.operation.members import CreatedAt, Cursor, Limit, UpdatedAt
from svc_core.operation.merge_patch import MergePatch, nullable, patch_of, sent_members
from svc_core.operation.ports import Collection
from svc_core.wire import structure
from svc_core.wire.constraints import Doc, IdOf, MaxLen
from svc_http.stores import MemoryStorage
from tests.core.conftest import House

Title = Annotated[str, MaxLen(40), Doc("What it is called.")]
Marks = Annotated[tuple[str, ...], MaxLen(5), Doc("Words to find it by.")]
Pinned = Annotated[bool, Doc("Whether it lies on top.")]


@frozen(kw_only=True)
class Sheet:
    """A sheet of paper that a workspace keeps."""

    id: Annotated[str, IdOf("prj")]
    title: Title
    marks: Marks
    pinned: Pinned = False
    created_at: CreatedAt
    updated_at: UpdatedAt


@frozen
class SheetInput:
    """A whole sheet as a client sends it."""

    title: Title
    marks: Marks = ()


@frozen
class ListSheets:
    """The sheets, newest first."""

    pinned: Annotated[Pinned, QUERY] = UNSET  # type: ignore[assignment]
    limit: Limit = 20
    cursor: Cursor = UNSET


SHEETS: Collection[Sheet] = Collection(
    name="sheets",
    model=Sheet,
    prefix="prj",
    keys={"pinned": lambda sheet: str(sheet.pinned).lower()},
    kind="sheet",
)
SHEET_ROWS = Crud(
    SHEETS,
    body=SheetInput,
    rows_max=2,
    example={"title": "Harbour dues"},
)
OPERATIONS = (
    SHEET_ROWS.listing(ListSheets, "The sheets of the workspace."),
    SHEET_ROWS.declare("create", "Begins a sheet."),
    SHEET_ROWS.declare("show", "One sheet."),
    SHEET_ROWS.declare("replace", "What is left out gets its default."),
    SHEET_ROWS.declare("update", "Changes the members that are sent."),
    SHEET_ROWS.declare("delete", "Throws it away."),
    SHEET_ROWS.switch("pin", "Lays it on top.", {"pinned": True}),
)


@pytest.fixture
def sheets() -> House:
    house = House()
    house.store = MemoryStorage((*catalog.COLLECTIONS, SHEETS))
    house.operations |= {operation.id: operation for operation in OPERATIONS}
    return house


def send(house: House, operation: str, id_: str = "", body: Any = None, **parts: Any) -> Any:
    path = {"sheetId": id_} if id_ else {}
    reply = house.send(operation, path=path, body=body, **parts)
    return json.loads(reply.body)["data"] if reply.body else None


def test_names_addresses_and_summaries_follow_from_the_verbs() -> None:
    assert [(row.id, row.method, row.path, row.summary) for row in OPERATIONS] == [
        ("listSheets", "GET", "/sheets", "List sheets"),
        ("createSheet", "POST", "/sheets", "Create a sheet"),
        ("getSheet", "GET", "/sheets/{sheetId}", "Read a sheet"),
        ("replaceSheet", "PUT", "/sheets/{sheetId}", "Replace a sheet"),
        ("updateSheet", "PATCH", "/sheets/{sheetId}", "Change a sheet"),
        ("deleteSheet", "DELETE", "/sheets/{sheetId}", "Delete a sheet"),
        ("pinSheet", "POST", "/sheets/{sheetId}/pin", "Pin a sheet"),
    ]


def test_a_row_is_created_changed_and_deleted_with_its_change_records(sheets: House) -> None:
    sheet = send(sheets, "createSheet", body={"title": "Dues", "marks": ["a", "b", "a"]})
    id_ = sheet["id"]
    assert sheet["marks"] == ["a", "b"]
    assert send(sheets, "updateSheet", id_, {"title": "Fees"})["marks"] == ["a", "b"]
    assert send(sheets, "updateSheet", id_, {"marks": None})["marks"] == []
    send(sheets, "updateSheet", id_, {"title": "Fees"})
    assert send(sheets, "replaceSheet", id_, {"title": "Fees", "marks": ["c"]})["marks"] == ["c"]
    assert send(sheets, "replaceSheet", id_, {"title": "Fees"})["marks"] == []
    assert send(sheets, "pinSheet", id_)["pinned"] is True
    assert send(sheets, "pinSheet", id_) == send(sheets, "getSheet", id_)
    assert [row["id"] for row in send(sheets, "listSheets", query="pinned=true")] == [id_]
    assert send(sheets, "listSheets", query="pinned=false") == []
    stale = sheets.refusal(
        "updateSheet", path={"sheetId": id_}, body={"title": "x"}, if_match='"stale"'
    )
    assert stale.type is problem.PRECONDITION_FAILED
    send(sheets, "deleteSheet", id_)
    assert sheets.refusal("getSheet", path={"sheetId": id_}).type is problem.NOT_FOUND
    changes = [row["changeType"] for row in sheets.changes() if row["resourceType"] == "sheet"]
    assert changes == ["created", *["updated"] * 5, "deleted"]


def test_there_are_as_many_rows_as_the_declaration_says(sheets: House) -> None:
    send(sheets, "createSheet", body={"title": "1"})
    send(sheets, "createSheet", body={"title": "2"})
    refusal = sheets.refusal("createSheet", body={"title": "3"})
    assert refusal.type is problem.RESOURCE_CONFLICT
    assert refusal.detail == "A workspace has at most 2 sheets."
    assert refusal.type in OPERATIONS[1].fails
    send(sheets, "createSheet", tenant="wsp_b", body={"title": "3"})


# -- patches -------------------------------------------------------------------------------------


@frozen
class Whole:
    name: str
    words: tuple[str, ...] = ()
    note: str | None = None


Patch = patch_of(Whole)


@frozen
class Book:
    title: str
    part: Whole | None = None


BookPatch = patch_of(Book, "BookChange", "A change.", part=nullable(Patch, "A part."), pages=int)


@pytest.mark.parametrize(
    ("patch", "members"),
    [
        (Patch(), {}),
        (Patch(name="n"), {"name": "n"}),
        (Patch(words=None), {"words": ()}),
        (Patch(words=("a",)), {"words": ("a",)}),
        (Patch(note=None), {"note": None}),
        (Whole("n"), {"name": "n", "words": (), "note": None}),
    ],
)
def test_a_merge_patch_names_what_it_changes_and_null_is_the_default(
    patch: Any, members: Any
) -> None:
    assert sent_members(patch, Whole) == members


def test_a_patch_is_read_as_its_model_is_and_a_required_member_is_never_null() -> None:
    assert issubclass(Patch, MergePatch)
    assert (Patch.__name__, BookPatch.__name__) == ("WholePatch", "BookChange")
    assert structure(Patch, {"words": None}) == Patch(words=None)
    assert structure(BookPatch, {"part": {"name": "a"}, "pages": 3}) == BookPatch(
        part=Patch(name="a"), pages=3
    )
    with pytest.raises(Exception, match="name"):
        structure(Patch, {"name": None})


def test_a_patch_within_a_patch_changes_only_what_it_names() -> None:
    book = Book("b", Whole("n", ("a",)))
    patch = BookPatch(part=Patch(note="x"))
    assert sent_members(patch, Book, book) == {"part": Whole("n", ("a",), "x")}
    assert sent_members(BookPatch(part=None), Book, book) == {"part": None}
    assert sent_members(BookPatch(part=Patch(name="m")), Book) == {"part": Whole("m")}
    with pytest.raises(problem.Problem) as failure:
        sent_members(patch, Book)
    assert failure.value.detail == "/part/name: is required"

"""What an operation takes is read once, from its request class."""

from datetime import UTC, datetime
from typing import Annotated

import attrs
import pytest
from attrs import field, frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.declaration import PATH, QUERY, In
from svc_core.operation.inputs import inputs_of
from svc_core.wire.constraints import Doc, Ge, IdOf
from tests.core.catalog import things


def test_every_field_is_an_input_with_its_wire_name_and_place() -> None:
    read = inputs_of(things.ListThings)
    assert [(item.attribute, item.name, item.place) for item in read] == [
        ("limit", "limit", "query"),
        ("cursor", "cursor", "query"),
        ("kinds", "kinds", "query"),
        ("since", "since", "query"),
        ("when", "datetime", "query"),
    ]
    assert [item.doc for item in read] == [
        "Rows in one page.",
        "Where to go on.",
        "Kinds.",
        "",
        "",
    ]


def test_headers_and_bodies_are_inputs_too() -> None:
    body, agent = inputs_of(things.MakeThing)
    assert (body.place, body.required, body.annotation) == (
        "body",
        True,
        Annotated[things.ThingInput, Doc("The thing.")],
    )
    assert (agent.name, agent.place, agent.required) == ("X-Agent", "header", False)
    with pytest.raises(AssertionError, match="structured"):
        body.read("{}")


def test_defaults_are_told_and_never_shared() -> None:
    @frozen
    class Request:
        required: Annotated[int, QUERY]
        unset: Annotated[Maybe[int], QUERY] = UNSET
        plain: Annotated[int, QUERY] = 3
        row: Annotated[tuple[int, ...], QUERY] = field(factory=tuple)

    assert [(item.required, item.default) for item in inputs_of(Request)] == [
        (True, UNSET),
        (False, UNSET),
        (False, 3),
        (False, ()),
    ]


def test_the_place_is_no_part_of_the_type() -> None:
    @frozen
    class Request:
        id: Annotated[str, PATH, IdOf("rpt")]
        siblings: Annotated[Maybe[tuple[Annotated[str, IdOf("src")], ...]], QUERY] = UNSET
        limit: Maybe[Annotated[int, QUERY, Ge(1), Doc("Rows.")]] = UNSET

    id_, siblings, limit = inputs_of(Request)
    assert (id_.annotation, id_.doc) == (Annotated[str, IdOf("rpt")], "Report identifier.")
    assert (id_.id_of, siblings.id_of) == (IdOf("rpt"), IdOf("src"))
    assert (limit.place, limit.doc, limit.id_of) == ("query", "Rows.", None)
    with pytest.raises(ValueError, match="must be at least 1"):
        limit.read("0")


def test_an_input_that_no_class_declares_is_described_by_its_annotation_alone() -> None:
    @frozen
    class Request:
        limit: Annotated[int, QUERY]
        """Rows of a page."""

    (limit,) = inputs_of(Request)
    flag = attrs.evolve(limit, annotation=Annotated[int, Doc("Rows.")], declaration=None)
    assert (limit.doc, flag.doc) == ("Rows of a page.", "Rows.")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("limit", "100", 100),
        ("kinds", "a,b", ("a", "b")),
        ("since", "2026-01-31T09:30:00Z", datetime(2026, 1, 31, 9, 30, tzinfo=UTC)),
    ],
)
def test_an_input_reads_its_own_text(name: str, text: str, value: object) -> None:
    (item,) = (item for item in inputs_of(things.ListThings) if item.attribute == name)
    assert item.read(text) == value


def test_the_inputs_of_a_class_are_read_once() -> None:
    assert inputs_of(things.ListThings) is inputs_of(things.ListThings)
    assert inputs_of(things.NoInput) == ()


def test_an_input_that_cannot_be_read_is_told_at_once() -> None:
    @frozen
    class Request:
        odd: Annotated[dict[str, int], In("query")]

    with pytest.raises(TypeError, match="travel as text"):
        inputs_of(Request)

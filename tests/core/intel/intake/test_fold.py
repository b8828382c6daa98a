"""Rows as the fold of their contributions: who says what."""

from datetime import timedelta
from typing import Any

import pytest

from svc_core import wire
from svc_core.intel.folding.contributions import CONTRIBUTIONS, Contribution, prepare_contribution
from svc_core.intel.folding.rules import Rules, fold_contributions, strongest_contribution
from svc_core.intel.intake.kinds import KINDS
from svc_core.testing.clock import START


def claim(
    source: str, format_: str = "usgs", hours: int | None = 0, **members: Any
) -> Contribution:
    """What a source says, stamped so many hours after the start, or read then without a stamp."""
    is_gone, names = members.pop("gone", False), members.pop("names", ())
    read = members.pop("read", 0)
    return Contribution(
        id=f"{source}:{names[:1]}",
        row="row",
        source=source,
        resource="osintEvent",
        format=format_,
        key="k",
        digest=1,
        said=members,
        ref={"id": source},
        read_at=START + timedelta(hours=read),
        stamp=None if hours is None else START + timedelta(hours=hours),
        names=names,
        gone=is_gone,
    )


RULES = Rules(
    precedence=("gdacs", "usgs"),
    prefer={"title": ("usgs", "gdacs")},
    item_keys={"designators": ("scheme", "value"), "tags": ()},
    silent_formats=frozenset({"epss"}),
)
QUAKE = {"scheme": "usgs", "value": "us7", "provider": "a"}

CASES: dict[str, tuple[list[Contribution], dict[str, Any] | None]] = {
    "nobody": ([], None),
    "one that is gone": ([claim("a", gone=True, x=1)], None),
    "the silent alone": ([claim("a", "epss", x=1)], None),
    "the silent with another": ([claim("a", "epss", x=1), claim("b", y=2)], {"x": 1, "y": 2}),
    "the stronger format": ([claim("a", x=1), claim("b", "gdacs", x=2)], {"x": 2}),
    "a format without a place": ([claim("a", "eonet", x=1), claim("b", x=2)], {"x": 2}),
    "a member of its own order": (
        [claim("a", title="A"), claim("b", "gdacs", title="B")], {"title": "A"},
    ),
    "null says nothing": ([claim("a", x=1), claim("b", "gdacs", x=None)], {"x": 1}),
    "an empty list is said": ([claim("a", x=[1]), claim("b", "gdacs", x=[])], {"x": []}),
    "the later stamp": ([claim("a", hours=2, x=1), claim("b", hours=1, x=2)], {"x": 1}),
    "a stamp before none": ([claim("a", hours=None, read=9, x=1), claim("b", x=2)], {"x": 2}),
    "the later reading": (
        [claim("a", hours=None, read=1, x=1), claim("b", hours=None, read=2, x=2)], {"x": 2},
    ),
    "the lower id": ([claim("b", x=2), claim("a", x=1)], {"x": 1}),
    "lists are joined": (
        [
            claim("a", designators=[QUAKE], tags=["x"]),
            claim("b", designators=[QUAKE | {"provider": "b"}, QUAKE | {"value": "pr7"}],
                 tags=["y", "x"]),
        ],
        {"designators": [QUAKE, QUAKE | {"value": "pr7"}], "tags": ["x", "y"]},
    ),
    "its own later word under another key": (
        [claim("a", names=("n1",), x=1, y=1), claim("a", hours=1, names=("n2", "n1"), x=2)],
        {"x": 2},
    ),
    "another's later word under another key": (
        [claim("a", names=("n1",), x=1, y=1), claim("b", hours=1, names=("n2", "n1"), x=2)],
        {"x": 2, "y": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_row_says_what_its_contributions_say_together(name: str) -> None:
    contributions, combined = CASES[name]
    for order in (contributions, contributions[::-1]):
        members = fold_contributions(RULES, order)
        if members is not None:
            sources = members.pop("sources")
            assert [source["id"] for source in sources] == sorted(
                source["id"] for source in sources
            )
        assert members == combined


def test_a_row_that_is_whole_is_told_by_one_alone() -> None:
    members = fold_contributions(Rules(is_single=True), [claim("a", hours=1, x=1), claim("b", y=2)])
    assert members is not None
    assert {"x": 1}.items() <= members.items()
    assert "y" not in members


def test_who_gave_something_back_is_not_the_strongest() -> None:
    assert strongest_contribution(RULES, [claim("a", "gdacs", gone=True), claim("b")]).source == "b"


def test_an_entity_goes_by_the_strongest_scheme_of_its_keys() -> None:
    kind = KINDS["entity"]
    keys = ["x:1", "ftm:1", "cik:1", "lei:1"]
    assert sorted(keys, key=kind.strength) == keys[::-1]


def test_a_contribution_is_rendered_in_parts_as_it_is_in_one() -> None:
    contribution = claim("a", names=("n1", "n2"), x=1)
    late_members = ("digest", "readAt", "stamp", "since")
    whole = CONTRIBUTIONS.record(contribution)
    words = {k: v for k, v in wire.to_json(contribution).items() if k not in late_members}  # type: ignore[union-attr]
    parts = prepare_contribution(contribution, wire.to_bytes(words)).record
    assert CONTRIBUTIONS.decode(parts.raw) == CONTRIBUTIONS.decode(whole.raw) == contribution
    assert (parts.keys, parts.facets) == (whole.keys, whole.facets)

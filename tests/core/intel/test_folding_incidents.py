"""The rules by which members make an incident, table by table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.incidents.incident_members import MACHINE, PRESS, REPORT, Member, site
from svc_core.intel.incidents.member_groups import group_id, group_members
from svc_core.intel.incidents.rules import (
    fold_members,
    incident_status,
    medoid,
    noisy_or_confidence,
)
from svc_core.operation.source_members import Place, SourceRef

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
SITES = {
    "https://www.bbc.co.uk/news/1": "bbc.co.uk",
    "https://edition.cnn.com/a": "cnn.com",
    "https://cnn.com": "cnn.com",
    "https://abc.net.au/x": "abc.net.au",
    "https://news.com.au/x": "news.com.au",
    "https://a.b.gov.br/": "b.gov.br",
    "https://co.uk/": "co.uk",
    "http://127.0.0.1:80/x": "127.0.0.1",
    "https://EXAMPLE.org./x": "example.org",
    "mailto:a@b.example": None,
    "http://[bad/a": None,
    "": None,
}


@pytest.mark.parametrize(("url", "expected"), SITES.items())
def test_the_publisher_of_an_address_is_its_registrable_domain(
    url: str, expected: str | None
) -> None:
    assert site(url) == expected


def member(id_: str, provider: str = PRESS, **members: Any) -> Member:
    usual: dict[str, Any] = {
        "home": f"inc_{id_}", "marks": (f"inc_{id_}",), "title": id_, "signs": (NOON,),
        "sites": frozenset({f"{id_}.example"}),
        "sources": (SourceRef("src_a", provider, "A", None, id_, NOON),),
    }  # fmt: skip
    return Member(id=id_, provider=provider, **(usual | members))


def test_the_headline_is_the_one_that_others_resemble() -> None:
    titles = ("Harbour strike spreads", "Quay: harbour strike spreads to Rotterdam", "A day at sea")
    members = [member(str(at), title=title) for at, title in enumerate(titles)]
    assert medoid(members).title == "Harbour strike spreads"
    assert medoid(members[2:]).title == "A day at sea"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ([("a", "usgs", None)], 0.9),
        ([("a", "usgs", None), ("b", "gdacs", None)], 0.9),  # they take over from each other
        ([("a", "ucdp", 0.5)], 0.45),
        ([("a", REPORT, None)], 0.7),
        ([("a", PRESS, None)], 0.5),
        ([("a", PRESS, None), ("b", PRESS, None)], 0.75),
        ([("a", MACHINE, None)], 0.3),
        ([("a", MACHINE, 1.0)], 0.5),
        ([("a", "usgs", None), ("b", PRESS, None)], 0.95),
    ],
)
def test_confidence_grows_with_independent_sources(members: Any, expected: float) -> None:
    group = [member(id_, provider, certainty=sure) for id_, provider, sure in members]
    assert noisy_or_confidence(group) == expected


def test_a_publisher_counts_once() -> None:
    members = [member(id_, sites=frozenset({"a.example"})) for id_ in "abc"]
    assert noisy_or_confidence(members) == 0.5


@pytest.mark.parametrize(
    ("hours", "status", "until"),
    [
        (0, "emerging", 6),
        (5.9, "emerging", 6),
        (6, "active", 54),  # news from the future are news of now
        (57.9, "active", 58),
        (58, "monitoring", 346),
        (346, "closed", None),
        (-5, "emerging", 1),  # a clock of theirs that is ahead
    ],
)
def test_a_status_follows_the_first_and_the_last_news(
    hours: float, status: str, until: int | None
) -> None:
    members = [member("a", signs=(NOON, NOON + timedelta(hours=10)))]
    end = None if until is None else NOON + timedelta(hours=until)
    assert incident_status(members, NOON + timedelta(hours=hours)) == (status, end)


def place(precision: Any, name: str, code: str | None = None) -> Place:
    return Place(None, name, code, None, None, precision)


def test_the_place_is_the_most_precise_with_the_country_of_others() -> None:
    members = [
        member("a", "usgs", place=place("locality", "Here")),
        member("b", "gdacs", place=place("country", "There", "EC")),
        member("c", "reliefweb", place=place("exact", "Exactly")),
    ]
    row, _ = fold_members(members, NOON, None, id="inc_a", related_incident_ids=())
    assert row.place == place("exact", "Exactly", "EC")


@given(st.permutations(list("abcdef")), st.data())
def test_members_in_any_order_make_the_same(order: list[str], data: Any) -> None:
    marks = {
        id_: tuple(data.draw(st.lists(st.sampled_from("xyz"), max_size=2))) for id_ in "abcdef"
    }
    kinds = {id_: data.draw(st.sampled_from(("usgs", PRESS, MACHINE, REPORT))) for id_ in "abcdef"}
    hours = {id_: data.draw(st.integers(0, 3)) for id_ in "abcdef"}

    def incident_of(ids: Any) -> dict[str, Any]:
        members = [
            member(id_, kinds[id_], weak=marks[id_], signs=(NOON + timedelta(hours=hours[id_]),))
            for id_ in ids
        ]
        return {
            group_id(group): fold_members(
                group, NOON, None, id=group_id(group), related_incident_ids=()
            )
            for group in group_members(members)
        }

    assert incident_of(order) == incident_of("abcdef")

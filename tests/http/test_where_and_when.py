"""An operation that is narrowed to an area and a time, over HTTP (RFC 7946 5.2; RFC 9745)."""

import json

import pytest
from attrs import frozen

from svc_core.base import instants
from svc_core.base.unset import UNSET, Unset
from svc_core.contract import problem
from svc_core.contract.result import Page
from svc_core.operation.declaration import Operation
from svc_core.operation.period import AreaFilter, Since, TimeFilter, Until, requested_interval

PLACES = {"Suva": (178.44, -18.14), "Lagoon": (-179.5, -18.0), "Antwerp": (4.4, 51.2)}


@frozen
class ListPlaces:
    bbox: AreaFilter = UNSET
    datetime: TimeFilter = UNSET
    since: Since = UNSET
    until: Until = UNSET


async def list_places(_ctx, request):
    area = request.bbox
    names = [n for n, at in PLACES.items() if isinstance(area, Unset) or area.contains(*at)]
    span = requested_interval(request.datetime, request.since, request.until)
    sides = [None if side is None else instants.render(side) for side in (span.start, span.end)]
    return Page(tuple(json.dumps(row).encode() for row in (*names, sides)))


OPERATION = Operation(
    id="listPlaces",
    method="GET",
    path="/places",
    summary="List places",
    description="Places.",
    tag="OSINT",
    request=ListPlaces,
    response=Page[str],
    run=list_places,
    fails=(problem.CONFLICTING_PARAMETERS,),
)


@pytest.fixture
def ask(make_house):
    house = make_house(parts={"operations": (OPERATION,)})
    key = house.key()
    return lambda query: house.ask("GET", f"/api/v1/places?{query}", key)


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("", ["Suva", "Lagoon", "Antwerp", [None, None]]),
        ("bbox=177,-20,-178,-16", ["Suva", "Lagoon", [None, None]]),
        ("bbox=-178,-20,177,-16", [[None, None]]),
        ("bbox=177%2C-20%2C180%2C-16", ["Suva", [None, None]]),
        (
            "bbox=4,51,5,52&datetime=2026-01-01T00:00:00Z/..",
            ["Antwerp", ["2026-01-01T00:00:00Z", None]],
        ),
        ("bbox=4,51,5,52&since=1769848200000", ["Antwerp", ["2026-01-31T08:30:00Z", None]]),
        ("bbox=4,51,5,52&until=0", ["Antwerp", [None, "1970-01-01T00:00:00Z"]]),
    ],
)
def test_rows_lie_where_and_when_they_were_asked_for(ask, query, rows):
    answer = ask(query)
    assert answer.status_code == 200
    assert answer.json()["data"] == rows


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("bbox=10,5,20,1", problem.INVALID_PARAMETER),
        ("bbox=nan,5,20,6", problem.INVALID_PARAMETER),
        ("bbox=1,2,3,4,5,6", problem.INVALID_PARAMETER),
        ("bbox=", problem.INVALID_PARAMETER),
        ("bbox=1,2,3,4&bbox=1,2,3,4", problem.DUPLICATE_PARAMETER),
        ("datetime=../..", problem.INVALID_PARAMETER),
        ("since=2&until=1", problem.INVALID_PARAMETER),
        ("since=-1", problem.INVALID_PARAMETER),
        ("datetime=2026-01-01T00:00:00Z/..&since=1", problem.CONFLICTING_PARAMETERS),
        ("datetime=2026-01-01T00:00:00Z/..&until=1", problem.CONFLICTING_PARAMETERS),
    ],
)
def test_what_makes_no_sense_is_refused_and_named(ask, check_problem, query, kind):
    detail = check_problem(ask(query), kind)
    assert query.partition("=")[0] in detail["detail"]


@pytest.mark.parametrize("query", ["since=1", "until=1", "since=1&until=2"])
def test_the_old_spelling_is_answered_and_told_to_be_old(ask, query):
    answer = ask(query)
    assert answer.status_code == 200
    assert answer.headers["deprecation"].startswith("@")
    assert 'rel="deprecation"' in answer.headers["link"]
    assert "deprecation" not in ask("datetime=2026-01-01T00:00:00Z/..").headers

"""What stands on the page of a report, and the addresses that open it (Spec: Report; D16)."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.seals import Keyring
from svc_core.contract import cursor, problem
from svc_core.contract.problem import Problem
from svc_core.reports import addresses, page, rules
from svc_core.reports.addresses import Opening
from svc_core.reports.model import ReportSource, Section, Statement, numbers_of
from svc_core.reports.report_commands import OpenReport, open_report
from tests.pages.reports import ID, LONG, SCRIPT, hostile, put

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
KEYS = Keyring({1: b"k" * 32}, 1)
OPENING = Opening("wsp_a", ID, NOW + timedelta(hours=1))
NONCE = bytes(12)

_SEQUENCES = (list, tuple)


def words_of(value: Any) -> list[str]:
    """Every text in a value, however deep."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [text for part in value for text in words_of(part)] if isinstance(value, _SEQUENCES) else []
    )


# -- what stands on it -------------------------------------------------------------------------


def test_the_page_has_the_words_as_they_are_without_what_would_turn_others() -> None:
    seen = page.page_view(*hostile(NOW), None)
    assert SCRIPT in seen.title  # what is markup is for whoever makes markup
    assert LONG in seen.key_points[0].text
    assert seen.sections[0].heading == f"Head gnp.exe{SCRIPT}"
    words = words_of(attrs.asdict(seen))
    assert words
    assert not [text for text in words if re.search("[\x00-\x1f\u202a-\u202e\u2066-\u2069]", text)]


def test_only_web_addresses_are_links() -> None:
    row, facets = hostile(NOW)
    urls = [source.url for source in page.page_view(row, facets, None).sources]
    assert urls == [
        "https://news.example.com/1?a=1&b=2",
        None,
        'https://news.example.com/"onmouseover="alert(1)',
        None,
        "https://news.example.com/%E2%80%AEgnp.exe%E2%81%A6",
        None,
        None,
        f"https://news.example.com/{LONG}",
    ]


def test_a_source_that_nothing_quotes_also_reported_it() -> None:
    seen = page.page_view(*hostile(NOW), None)
    (line,) = seen.sections[0].statements
    assert ([*line.also], [source.number for source in line.same_event]) == ([], [2])
    assert [source.number for source in seen.also] == [8]


numbers = st.lists(st.integers(1, 9), max_size=4, unique=True).map(tuple)
statements = st.lists(st.builds(Statement, st.just("Said."), numbers), max_size=3).map(tuple)
sections = st.lists(
    st.builds(Section, st.just("s"), st.just("Head"), statements, numbers, st.just(())), max_size=3
).map(tuple)


@given(statements, statements, sections, statements)
def test_every_source_is_marked_or_also_reported_it(
    opening: Any, key_points: Any, stories: Any, briefs: Any
) -> None:
    row, facets = hostile(NOW)
    nine = tuple(ReportSource(n, "obs", "Title", None, "Paper", None) for n in range(1, 10))
    parts = {"opening": opening, "key_points": key_points, "sections": stories, "briefs": briefs}
    seen = page.page_view(row, attrs.evolve(facets, **parts, sources=nine), None)
    statements = [*seen.opening, *seen.key_points, *seen.briefs]
    statements += [statement for section in seen.sections for statement in section.statements]
    numbers = {number for item in statements for number in item.citations}
    also = [source.number for item in statements for source in (*item.also, *item.same_event)]
    assert numbers | {*also} | {source.number for source in seen.also} == {*range(1, 10)}
    assert numbers.union(also).isdisjoint(source.number for source in seen.also)


def test_the_agents_view_names_every_source_of_what_it_says() -> None:
    row, facets = hostile(NOW)
    seen = rules.agent_view(row, facets)
    lines = [*seen.key_points, *seen.briefs]
    numbers = {n for line in lines for n in numbers_of(line)}
    assert numbers == {1, 2, 3, 4, 5, 6, 7}
    assert [line.same_event for line in seen.key_points] == [(), (), (2,)]
    (section,) = facets.sections
    lines = (attrs.evolve(section.statements[0], also_reported_by=(2,)),)
    stories = (attrs.evolve(section, statements=lines),)
    quotation = attrs.evolve(facets, opening=section.statements, sections=stories)
    assert rules.agent_view(row, quotation).key_points[0].also_reported_by == (2,)
    empty = attrs.evolve(facets, key_points=(), sections=(), briefs=(), sources=())
    assert rules.agent_view(row, empty).key_points == ()


def test_a_report_from_before_signals_has_none() -> None:
    row, facets = hostile(NOW)
    assert page.page_view(row, attrs.evolve(facets, signals=None), None).signals is None
    seen = page.page_view(row, facets, None).signals
    assert seen is not None
    assert seen[0].places == ("Antwerp gnp.exe",)


# -- addresses ---------------------------------------------------------------------------------


def test_an_address_opens_its_report_until_it_ends() -> None:
    token = addresses.seal_report_link(KEYS, OPENING, NONCE)
    assert (
        addresses.open_report_link(KEYS, token, OPENING.ends_at - timedelta(seconds=1)) == OPENING
    )
    with pytest.raises(Problem) as failure:
        addresses.open_report_link(KEYS, token, OPENING.ends_at)
    assert failure.value.type is problem.LINK_EXPIRED
    assert "2026-03-04 06:06 UTC" in failure.value.detail
    assert re.fullmatch("[A-Za-z0-9_-]+", token)
    assert ID not in token


def test_what_this_service_did_not_give_out_opens_nothing() -> None:
    token = addresses.seal_report_link(KEYS, OPENING, NONCE)
    tokens = [token[:at] + ("B" if token[at] != "B" else "C") + token[at + 1 :] for at in range(9)]
    tokens += [token[:-1], token + "A", "", "x" * 9_000, "\u2713"]
    tokens.append(cursor.seal(KEYS, ["wsp_a", ID, 2**40], b"", NONCE))
    foreign = Keyring({1: b"f" * 32}, 1)
    tokens.append(addresses.seal_report_link(foreign, OPENING, NONCE))
    for token_ in tokens:
        with pytest.raises(Problem) as failure:
            addresses.open_report_link(KEYS, token_, NOW)
        assert failure.value.type is problem.FORBIDDEN
    with pytest.raises(cursor.CursorError):
        cursor.unseal(KEYS, token, b"")


def test_an_address_is_given_out_for_a_report_that_is_there(house: Any) -> None:

    house.run(lambda ctx: put(ctx, *hostile(NOW)), "wsp_a")
    request = OpenReport(ID, lasts_seconds=60)
    link = json.loads(house.run(lambda ctx: open_report(ctx, request), "wsp_a").raw)
    assert link["url"].startswith("http://127.0.0.1:8000/reports/A")
    assert link["expiresAt"].endswith("Z")
    with pytest.raises(Problem) as missing:
        house.run(lambda ctx: open_report(ctx, request), "wsp_b")
    assert missing.value.type is problem.NOT_FOUND

"""What a document says of its source, and what its runs say of its health."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import ids
from svc_core.formats.model import Rejection
from svc_core.intel.folding.model import LastRun, Source, source_id
from svc_core.intel.intake import health
from svc_core.testing.clock import START as NOW
from tests.core.feeds import document_of

Make = Callable[..., Any]

# -- sources -----------------------------------------------------------------------------------


def test_a_location_is_one_source() -> None:
    assert source_id("https://a.org/") == source_id("https://a.org/")
    assert source_id("https://a.org/") != source_id("https://a.org/feed")
    assert ids.is_id("src", source_id("x"))


@pytest.mark.parametrize(
    ("location", "home", "host"),
    [
        ("https://feeds.host.org/x", "https://www.host.org/", "host.org"),
        ("https://feeds.host.org/x", None, "feeds.host.org"),
        ("https://feeds.host.org/x", "/relative", "feeds.host.org"),
        ("/folder/feed.xml", "https://host.org", "host.org"),
        ("/folder/feed.xml", None, ""),
    ],
)
def test_the_domain_is_that_of_the_home_page_or_the_location(
    location: str, home: str | None, host: str
) -> None:
    assert health.domain(location, home) == host


def test_a_document_says_what_nobody_said(make_document: Make, make_source: Make) -> None:
    source = health.with_description(make_source(NOW), document_of(make_document(language="mt")))
    assert (source.name, source.domain, source.language) == ("The Pier", "pier.org", "mt")
    assert (source.home_url, source.format) == ("https://www.pier.org/news", "rss")


def test_what_was_said_stays(make_document: Make, make_source: Make) -> None:
    before = make_source(NOW, name="Quay", home_url="https://quay.org", language="en")
    source = health.with_description(before, document_of(make_document(language="mt")))
    assert (source.name, source.domain, source.language) == ("Quay", "quay.org", "en")


def test_a_document_without_a_title_is_named_by_its_location(
    make_document: Make, make_source: Make
) -> None:
    source = health.with_description(make_source(NOW), document_of(make_document(title=None)))
    assert source.name == source.location


# -- health ------------------------------------------------------------------------------------

REJECTIONS = (Rejection("noTitle", 2, "x"), Rejection("twice", 1, "y"))


def _read(source: Source, rows: int, rejections: tuple[Rejection, ...], new: bool) -> Source:
    """After a document of so many rows, all of them new or known, was read."""
    count = sum(rejection.count for rejection in rejections)
    run = LastRun(rows, rejected=count) if new else LastRun(unchanged=rows, rejected=count)
    return health.after_success(source, NOW, run, rejections)


@pytest.mark.parametrize(
    ("age_days", "new", "rejections", "status"),
    [
        (0, True, (), "ok"),
        (0, False, (), "ok"),
        (0, True, REJECTIONS, "partial"),
        (7, False, (), "ok"),
        (8, False, (), "staleContent"),
        (8, False, REJECTIONS, "staleContent"),
        (8, True, (), "ok"),
    ],
)
def test_a_run_that_was_read(
    make_source: Make, age_days: int, new: bool, rejections: Any, status: str
) -> None:
    source = make_source(NOW - timedelta(days=age_days))
    after = _read(source, 5, rejections, new).health
    assert after.status == status
    assert (after.last_attempt_at, after.last_success_at) == (NOW, NOW)
    assert after.last_content_at == (NOW if new else None)
    assert (after.items_last_run, after.rejected_last_run) == (5, 3 if rejections else 0)
    assert after.next_attempt_at == NOW + timedelta(seconds=900)
    assert (after.error, after.http_status, after.consecutive_failures) == (None, None, 0)


@pytest.mark.parametrize(
    ("late_seconds", "rejections", "status"),
    [
        (0, (), "ok"),
        (2 * 900, (), "ok"),
        (2 * 900 + 1, (), "stale"),
        (2 * 900 + 1, REJECTIONS, "stale"),
        (2 * 900, REJECTIONS, "partial"),
    ],
)
def test_a_source_that_nobody_reads_is_shown_as_stale(
    make_source: Make, late_seconds: int, rejections: Any, status: str
) -> None:
    read = _read(make_source(NOW), 1, rejections, True)
    later = NOW + timedelta(seconds=900 + late_seconds)
    assert health.with_staleness(read, later).health.status == status


def test_errors_and_new_sources_are_shown_as_they_are(make_source: Make) -> None:
    new = make_source(NOW)
    failing = health.after_failure(new, NOW, "html", "A page.", None)
    later = NOW + timedelta(days=9)
    assert health.with_staleness(new, later) == new
    assert health.with_staleness(failing, later) == failing


def test_content_ages_from_when_it_was_last_new(make_source: Make) -> None:
    source = make_source(NOW - timedelta(days=100))
    fresh = _read(source, 1, (), True)
    later = health.after_unchanged(fresh, NOW + timedelta(days=7)).health
    assert (later.status, later.last_content_at) == ("ok", NOW)
    stale = health.after_unchanged(fresh, NOW + timedelta(days=7, seconds=1)).health
    assert stale.status == "staleContent"


def test_a_document_that_is_the_same_is_still_missing_its_rejected_rows(make_source: Make) -> None:
    first = _read(make_source(NOW), 5, REJECTIONS, True)
    later = NOW + timedelta(minutes=15)
    again = health.after_unchanged(first, later).health
    assert (again.status, again.rejected_last_run) == ("partial", 3)
    assert again.rejections == (Rejection("noTitle", 2, "x"), Rejection("twice", 1, "y"))
    assert (again.items_last_run, again.last_success_at) == (5, later)


def _fail(source: Source, times: int) -> Source:
    for _ in range(times):
        source = health.after_failure(source, NOW, "httpStatus", "It failed.", 500)
    return source


@pytest.mark.parametrize(
    ("times", "minutes"), [(1, 15), (2, 30), (3, 60), (7, 960), (8, 1_440), (60, 1_440)]
)
def test_failures_make_attempts_rarer_up_to_a_day(
    make_source: Make, times: int, minutes: int
) -> None:
    state = _fail(make_source(NOW), times).health
    assert state.next_attempt_at == NOW + timedelta(minutes=minutes)
    assert state.consecutive_failures == times
    assert (state.status, state.http_status) == ("error", 500)
    assert (state.error.code, state.error.message) == ("httpStatus", "It failed.")


def test_a_failure_forgets_neither_the_last_success_nor_the_validators(make_source: Make) -> None:
    good = _read(make_source(NOW, etag='"1"', digest="d"), 5, REJECTIONS, True)
    bad = health.after_failure(good, NOW + timedelta(hours=1), "timeout", "Late.", None)
    assert (bad.etag, bad.digest) == ('"1"', "d")
    assert bad.health.last_success_at == bad.health.last_content_at == NOW
    assert (bad.health.items_last_run, bad.health.rejected_last_run) == (0, 0)
    assert bad.health.rejections == ()


@given(st.lists(st.sampled_from(["good", "same", "bad"]), max_size=20))
def test_whatever_happened_the_next_attempt_lies_ahead_and_within_a_day(
    make_source: Make, runs: list[str]
) -> None:
    source = make_source(NOW)
    for run in runs:
        if run == "good":
            source = _read(source, 1, (), True)
        elif run == "same":
            source = health.after_unchanged(source, NOW)
        else:
            source = health.after_failure(source, NOW, "x", "X.", None)
        state = source.health
        assert NOW < state.next_attempt_at <= NOW + timedelta(hours=24)
        assert (state.error is None) == (state.status != "error")
        assert (state.consecutive_failures > 0) == (run == "bad")

"""The representation is the one that RFC 9110 lets the client expect."""

from contextlib import suppress
from itertools import permutations
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.negotiation import (
    CACHED_ACCEPT_MAX,
    MEMBERS_MAX,
    MediaError,
    NotAcceptable,
    Representation,
    UnknownFormat,
    is_coding_welcome,
    negotiate,
)

JSON = Representation("json", "application/json")
MARKDOWN = Representation("markdown", "text/markdown")
GEOJSON = Representation("geojson", "application/geo+json")
STIX = Representation("stix", "application/stix+json;version=2.1")
OFFERS = (JSON, MARKDOWN, GEOJSON)


@pytest.mark.parametrize(
    ("accept", "choice"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("APPLICATION/JSON", JSON),
        ("text/markdown", MARKDOWN),
        ("Text/Markdown ; Q=0.1", MARKDOWN),
        ("text/*", MARKDOWN),
        # Quality, then the more specific range, then our order.
        ("text/markdown;q=0.5, application/json;q=0.4", MARKDOWN),
        ("text/markdown;q=0.4, application/json;q=0.5", JSON),
        ("text/markdown, application/json", JSON),
        ("application/geo+json, text/markdown", MARKDOWN),
        ("text/markdown, */*", MARKDOWN),
        ("text/markdown, */*;q=0.9", MARKDOWN),
        ("text/markdown;q=0.9, */*", JSON),
        # The most specific range decides, wherever it stands.
        ("application/json;q=0.1, */*", MARKDOWN),
        ("*/*, application/json;q=0.1", MARKDOWN),
        ("application/*;q=0.1, application/geo+json;q=0.3, */*;q=0.2", GEOJSON),
        ("application/json;q=0.1, application/json;q=0.9, text/markdown;q=0.5", JSON),
        # Zero excludes.
        ("application/json;q=0, */*", MARKDOWN),
        ("application/*;q=0.000, text/*;q=0.001", MARKDOWN),
        # Parameters; q counts anywhere among them.
        ("application/json;charset=utf-8", JSON),
        ('application/json; charset="UTF-8"', JSON),
        ("text/markdown;q=0.5;charset=utf-8, application/json;q=0.4", MARKDOWN),
        ("application/json;version=2, text/markdown;q=0.1", MARKDOWN),
        ('application/json;profile="a,b;q=1", text/markdown;q=0.1', MARKDOWN),
        ('application/json;profile="a\\",", text/markdown;q=0.1', MARKDOWN),
        ("text/markdown;", MARKDOWN),
        ("text/markdown; ;q=1", MARKDOWN),
        # Members that cannot be read are skipped.
        ("json, text/markdown", MARKDOWN),
        (", ,text/markdown,", MARKDOWN),
        ("application/json;q=2, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=0.1234, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=1.001, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=-1, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=٠, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=nan, text/markdown;q=0.1", MARKDOWN),
        ("application/json;q=1;q=1, text/markdown;q=0.1", MARKDOWN),
        ("application/json q=1, text/markdown;q=0.1", MARKDOWN),
        ("application / json, text/markdown;q=0.1", MARKDOWN),
        ("*/json, text/markdown;q=0.1", MARKDOWN),
        ('application/json;a="b, text/markdown', JSON),
        ('application/json;a="b\\', JSON),
        ("nonsense", JSON),
        ("*", JSON),
        ("text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", JSON),
        ("image/png;q=0.9,image/*;q=0.8,text/*;q=0.7", MARKDOWN),
    ],
)
def test_accept_chooses(accept, choice):
    assert negotiate(OFFERS, accept, None) == choice


@pytest.mark.parametrize(
    "accept",
    [
        "image/png",
        "*/*;q=0",
        "text/html, image/*",
        "application/json;q=0, text/*;q=0, application/geo+json;q=0.0",
        "application/json;version=2",
        "application/stix+json",
    ],
)
def test_what_excludes_every_offer_is_not_acceptable(accept):
    with pytest.raises(NotAcceptable, match="application/json, text/markdown, application/geo"):
        negotiate(OFFERS, accept, None)


@pytest.mark.parametrize("accept", [None, "image/png", "application/json", "*/*;q=0", "nonsense"])
def test_format_beats_accept(accept):
    assert negotiate(OFFERS, accept, "markdown") == MARKDOWN


@pytest.mark.parametrize("format_", ["", "JSON", "html", "json ", "text/markdown", "mark"])
def test_an_unknown_format_is_refused(format_):
    with pytest.raises(UnknownFormat, match="json, markdown, geojson"):
        negotiate(OFFERS, "application/json", format_)


@pytest.mark.parametrize(
    ("accept", "acceptable"),
    [
        ("application/stix+json", True),
        ("application/stix+json;version=2.1", True),
        ('application/stix+json;VERSION="2.1"', True),
        ("application/stix+json;version=2.0", False),
        ("application/stix+json;version=2.1;q=0, */*", False),
        ("application/stix+json;version=2.0;q=0, */*", True),
    ],
)
def test_parameters_of_an_offer_satisfy_those_of_a_range(accept, acceptable):
    if acceptable:
        assert negotiate([STIX], accept, None) == STIX
    else:
        with pytest.raises(NotAcceptable):
            negotiate([STIX], accept, None)


def test_an_offer_must_be_a_media_type():
    with pytest.raises(MediaError, match="no media type"):
        negotiate([Representation("json", "json")], "text/html", None)


QUALITIES = st.integers(0, 1000).map(lambda number: f"{number / 1000:.3f}")


@given(st.tuples(QUALITIES, QUALITIES, QUALITIES), st.permutations(range(3)))
def test_the_highest_quality_wins_in_whatever_order_it_is_written(qualities, order):
    members = [f"{offer.media_type};q={q}" for offer, q in zip(OFFERS, qualities, strict=True)]
    accept = ",".join(members[index] for index in order)
    best = max(qualities)
    if float(best) == 0:
        with pytest.raises(NotAcceptable):
            negotiate(OFFERS, accept, None)
    else:
        assert negotiate(OFFERS, accept, None) == OFFERS[qualities.index(best)]


@given(st.sampled_from(list(permutations(OFFERS))))
def test_our_order_decides_between_equals(offers):
    assert negotiate(offers, "*/*;q=0.5", None) == offers[0]


@given(st.text('ajpqx*/;=,."\\ 01', max_size=40))
def test_a_field_is_answered_or_not_acceptable_and_nothing_else(accept):
    try:
        choice = negotiate(OFFERS, accept, None)
    except NotAcceptable:
        choice = None
    assert choice in (*OFFERS, None)


def test_a_field_too_long_to_remember_is_read_alike():
    accept = "text/markdown" + " " * CACHED_ACCEPT_MAX + ";q=0.5, application/json;q=0.4"
    assert negotiate(OFFERS, accept, None) == MARKDOWN


def test_members_beyond_the_bound_are_skipped():
    fill = ["image/png"] * (MEMBERS_MAX - 1)
    assert negotiate(OFFERS, ",".join([*fill, "text/markdown"]), None) == MARKDOWN
    with pytest.raises(NotAcceptable):
        negotiate(OFFERS, ",".join([*fill, "image/png", "text/markdown"]), None)


@pytest.mark.parametrize(
    "near_miss",
    [
        '"' + '\\"' * 20_000 + "\\",
        '"' * 40_001,
        "a/" * 20_000,
        "a/b;" + " " * 40_000 + "x",
        "a/b" + ";a=b" * 10_000,
        'a/b;a="' + '\\"' * 20_000,
        "," * 40_000,
    ],
)
def test_a_hostile_field_is_read_in_linear_time(near_miss):
    # Half a second of processor time is a hundred times what is needed; quadratic time is more.
    start = process_time()
    with suppress(NotAcceptable):
        negotiate(OFFERS, near_miss, None)
    assert process_time() - start < 0.5


@given(st.text("gzip*;q=01., -x", max_size=40))
def test_a_coding_is_welcome_or_not_whatever_is_sent(field):
    assert is_coding_welcome(field, "gzip") in {True, False}

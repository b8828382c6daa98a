"""Markup to text, links, dates and languages: the small facts every format shares."""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.reading.dates import common_zone, in_utc, parse_date
from svc_core.formats.reading.links import absolute_url, canonical_url, permalink, same_site
from svc_core.formats.reading.markup_text import (
    clip,
    fold_space,
    literal,
    markdown_text,
    plain_text,
    repair_encoding,
)


@given(st.text())
def test_escaped_text_comes_back_as_it_was(text: str) -> None:
    tagless = text.replace("<", "").replace("&", "")
    assert fold_space(plain_text(f"<p>{escape(tagless)}</p>")) == fold_space(tagless)


@given(st.text(alphabet=st.sampled_from("<>/!-'\"= abp&;?scriptlg")))
def test_no_tag_that_was_in_the_markup_is_in_its_text(markup: str) -> None:
    assert "<p>" not in plain_text(markup.replace("&", ""))
    assert len(plain_text(markup)) <= len(markup)


@given(st.text(), st.integers(2, 50))
def test_a_clipped_text_is_a_beginning_within_the_limit(text: str, chars_max: int) -> None:
    head = clip(text, chars_max)
    assert len(head) <= chars_max
    assert head == text or (head[-1] == "…" and text.startswith(head[:-1]))


@pytest.mark.parametrize(
    "caption",
    [
        "<figure><img src='a.png'><figcaption>A tug.</figcaption></figure>",
        "<figure><figcaption class='x'>A <b>tug</b>.</figure>",
        "<div class='wp-caption left'><img><p class='wp-caption-text'>A tug.</p></div>",
        '<p style="x" class="image-caption">A tug.</p>',
    ],
)
def test_a_caption_is_no_part_of_a_text(caption: str) -> None:
    body = f"<p class='captions'>Ships wait.</p>{caption}<p>Pilots strike.</p>"
    assert fold_space(plain_text(body)) == "Ships wait. Pilots strike."
    rows = [{"id": "1", "content_html": body, "attachments": [{"title": "A tug."}]}]
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Quay", "items": rows}
    (item,) = parse_feed(json.dumps(feed).encode()).items
    assert item.text == "Ships wait.\nPilots strike."


def test_a_clip_falls_between_words_when_it_can() -> None:
    assert clip("one two three", 9) == "one two…"
    assert clip("unbreakable", 5) == "unbr…"


@given(st.text())
def test_folded_text_is_one_printable_line(text: str) -> None:
    line = fold_space(text)
    assert line == fold_space(line)
    assert not set(line) & set("\n\r\t\0\x1b\ud800")


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_every_written_date_is_read_back(moment: datetime) -> None:
    assert in_utc(parse_date(moment.isoformat())) == moment
    assert in_utc(parse_date(format_datetime(moment))) == moment.replace(microsecond=0)


def test_a_text_too_long_for_a_date_is_none() -> None:
    assert parse_date("1 " * 200) is None


@given(st.text())
def test_any_text_is_a_date_or_none(text: str) -> None:
    actual = in_utc(parse_date(text))
    assert actual is None or actual.tzinfo is UTC


def test_the_zone_of_most_dates_is_that_of_the_others() -> None:
    east, west = "2017-01-07T09:00:00+02:00", "2017-01-07T09:00:00-05:00"
    common = common_zone(map(parse_date, (east, west, east, "2017-01-07", "none")))
    assert common is not None
    assert common.utcoffset(None) == timedelta(hours=2)
    assert common_zone(map(parse_date, ("2017-01-07", "none"))) is None
    date = in_utc(parse_date("2017-01-07T09:00:00"), common)
    assert date == in_utc(parse_date(east))


def test_a_relative_link_without_a_base_is_no_link() -> None:
    assert absolute_url("/a", [None], chars_max=4096) is None
    assert absolute_url("x" * 5000, ["https://example.com/"], chars_max=4096) is None
    assert absolute_url("/a", ["http://[::1", "mailto:x"], chars_max=4096) is None


def test_a_link_blog_entry_is_at_its_own_page() -> None:
    home, own, second = (
        "https://www.blog.example/",
        "https://blog.example/1",
        "https://news.example/",
    )
    assert permalink(second, [own], home) == own
    assert permalink(own, [second], home) == own
    assert permalink(second, [second, None], home) == second
    assert permalink(second, [own], None) == second
    assert permalink(None, [own], home) == own
    assert not same_site(None, None)


@given(st.text(), st.sampled_from(["https://example.com/", None, "::"]))
def test_any_link_is_a_web_address_or_none(link: str, base: str | None) -> None:
    actual = absolute_url(link, [base], chars_max=4096)
    assert actual is None or canonical_url(canonical_url(actual)) == canonical_url(actual)


def test_marks_that_nobody_sees_part_no_word():
    assert fold_space("nord\u00adrhein-west\u00adfälisch, \ufeffport\u2060") == (
        "nordrhein-westfälisch, port"
    )


@pytest.mark.parametrize("read", [plain_text, literal])
@pytest.mark.parametrize("digits", [8, 4_301, 100_000])
def test_a_reference_to_no_character_is_dropped_however_long_it_is(read, digits):
    assert read(f"Port &#{'9' * digits};closed &amp; empty") == "Port closed & empty"


def encoded_twice(text: str, encoding: str) -> str:
    bytes_ = (bytes((byte,)) for byte in text.encode())
    return "".join(byte.decode(encoding, "ignore") or byte.decode("latin-1") for byte in bytes_)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
@given(
    st.text(
        st.characters(min_codepoint=0xE0, max_codepoint=0x17F)
        | st.characters(min_codepoint=0x410, max_codepoint=0x44F)
        | st.sampled_from("ab’“")
    )
)
def test_a_word_that_was_encoded_twice_is_read_as_it_was_meant(encoding: str, end: str) -> None:
    assert repair_encoding(encoded_twice(f"a{end}", encoding)) == f"a{end}"


@pytest.mark.parametrize(
    "text", ["à", "film à voir", "20 °C", "20°C", "£5", "– é", "付", "😀", "été"]
)
def test_a_letter_alone_that_was_encoded_twice_is_too(text: str) -> None:
    assert repair_encoding(encoded_twice(text, "cp1252")) == text


LATIN = st.characters(categories=["Ll"], max_codepoint=0xFF).filter(lambda char: char not in "µÿ")
WORDS = (  # no language has these two alone
    st.text(LATIN, min_size=1, max_size=5)
    .filter(lambda word: word not in {"â", "ã"})
    .flatmap(lambda word: st.sampled_from([word, word.title(), word.upper()]))
)


@given(st.lists(WORDS, max_size=4), st.data())
def test_what_may_have_been_written_so_is_left_as_it_came(
    words: list[str], data: st.DataObject
) -> None:
    """Words in one case, with what may stand behind a letter, as in "NESTLÉ®" or "CAFÉ–BAR"."""
    ends = st.sampled_from(["\xa0» ", "» ", "® ", "™, ", "… ", "” ", "’ ", "¹ ", "–", "—", " "])
    text = "".join(word + data.draw(ends) for word in words)
    assert repair_encoding(text) == text


@pytest.mark.parametrize("text", ["NESTLÉ®", "surdoué\xa0»", "AMANHÃ… E", "CAFÉ–BAR", "„Ä“", "É»"])
def test_a_feed_keeps_what_has_the_bytes_of_another_letter(text: str) -> None:
    references = "".join(char if char.isascii() else f"&#{ord(char)};" for char in text)
    for title in (text, references):
        feed = f"<rss version='2.0'><channel><item><title>{title}</title></item></channel></rss>"
        assert [item.title for item in parse_feed(feed.encode()).items] == [fold_space(text)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("`a*b*`, ``c ` d`` and ```e```", "a*b*, c ` d and e"),
        ("````f ``` *g*````.", "f ``` *g*."),
        (r"\``h*i*`", "`h*i*"),
        # A run that nothing closes stands as it is, and no part of it opens code.
        ("````a*b* *c*```", "````a*b* c```"),
        ("a` *b*", "a` b"),
    ],
)
def test_code_of_markdown_is_between_runs_of_as_many_backticks(source: str, text: str) -> None:
    assert markdown_text(source) == text

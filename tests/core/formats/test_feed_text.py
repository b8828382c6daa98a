"""Markup to text, links, dates and languages: the small facts every format shares."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.reading.dates import common_zone, in_utc, parse_date
from svc_core.formats.reading.languages import language_tag
from svc_core.formats.reading.links import absolute_url, canonical_url, permalink, same_site
from svc_core.formats.reading.markup_text import (
    clip,
    fold_lines,
    fold_space,
    literal,
    plain_text,
    repair_encoding,
)

PLAIN = {
    "": "",
    "no markup": "no markup",
    "<b>bold</b> and <i>italic</i>": "bold and italic",
    "a<br/>b": "a\nb",
    "<p>one</p><p>two</p>": "one\ntwo",
    "un<em>believ</em>able": "unbelievable",
    "5 < 6 and 7 > 3": "5 < 6 and 7 > 3",
    "I </3 you": "I </3 you",
    "a <!-- hidden > still --> b": "a b",
    "a <!-- never closed": "a",
    "x<script>alert('</p>')</script>y": "x y",
    "x<style>p{}": "x",
    "<a href=\"a>b\" title='c>d'>link</a>": "link",
    "<a title=it's>one</a> don't": "one don't",
    'cut <a href="http://example.or': "cut",
    "Fish &amp; chips &#8217;&nbsp;x": "Fish & chips ’ x",
    "&lt;p&gt;twice&lt;/p&gt; &lt;br&gt; over": "twice over",
    "the &lt;b&gt; tag": "the <b> tag",
    "<p>Q&amp;amp;A</p>": "Q&amp;A",
    "<![CDATA[x]]>": "",
    "<?xml?>y": "y",
    "nul\x00 and \x9f": "nul and",
    "&#xD800;": "\ufffd",
    "اردو <b>متن</b>": "اردو متن",
    "<p>日本語</p>": "日本語",
}


@pytest.mark.parametrize(("markup", "text"), PLAIN.items())
def test_tags_go_first_and_entities_are_decoded_after(markup: str, text: str) -> None:
    assert (
        fold_lines(plain_text(markup)).replace("\n ", "\n") == text
        or fold_space(plain_text(markup)) == text
    )


@pytest.mark.parametrize(
    ("text", "cache"),
    [("the <b> tag", "the <b> tag"), ("<b>x</b>", "x"), ("a<br>b", "a\nb"), ("A &amp; B", "A & B")],
)
def test_text_declared_plain_is_kept_unless_it_is_plainly_html(text: str, cache: str) -> None:
    assert literal(text) == cache


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


def test_a_clip_falls_between_words_when_it_can() -> None:
    assert clip("one two three", 9) == "one two…"
    assert clip("unbreakable", 5) == "unbr…"


@given(st.text())
def test_folded_text_is_one_printable_line(text: str) -> None:
    line = fold_space(text)
    assert line == fold_space(line)
    assert not set(line) & set("\n\r\t\0\x1b\ud800")


DATES = {
    "2017-01-07T09:00:01-05:00": "2017-01-07T14:00:01+00:00",
    "2017-01-07T09:00:01Z": "2017-01-07T09:00:01+00:00",
    "2017-01-07T09:00:01.25+0100": "2017-01-07T08:00:01.250000+00:00",
    "2017-01-07 09:00:01 +0000": "2017-01-07T09:00:01+00:00",
    "2017-01-07 09:00 UTC": "2017-01-07T09:00:00+00:00",
    "2026-07-08": "2026-07-08T00:00:00+00:00",
    "2017-01-07T09:00:01": "2017-01-07T09:00:01+00:00",
    "Sat, 07 Jan 2017 08:52:27 -0500": "2017-01-07T13:52:27+00:00",
    "Sat, 7 Jan 17 08:52 GMT": "2017-01-07T08:52:00+00:00",
    "7 Jan 99 08:52 EST": "1999-01-07T13:52:00+00:00",
    "Sat, 07 Jan 2017 23:59:60 +0000": "2017-01-07T23:59:59+00:00",
    "Thursday, 6-September-2018 13:27:00 CEST": "2018-09-06T11:27:00+00:00",
    "Seg, 24 Set 2018 19:42:40 -0300": "2018-09-24T22:42:40+00:00",
    "ven., 07 juil. 2017 10:00:00 GMT+2": "2017-07-07T08:00:00+00:00",
    "07 Jan 2017": "2017-01-07T00:00:00+00:00",
    "07 Jan 2017 10:00:00 -0800 (PST)": "2017-01-07T18:00:00+00:00",
    "07 Jan 2017 10:00:00 Etc/GMT": "2017-01-07T10:00:00+00:00",
}
NO_DATES = (
    "", "yesterday", "2017", "2017-01", "2017-13-01", "0001-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 +0000", "32 Jan 2017 00:00:00 GMT",
    "07 Jan 2017 10:00:00 IST", "07 Xyz 2017 10:00:00 GMT", "07 Jan 2017 25:00:00 GMT",
    "07 Jan 2017 10:00:00 +9900", "9999-12-31T23:59:59-10:00", "1 " * 200,
)  # fmt: skip


@pytest.mark.parametrize(("text", "moment"), DATES.items())
def test_a_date_is_read_in_utc(text: str, moment: str) -> None:
    actual = in_utc(parse_date(text))
    assert actual is not None
    assert actual.isoformat() == moment
    assert actual.utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", NO_DATES)
def test_a_date_that_is_not_there_is_never_invented(text: str) -> None:
    assert parse_date(text) is None


@given(st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_every_written_date_is_read_back(moment: datetime) -> None:
    assert in_utc(parse_date(moment.isoformat())) == moment
    assert in_utc(parse_date(format_datetime(moment))) == moment.replace(microsecond=0)


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


CANONICAL = {
    "HTTP://Example.COM:80": "http://example.com/",
    "https://example.com:8443/a": "https://example.com:8443/a",
    "https://user:pw@example.com/a": "https://example.com/a",
    "https://example.com/?utm_source=x&id=7&fbclid=y": "https://example.com/?id=7",
    "https://example.com/?partner=rss&emc=rss": "https://example.com/",
    "https://example.com/?partner=nyt": "https://example.com/?partner=nyt",
    "https://example.com/#a080605": "https://example.com/#a080605",
    "https://example.com/#utm_source=x": "https://example.com/",
    "https://[2001:db8::1]:443/a": "https://[2001:db8::1]/a",
    "https://example.com./a": "https://example.com/a",
}


@pytest.mark.parametrize(("url", "canonical"), CANONICAL.items())
def test_tracking_never_tells_two_links_apart(url: str, canonical: str) -> None:
    assert canonical_url(url) == canonical
    assert canonical_url(canonical) == canonical


@pytest.mark.parametrize(
    ("link", "url"),
    [
        ("/a?b=1", "https://example.com/a?b=1"),
        ("//other.example/x", "https://other.example/x"),
        (" https://example.com/a b\n", "https://example.com/a%20b"),
        ("javascript:alert(1)", None),
        ("tag:example.com,2008:1", None),
        ("http://[::1", None),
        ("https://example.com:99999/", None),
        ("https://", None),
        ("x" * 5000, None),
        ("", None),
    ],
)
def test_only_web_addresses_become_links(link: str, url: str | None) -> None:
    assert absolute_url(link, [None, "https://example.com/feed/"], chars_max=4096) == url


def test_a_relative_link_without_a_base_is_no_link() -> None:
    assert absolute_url("/a", [None], chars_max=4096) is None
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


@pytest.mark.parametrize(
    ("tag_text", "tag"),
    [
        ("en-us", "en-US"), ("pt_BR", "pt-BR"), ("zh-hant-tw", "zh-Hant-TW"), (" RU ", "ru"),
        ("es-419", "es-419"), ("de-DE-1996", "de-DE"), ("german", None), ("", None), ("und", None),
    ],
)  # fmt: skip
def test_a_language_is_a_tag_or_none(tag_text: str, tag: str | None) -> None:
    assert language_tag(tag_text) == tag


@pytest.mark.parametrize(
    ("markup", "lines"),
    [
        (
            "<p>Bridge closed in\nGenoa</p><p>Cars wait.</p>",
            ["Bridge closed in Genoa", "Cars wait."],
        ),
        ("One<br>two<br/>\nthree", ["One", "two", "three"]),
        ("A wrapped\r\nsource line.\n\nNext.", ["A wrapped source line.", "Next."]),
        ("A wrapped\nsource line.\n \t\nNext.", ["A wrapped source line.", "Next."]),
        ("<ul><li>First</li>\n<li>Second\u2028item</li></ul>", ["First", "Second item"]),
    ],
)
def test_a_line_is_a_paragraph_however_the_source_was_wrapped(
    markup: str, lines: list[str]
) -> None:
    assert fold_lines(plain_text(markup)).splitlines() == lines


@pytest.mark.parametrize("read", [plain_text, literal])
@pytest.mark.parametrize("digits", [8, 4_301, 100_000])
def test_a_reference_to_no_character_is_dropped_however_long_it_is(read, digits):
    assert read(f"Port &#{'9' * digits};closed &amp; empty") == "Port closed & empty"


@given(st.text(st.characters(min_codepoint=0xE0, max_codepoint=0x17F) | st.sampled_from("ab’“")))
def test_what_was_encoded_twice_is_read_as_it_was_meant(text: str) -> None:
    bytes_ = (bytes((byte,)) for byte in text.encode())
    twice = "".join(byte.decode("cp1252", "ignore") or byte.decode("latin-1") for byte in bytes_)
    assert repair_encoding(twice) == text


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("CÃ´te dâ€™Ivoire : le procÃ¨s", "Côte d’Ivoire : le procès"),
        ("« CAFÉ» à Créteil", "« CAFÉ» à Créteil"),
        ("Ã‰tat", "État"),
        ("Å\u00ff Ã\u00bf é è à", "Å\u00ff Ã\u00bf é è à"),
        ("plain", "plain"),
        ("Москва", "Москва"),
    ],
)
def test_only_what_is_surely_encoded_twice_is_mended(text: str, repaired: str) -> None:
    assert repair_encoding(text) == repaired

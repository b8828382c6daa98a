"""Feed documents of every format: what is kept, what is rejected, what is refused."""

import contextlib
import io
import json
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.feeds.model import FeedItem, FeedLimits
from svc_core.formats.model import DocumentRefused, MissingExtra
from svc_core.formats.reading.markup_text import fold_space, repair_encoding

RSS = '<rss version="2.0" {}><channel><title>Desk</title><link>https://desk.example/</link>{}'
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom" {}><title>Desk</title>{}</feed>'
ITUNES = 'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"'
MEDIA = 'xmlns:m="http://search.yahoo.com/mrss/"'


def rss(inner: str, namespaces: str = "") -> bytes:
    return f"{RSS.format(namespaces, inner)}</channel></rss>".encode()


def atom(inner: str, attributes: str = "") -> bytes:
    return ATOM.format(attributes, inner).encode()


def json_feed(*items: object, **members: object) -> bytes:
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "Desk", "items": items}
    return json.dumps(feed | members).encode()


def rss_json(item: object) -> bytes:
    return json.dumps(
        {"rss": {"version": "2.0", "channel": {"title": "Desk", "item": item}}}
    ).encode()


def only(body: bytes, **options: Any) -> FeedItem:
    (item,) = parse_feed(body, **options).items
    return item


def refusal_code(body: bytes, **options: Any) -> str:
    with pytest.raises(DocumentRefused) as refusal:
        parse_feed(body, **options)
    assert refusal.value.reason.endswith(".")
    assert refusal.value.code in str(refusal.value)
    return refusal.value.code


# --- one item, every format -------------------------------------------------------------------

RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="{}" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<channel><title>Desk</title><link>https://desk.example/</link></channel>"
    "<item><title>T</title><link>https://desk.example/1</link>"
    "<description>S</description><dc:date>2017-01-07T13:07:24+01:00</dc:date></item></rdf:RDF>"
)
ONE_ITEM = {
    "rss": rss(
        "<item><title>T</title><link>https://desk.example/1</link><description>S</description>"
        "<pubDate>Sat, 07 Jan 2017 12:07:24 GMT</pubDate></item>"
    ),
    "atom": atom(
        '<link href="https://desk.example/"/><entry><title>T</title><summary>S</summary>'
        '<link href="https://desk.example/1"/><published>2017-01-07T12:07:24Z</published></entry>'
    ),
    "rdf": RDF.format("http://purl.org/rss/1.0/").encode(),
    "rdf ": RDF.format("http://my.netscape.com/rdf/simple/0.9/").encode(),
    "jsonfeed": json_feed(
        {
            "title": "T",
            "url": "https://desk.example/1",
            "summary": "S",
            "date_published": "2017-01-07T12:07:24Z",
        },
        home_page_url="https://desk.example/",
    ),
    "rss-json": rss_json(
        {
            "title": "T",
            "link": "https://desk.example/1",
            "description": "S",
            "pubDate": "Sat, 07 Jan 2017 12:07:24 GMT",
        }
    ).replace(b'"title": "Desk"', b'"title": "Desk", "link": "https://desk.example/"'),
}


@pytest.mark.parametrize("format_", ONE_ITEM)
def test_one_item_reads_the_same_in_every_format(format_: str) -> None:
    feed = parse_feed(ONE_ITEM[format_])
    assert feed.format == format_.strip()
    assert (feed.title, feed.home_url, feed.rejections) == ("Desk", "https://desk.example/", ())
    (item,) = feed.items
    assert (item.title, item.summary, item.text) == ("T", "S", "S")
    assert item.natural_key == item.url == item.source_url == "https://desk.example/1"
    assert item.published_at == datetime(2017, 1, 7, 12, 7, 24, tzinfo=UTC)


def test_a_long_text_is_its_own_summary_within_the_limits() -> None:
    item = only(rss(f"<item><description>{'word ' * 10_000}</description></item>"))
    assert len(item.summary) <= 600
    assert 19_000 < len(item.text) <= 20_000
    assert item.natural_key.startswith("sha256:")
    assert only(rss(f"<item><guid>{'k' * 600}</guid><title>x</title></item>")).natural_key[:7] == (
        "sha256:"
    )


# --- JSON --------------------------------------------------------------------------------------


_TEXT = st.text(st.characters(exclude_categories=["C"]), max_size=40).filter(
    lambda text: repair_encoding(text) == text
)


@given(st.lists(st.tuples(_TEXT, _TEXT, st.datetimes(datetime(1980, 1, 1)))))
def test_a_json_feed_comes_back_as_it_was_written(rows: list[tuple[str, str, datetime]]) -> None:
    items = [
        {"id": str(n), "title": title, "content_text": text, "date_published": f"{at.isoformat()}Z"}
        for n, (title, text, at) in enumerate(rows)
    ]
    read = {item.natural_key: item for item in parse_feed(json_feed(*items)).items}
    for n, (title, text, at) in enumerate(rows):
        if title.strip() or text.strip():
            item = read.pop(str(n))
            assert (item.title, item.summary) == (" ".join(title.split()), " ".join(text.split()))
            assert item.published_at == at.replace(tzinfo=UTC)
    assert not read


# RSS says of no title whether it is HTML; that is all in which the two differ.
_FOREIGN = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="<&"), min_size=1
)


@given(st.lists(_FOREIGN, max_size=5))
def test_rss_and_json_say_the_same(titles: list[str]) -> None:
    as_xml = rss("".join(f"<item><title>{escape(title)}</title></item>" for title in titles))
    as_json = json_feed(*({"title": title} for title in titles))
    assert [item.title for item in parse_feed(as_xml).items] == [
        item.title for item in parse_feed(as_json).items
    ]


# --- encodings ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "prolog", "text"),
    [
        ("windows-1251", "windows-1251", "Новости дня"),
        ("koi8-r", "koi8-r", "Новости дня"),
        ("iso-8859-1", "ISO-8859-1", "Équipe à Paris"),
        ("iso-8859-1", "", "Équipe à Paris"),
        ("iso-8859-1", "utf-8", "Équipe à Paris"),
        ("cp1252", "us-ascii", "“quoted”"),
        ("utf-8", "iso-8859-1", "日本語のニュース"),
        ("utf-8", "no-such-encoding", "اردو خبریں"),
        ("utf-8", "zlib", "اردو خبریں"),
        ("utf-8-sig", "utf-8", "日本語"),
        ("shift_jis", "Shift_JIS", "日本語"),
        ("iso2022_jp", "iso-2022-jp", "日本語"),
        ("gb18030", "gb2312", "新闻"),
        ("utf-16", "utf-16", "日本語"),
        ("utf-16-le", "", "日本語"),
        ("utf-32", "utf-32", "日本語"),
    ],
)
def test_the_characters_survive_whatever_the_prolog_claims(
    encoding: str, prolog: str, text: str
) -> None:
    declaration = f'<?xml version="1.0" encoding="{prolog}"?>\n' if prolog else ""
    body = rss(f"<item><title>{text}</title></item>").decode()
    assert only(f"{declaration}{body}".encode(encoding)).title == text


def test_the_header_names_the_encoding_when_the_prolog_does_not() -> None:
    body = rss("<item><title>Новости</title></item>").decode().encode("windows-1251")
    assert only(body, content_type='text/xml; charset="windows-1251"').title == "Новости"


def test_a_few_broken_characters_do_not_change_the_encoding() -> None:
    body = rss("<item><title>日本語 é</title></item>").replace("é".encode(), b"\xff")
    assert only(body).title == "日本語 \ufffd"
    assert only(b"\xef\xbb\xbf" + body).title == "日本語 \ufffd"


# --- refusals -----------------------------------------------------------------------------------

ITEM = "<item><title>x</title></item>"
DEEP = "<a>" * 200 + "</a>" * 200
REFUSALS: dict[str, tuple[str, bytes]] = {
    "nothing": ("empty", b" \n"),
    "text": ("notAFeed", b"hello"),
    "binary": ("notAFeed", bytes(range(1, 256)) * 20),
    "NULs": ("badEncoding", b"\x89PNG\0\0"),
    "broken UTF-16": ("badEncoding", b"\xff\xfe<\0\x00\xd8"),
    "broken UTF-16 without a mark": ("badEncoding", b"<\0a\0\x00"),
    "HTML": ("html", b"<!-- x --><!doctype html><p>moved"),
    "XHTML": ("html", b'<?xml version="1.0"?><!-- x --><html xmlns="x"/>'),
    "a doctype after a long comment": ("html", b"<!--" + b" " * 5000 + b"--><!DOCTYPE html><x/>"),
    "a page after a long comment": ("html", b"<!--" + b" " * 5000 + b"--><body/>"),
    "an HTML fragment": ("html", b"<head></head><body>moved</body>"),
    "OPML": ("opml", b'<opml version="1.1"><body/></opml>'),
    "malformed OPML": ("opml", b"<opml><a></b></opml>"),
    "a sitemap": ("notAFeed", b"<urlset><url/></urlset>"),
    "some RDF": ("notAFeed", b'<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'),
    "another feed element": ("notAFeed", b"<feed><cow/></feed>"),
    "only a declaration": ("notAFeed", b'<?xml version="1.0"?>'),
    "a bomb": ("entityBomb", b'<!DOCTYPE rss [<!ENTITY a "aa">]><rss><channel/></rss>'),
    "a malformed bomb": ("entityBomb", b'< <!DOCTYPE rss [<!ENTITY a "a">]><rss></rss>'),
    "an external entity": (
        "entityBomb",
        b'<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///x">]><rss><channel/></rss>',
    ),
    "the first half": ("truncated", rss(ITEM * 10)[:200]),
    "a huge first half": ("truncated", rss(ITEM * 10 + "<item>" + "x" * 600_000)[:-20]),
    "huge and malformed": ("malformed", rss(ITEM + "<b>" + "x " * 300_000)),
    "a long word and malformed": ("malformed", rss(ITEM + "<b>" + "x" * 2_000)),
    "lost items": ("malformed", rss("<a b='<item>'/><c>" + ITEM + "</d>")),
    "an impossible character": ("malformed", rss("</b><item><title>&#99999999999;</title></item>")),
    "too many items": ("tooManyItems", rss("<item/>" * 2_001)),
    "far too many items": ("tooManyItems", rss("<item/>" * 50_000)),
    "too many items, malformed": ("tooManyItems", rss("</b>" + "<item/>" * 2_001)),
    "too deep": ("tooComplex", rss(DEEP)),
    "too many elements": ("tooComplex", rss("<a/>" * 60_001)),
    "too many attributes": ("tooComplex", rss("", " ".join(f'a{n}=""' for n in range(129)))),
    "too many categories": ("tooComplex", rss("<item>" + "<category>c</category>" * 4_000)
                            .replace(b"</channel>", b"</item></channel>")),
    "too many keywords": (
        "tooComplex", rss(f"<item><itunes:keywords>{'k,' * 9_000}</itunes:keywords></item>", ITUNES)
    ),
    "a name that is none": ("tooComplex", rss(f"<item><author>{'a' * 128}</author></item>")),
    "JSON": ("notAFeed", b'{"version": "https://jsonfeed.org/version/2"}'),
    "a JSON list": ("notAFeed", b"[1, 2]"),
    "RSS-in-JSON without a channel": ("notAFeed", b'{"rss": {"channel": []}}'),
    "half a JSON feed": ("truncated", json_feed({"title": "x" * 50})[:90]),
    "a JSON feed without its end": ("truncated", json_feed({"title": "x"})[:-1]),
    "malformed JSON": ("malformed", b'{"version": nope, "items": [1, 2, 3]}'),
    "a long number": ("malformed", b'{"a": ' + b"1" * 5_000 + b"}"),
    "nested JSON": ("tooComplex", b'{"a":' + b"[" * 100_000),
    "too many JSON items": ("tooManyItems", json_feed(*range(2_001))),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_whole_feed_is_refused_with_its_reason(name: str) -> None:
    code, body = REFUSALS[name]
    assert refusal_code(body) == code


def test_a_document_past_the_byte_limit_is_refused() -> None:
    assert refusal_code(rss(ITEM), limits=FeedLimits(body_bytes=20)) == "tooLarge"


@pytest.mark.parametrize(
    "inner",
    [
        "<item><title>Fish & chips</title></item>",
        "<item><title>caf&eacute; & tea</title></item>",
        "<item><title>x</title><description><p>one<br>two</description></item>",
        "<!-- <item> --><item><title>a\x0bb</title></item></stray>",
        "<item><title>x</title><itunes:keywords>a,b</itunes:keywords></item>",
        "<item><title>x</title><description><![CDATA[<item> <!-- ]]></description></b></item>",
    ],
)
def test_a_slip_that_loses_nothing_is_forgiven(inner: str) -> None:
    assert only(rss(inner)).title


def test_html_entities_need_no_declaration() -> None:
    doctype = b'<!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://n.example/rss.dtd">'
    body = rss("<item><title>caf&eacute; &amp; th&eacute;</title></item>")
    assert only(doctype + body).title == only(body).title == "café & thé"


def test_a_file_named_by_the_body_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "feed.xml"
    path.write_bytes(rss(ITEM))
    assert refusal_code(str(path).encode()) == "notAFeed"


def test_a_missing_parser_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "feedparser", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'svc-intelligence[server]'")):
        parse_feed(rss(ITEM))
    assert only(json_feed({"title": "x"})).title == "x"


BOMBS = {
    "laughs": b"<!DOCTYPE rss [" + b'<!ENTITY a "&b;&b;&b;">' * 1_000 + b"]><rss/>",
    "items": rss(ITEM * 100_000),
    "elements": rss("<a/>" * 500_000),
    "names": rss(f"<item><author>{'a' * 100} {'b ' * 1_000_000}</author></item>"),
    "comments": b"<!-- -->" * 250_000,
    "declarations": b"<?xml " * 250_000,
    "open comments": rss("</b>" + "<!--" * 100_000),
    "tags": rss(f"<item><title>x</title><description><![CDATA[{'<a ' * 500_000}]]>"
                "</description></item>"),
    "scripts": json_feed({"title": "x", "content_html": "<script " * 200_000 + "<!--" * 200_000}),
    "captions": rss(f"<item><description><![CDATA[{'<m:title><![CDATA[' * 25_000}]]></description>"
                    "</item>", MEDIA),
    "captions in a comment": rss(f"{ITEM}<!--{'<m:title><![CDATA[' * 25_000}]]>-->", MEDIA),
    "prefixes of captions": rss(ITEM * 1_000, " ".join(
        f"{MEDIA[:7]}{number}{MEDIA[7:]}" for number in range(2_000))),
    "open captions": rss(f"{ITEM}</b><m:group>{'<m:title><![CDATA[' * 25_000}", MEDIA),
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_fast(name: str) -> None:
    start = time.process_time()
    with contextlib.suppress(DocumentRefused):
        parse_feed(BOMBS[name])
    assert time.process_time() - start < 1


# --- laws ---------------------------------------------------------------------------------------

SEEDS = [*ONE_ITEM.values(), *(body for _, body in REFUSALS.values() if len(body) < 2_000)]


def settles(body: bytes) -> None:
    """`body` is read within every bound, or refused: nothing else is raised."""
    try:
        feed = parse_feed(body)
    except DocumentRefused:
        return
    keys = [item.natural_key for item in feed.items]
    assert len(keys) == len(set(keys))
    for item in feed.items:
        assert item.title or item.text or item.url
        assert len(item.summary) <= 600
        assert "\n" not in item.summary
        assert all(at is None or at.tzinfo is UTC for at in (item.published_at, item.updated_at))
        item.text.encode()


@given(st.binary())
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    settles(body)
    settles(b"<rss><channel>" + body + b"</channel></rss>")


@given(st.sampled_from(SEEDS), st.data())
def test_a_mutated_document_is_read_or_refused(body: bytes, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(body)))
    end = data.draw(st.integers(start, min(len(body), start + 20)))
    settles(body[:start] + data.draw(st.binary(max_size=8)) + body[end:])


@given(st.integers(0, 10_000))
def test_a_cut_feed_never_passes_for_a_whole_one(cut: int) -> None:
    for body in (rss(ITEM * 20), json_feed(*({"title": str(n)} for n in range(20)))):
        cut %= len(body)
        assert refusal_code(body[:cut]) in {"truncated", "empty", "notAFeed"}


def test_a_feed_without_its_last_characters_is_truncated() -> None:
    body = rss(ITEM)
    assert {refusal_code(body[: len(body) - missing]) for missing in range(1, 30)} == {"truncated"}


# --- real documents -----------------------------------------------------------------------------

NOT_FEEDS = {"Subs.opml": "opml", "unrecognized.rss": "html"}


def test_every_real_xml_feed_is_read_whole(
    real_documents: Callable[[str], list[Path]],
) -> None:
    for path in real_documents("news_feed"):
        body = path.read_bytes()
        if path.name in NOT_FEEDS:
            assert refusal_code(body) == NOT_FEEDS[path.name]
            continue
        feed = parse_feed(body)
        read = len(feed.items) + sum(rejection.count for rejection in feed.rejections)
        assert read == len(feedparser.parse(io.BytesIO(body)).entries), path.name
        is_escaped_twice = b"&amp;lt;/p&amp;gt;" in body  # then its readers see the tags
        marks = [item for item in feed.items if "</p>" in item.summary + item.text]
        assert is_escaped_twice or marks == [], path.name
        settles(body)
        settles(body[: len(body) // 2])


def test_every_real_json_feed_is_read_whole(
    real_documents: Callable[[str], list[Path]],
) -> None:
    for path in real_documents("json_feed"):
        body = path.read_bytes()
        feed = parse_feed(body)
        document = json.loads(body)
        rows = document.get("items") or document["rss"]["channel"]["item"]
        assert len(feed.items) + sum(rejection.count for rejection in feed.rejections) == len(
            rows
        ), path.name
        assert refusal_code(body[:-20]) == "truncated"


def test_one_real_feed_in_two_formats_has_the_same_items(
    real_documents: Callable[[str], list[Path]],
) -> None:
    documents = {
        path.name: path for kind in ("news_feed", "json_feed") for path in real_documents(kind)
    }
    for item, second in (
        ("allthis.atom", "allthis.json"),
        ("scriptingNews.rss", "ScriptingNews.json"),
    ):
        left, right = (parse_feed(documents[name].read_bytes()).items for name in (item, second))
        assert [item.natural_key for item in left] == [item.natural_key for item in right]
        assert [item.published_at for item in left] == [item.published_at for item in right]


# -- a link-blog in two formats ----------------------------------------------------------------

BLOG, ELSEWHERE = "https://blog.example", "https://news.example"
SUBJECTS = st.sampled_from([f"{ELSEWHERE}/{n}" for n in "ab"] + [f"{BLOG}/{n}" for n in "01ab"])


@given(st.lists(st.none() | SUBJECTS, max_size=6), st.booleans())
def test_a_blog_has_the_same_items_in_whatever_format_it_comes(
    subjects: list[str | None], is_link_blog: bool
) -> None:
    """A post tells of itself or of a page, which may be its own site's or that of other posts."""
    # By the letter of RFC 4287 a feed names its posts by `alternate`; a foreign subject shows it.
    subjects = [f"{ELSEWHERE}/c", *subjects]
    pages = [f"{BLOG}/{number}" for number in range(len(subjects))]
    items, entries = [], [f'<link href="{BLOG}/"/>']
    for page, subject in zip(pages, subjects, strict=True):
        items.append({"id": page, "url": page, "external_url": subject, "title": page})
        own, second = (subject, page) if is_link_blog else (page, subject)
        links = f'<link href="{own}"/><link rel="related" href="{second}"/>'
        links = links if subject else f'<link href="{page}"/>'
        entries.append(f"<entry><id>tag:{page}</id><title>{page}</title>{links}</entry>")
    left = parse_feed(json_feed(*items, home_page_url=f"{BLOG}/"))
    right = parse_feed(atom("".join(entries)))
    assert [item.natural_key for item in left.items] == pages
    assert [(item.natural_key, item.url) for item in right.items] == [(p, p) for p in pages]


@pytest.mark.parametrize(
    "links",
    [
        '<id>https://blog.example/1</id><link rel="related" href="https://blog.example/9"/>',
        '<id>tag:1</id><link rel="related" href="/8"/><link rel="related" href="/9"/>',
        '<id>tag:1</id><link rel="related" href="https://blog.example/2"/>',
    ],
)
def test_a_related_link_that_another_mark_contradicts_is_no_page(links: str) -> None:
    second = '<entry><id>tag:2</id><link href="https://blog.example/2"/></entry>'
    entry = f'<entry>{links}<link href="https://blog.example/1"/></entry>'
    feed = parse_feed(atom(f'<link href="https://blog.example/"/>{entry}{second}'))
    assert [item.url for item in feed.items] == ["https://blog.example/1", "https://blog.example/2"]


@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("is_first_related", [False, True])
def test_a_post_that_is_related_to_the_one_before_it_has_its_own_page(
    is_first_related: bool, step: int
) -> None:
    pages = [f"{BLOG}/{name}" for name in "abcd"]
    related = [f'<link rel="related" href="{page}"/>' for page in pages]
    related = [related[0] * is_first_related, *related[1:-1]]
    entries = [
        f'<entry><id>{BLOG}/?p={page[-1]}</id><link href="{page}"/>{link}</entry>'
        for page, link in zip(pages[1:], related, strict=True)
    ][::step]
    feed = parse_feed(atom("".join((f'<link href="{BLOG}/"/>', *entries))))
    assert [item.url for item in feed.items] == pages[1:][::step]


# --- Media RSS ----------------------------------------------------------------------------------

CAPTION = (
    "<m:title>Cap</m:title><m:description type='html'>Cap &lt;i&gt;Cap&lt;/i&gt;</m:description>"
)
PICTURE = '<m:content url="/a.jpg" medium="image"'
CAPTION_PLACES = {
    "of the entry": CAPTION,
    "of a content": f"{PICTURE}>{CAPTION}</m:content>",
    "of an empty content": f"{PICTURE}/>{CAPTION}<m:description/>",
    "of pictures of a group": f"<m:group>{PICTURE}/>{PICTURE} x='2'/>{CAPTION}</m:group>",
    "of a content of a group": f"<m:group><m:content url='/a.mp4'>{CAPTION}</m:content></m:group>",
    "in CDATA": "<m:description><![CDATA[Cap <m:group> Cap]]></m:description>",
}
OWN_WORDS = {
    rss: ("", "<title>T</title>", "<title>T</title><description>Own</description>"),
    atom: ("<id>1</id>", "<title>T</title>", "<title>T</title><content>Own</content>"),
}


@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize("place", CAPTION_PLACES)
@pytest.mark.parametrize(
    ("feed", "words"), [(feed, words) for feed in OWN_WORDS for words in OWN_WORDS[feed]]
)
def test_a_caption_is_no_text_of_its_article(
    feed: Callable[..., bytes], words: str, place: str, is_last: bool
) -> None:
    link = (
        "<link>https://desk.example/1</link>"
        if feed is rss
        else "<link href='https://desk.example/1'/>"
    )
    inner = "".join((words, CAPTION_PLACES[place])[:: 1 if is_last else -1])
    entry = f"<item>{link}{inner}</item>" if feed is rss else f"<entry>{link}{inner}</entry>"
    item = only(feed(entry, MEDIA))
    own = "Own" if "Own" in words else ""
    assert (item.title, item.summary, item.text) == ("T" if "T<" in words else "", own, own)


@pytest.mark.parametrize(
    ("own", "text"), [("", "What is shown."), ("<summary>Own</summary>", "Own")]
)
def test_an_entry_that_is_a_media_group_has_its_words_where_it_has_none(
    own: str, text: str
) -> None:
    group = "<m:title>T</m:title><m:content url='/v' type='video/mp4'/>" + (
        "<m:thumbnail url='/a.jpg'/><m:description>What is shown.</m:description>"
    )
    item = only(
        atom(f"<entry><id>1</id><title>T</title>{own}<m:group>{group}</m:group></entry>", MEDIA)
    )
    assert (item.title, item.text) == ("T", text)


@pytest.mark.parametrize(
    "words",
    ["<m:title>x</m:title>", "<m:group><m:title>x</m:title></m:group>", "<m:group>", "<m:title>"],
)
@pytest.mark.parametrize("is_after", [False, True])
def test_an_article_about_media_rss_keeps_the_elements_that_it_quotes(
    words: str, is_after: bool
) -> None:
    quoted = f"<description><![CDATA[Write <pre>{escape(words)}</pre>{words}Done]]></description>"
    others = f"<!-- {words} --><m:group>{CAPTION}<!-- {words} --></m:group>{CAPTION}"
    body = "".join((quoted, others)[:: 1 if is_after else -1])
    item = only(rss(f"<item><title>T</title>{body}</item>", MEDIA))
    assert fold_space(item.text) == f"Write {words} {'x' * ('x' in words)}Done"

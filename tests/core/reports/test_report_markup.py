"""Hostile words in titles and texts: every form of a report shows them as the words they are.

The words come through the whole way, from a feed's item to the answers of the operations, and
straight into the renderers. Markdown is judged by a CommonMark parser, HTML by a parser of HTML.
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from svc_core.reports import render
from svc_core.reports.model import ReportSource, ReportWords, Section, Statement
from tests.core.feeds import document, entry
from tests.core.report_building import publish

HOSTILE = [
    "[x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "[x][1]",
    "[x]: https://evil.example",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<javascript:alert(1)>",
    "<https://evil.example>",
    "&lt;script&gt; &amp; &#60;b&#62; &copy;",
    "| table | cell |",
    "|---|---|",
    "`code` ``more`` ```",
    "~~~ tilde ~~gone~~",
    "# heading",
    "heading #",
    "heading ## #",
    "#hashtag",
    "1. first",
    "1) first",
    "123456789. many",
    "- item",
    "+ item",
    "* item",
    "> quote",
    "---",
    "***",
    "===",
    "_it_ __bold__ *it* **bold**",
    "back\\slash \\* end\\",
    "Setext\n=====",
    "two  \nlines",
    "    indented code",
    "\ttab",
    "ends with (paren] and [bracket",
    "'single' \"double\"",
    "</p></li></ol><h1>escape</h1>",
    "<!-- comment",
    "<![CDATA[x]]>",
    "<?php x ?>",
    "a & b &c; &#x41;",
    "a\u00a0b\u2028c",
]
hostile = pytest.mark.parametrize("words", HOSTILE, ids=repr)


def story(words: str, url: str | None = "https://a.example/?a=1&copy;=<2>") -> ReportWords:
    source = ReportSource(1, "obs_x", words, url, words, None)
    return ReportWords(
        opening=(Statement(words, (1,)), Statement(words, ())),
        key_points=(Statement(words, (1,)),),
        sections=(Section("s", words, (Statement(words, (1,)),), (1,), ()),),
        briefs=(Statement(words, (), (1, 2)),),
        sources=(source, attrs.evolve(source, number=2, url="javascript:alert(1)")),
    )


def rendering(form: Any, title: str, *url: str) -> str:
    return str(form(title, story(title, *url)))


def fold_lines(words: str) -> str:
    return " ".join(words.split())


# -- Markdown ----------------------------------------------------------------------------------

BLOCKS = [
    "heading_open", "paragraph_open", "heading_open", "bullet_list_open", "list_item_open",
    "paragraph_open", "heading_open", "paragraph_open", "heading_open", "bullet_list_open",
    "list_item_open", "paragraph_open", "heading_open", "ordered_list_open", "list_item_open",
    "paragraph_open", "list_item_open", "paragraph_open",
]  # fmt: skip


def tokens_of(markdown: str, preset: str = "commonmark") -> list[Token]:
    return MarkdownIt(preset).parse(markdown)


def spans(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield from token.children or ()


def words_of(token: Token) -> str:
    return "".join(
        child.content or "\n" * (child.type == "softbreak") for child in token.children or ()
    )


@hostile
def test_no_words_become_markup_in_markdown(words: str) -> None:
    tokens = tokens_of(rendering(render.markdown, words))
    assert [token.type for token in tokens if token.type.endswith("_open")] == BLOCKS
    kinds = {span.type for span in spans(tokens)}
    assert kinds <= {"text", "text_special", "softbreak", "link_open", "link_close"}
    links = {str(span.attrs["href"]) for span in spans(tokens) if span.type == "link_open"}
    assert links == {"https://a.example/?a=1&copy;=%3C2%3E"}


@hostile
def test_markdown_says_the_words_themselves(words: str) -> None:
    inline = [
        token for token in tokens_of(rendering(render.markdown, words)) if token.type == "inline"
    ]
    texts, own = [words_of(token) for token in inline], fold_lines(words)
    assert texts == [
        own,
        f"{own} 1 {own}",
        "Key points",
        f"{own} 1",
        own,
        f"{own} 1",
        "In brief",
        f"{own}\nAlso reported by: {own} (1), {own} (2)",
        "Sources",
        f"{own}, {own}, no date",
        f"{own}, {own}, no date",
    ]


@hostile
def test_tables_and_strikes_of_other_dialects_are_not_started_either(words: str) -> None:
    tokens = (
        MarkdownIt("commonmark")
        .enable(["table", "strikethrough"])
        .parse(rendering(render.markdown, words))
    )
    kinds = {token.type for token in tokens} | {span.type for span in spans(tokens)}
    assert not {"table_open", "s_open"} & kinds


ANY_WORDS = st.text(
    st.one_of(
        st.sampled_from("[]()<>!&;#*_`~|\\-+=>1. :/'\"\n\tab"),
        st.characters(exclude_categories=("Cs", "Cc")),
    ),
    max_size=30,
)


@given(ANY_WORDS)
def test_whatever_the_words_the_blocks_are_ours(words: str) -> None:
    tokens = tokens_of(rendering(render.markdown, f"a{words}"))
    assert [token.type for token in tokens if token.type.endswith("_open")] == BLOCKS
    links = {str(span.attrs["href"]) for span in spans(tokens) if span.type == "link_open"}
    assert links == {"https://a.example/?a=1&copy;=%3C2%3E"}


@given(ANY_WORDS)
def test_an_address_stays_one_address(path: str) -> None:
    tokens = tokens_of(rendering(render.markdown, "Title", f"https://a.example/{path}"))
    links = [str(span.attrs["href"]) for span in spans(tokens) if span.type == "link_open"]
    assert links
    assert len(set(links)) == 1
    assert links[0].startswith("https://a.example/")
    assert not any(character.isspace() for link in links for character in link)


# -- HTML and text -----------------------------------------------------------------------------


class Reader(HTMLParser):
    """The elements and words of a fragment."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.words: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple(name for name, _ in attributes)))
        self.links += [value or "" for name, value in attributes if name == "href"]

    def handle_data(self, data: str) -> None:
        self.words.append(data)


ELEMENTS = {
    ("h1", ()), ("h2", ()), ("p", ()), ("ul", ()), ("ol", ()), ("li", ()), ("li", ("id",)),
    ("sup", ()), ("br", ()), ("a", ("href",)), ("a", ("href", "rel")),
}  # fmt: skip


@hostile
def test_no_words_become_markup_in_html(words: str) -> None:
    reader = Reader()
    reader.feed(rendering(render.html_fragment, words))
    reader.close()
    assert set(reader.elements) == ELEMENTS
    assert set(reader.links) == {"#source-1", "#source-2", "https://a.example/?a=1&copy;=<2>"}
    text = "".join(reader.words)
    assert text.startswith(fold_lines(words))
    assert text.count(fold_lines(words)) >= 8


@hostile
def test_the_text_is_the_words_without_html(words: str) -> None:
    text = rendering(render.report_text, words)
    own = render.bare(words)
    assert (
        text == "\n\n".join(filter(None, [own, f"{own} {own}".strip(), own, own, own, own])) + "\n"
    )
    assert not re.search(r"<[A-Za-z/!?]", text)
    reader = Reader()
    reader.feed(text.replace("&", "&amp;"))
    reader.close()
    assert reader.elements == []


# -- through the operations --------------------------------------------------------------------


def take_in(house: Any, titles: list[str], at: datetime) -> None:
    text = "Dockworkers at the port of Rotterdam stopped work over pay. Forty ships wait at sea."
    items = tuple(
        entry(
            f"item-{number}",
            title=f"Rotterdam port strike {number} {title}",
            summary=text,
            text=f"{text} The union said {title} about the port strike {number} of Rotterdam.",
            url=f"https://paper.example/{number}",
            published_at=at,
        )
        for number, title in enumerate(titles)
    )
    feed = document(*items, title="Paper <b>", home_url="https://paper.example/")
    house.take(house.add("https://paper.example/feed"), feed)


@pytest.fixture
def report(house: Any) -> Any:
    take_in(house, HOSTILE, house.clock.now())
    profile = house.profile(
        name="[x](javascript:alert(1)) <script> | `#`",
        topic="Port strikes <b>",
        keywords=["Rotterdam"],
    )
    return publish(house, profile["id"])


def test_hostile_items_make_a_harmless_report(house: Any, report: Any) -> None:
    path = {"reportId": report.id}
    assert report.counts.sources > 0
    markdown = house.send("getReport", path=path, query="format=markdown").body.decode()
    tokens = tokens_of(markdown)
    assert {token.type for token in tokens} <= {
        *BLOCKS, *(block.replace("_open", "_close") for block in BLOCKS), "inline",
    }  # fmt: skip
    kinds = {span.type for span in spans(tokens)}
    assert kinds <= {"text", "text_special", "softbreak", "link_open", "link_close"}
    links = [str(span.attrs["href"]) for span in spans(tokens) if span.type == "link_open"]
    assert all(link.startswith("https://paper.example/") for link in links)
    whole = json.loads(house.send("getReport", path=path, query="include=content").body)["data"]
    reader = Reader()
    reader.feed(whole["content"]["html"])
    assert set(reader.elements) <= ELEMENTS
    assert whole["content"]["markdown"] == markdown
    text = json.loads(house.send("getReportAudioText", path=path).body)["text"]
    assert not set('<>*_`#|~[]{}\\^"&@') & set(text)
    assert "javascript" not in text.split("\n\n")[0]


def test_every_form_of_a_report_tells_the_same_sentences(house: Any, report: Any) -> None:
    path = {"reportId": report.id}
    text = json.loads(house.send("getReportText", path=path).body)["text"]
    markdown = house.send("getReport", path=path, query="format=markdown").body.decode()
    inline = [words_of(token) for token in tokens_of(markdown) if token.type == "inline"]
    reader = Reader()
    reader.feed(
        json.loads(house.send("getReport", path=path, query="include=content").body)["data"][
            "content"
        ]["html"]
    )
    html = " ".join(map(render.bare, reader.words))
    agent = json.loads(house.send("getReport", path=path, query="view=agent").body)["data"]
    for paragraph in text.removesuffix("\n").split("\n\n"):
        head = paragraph.split(". ")[0][:40]
        assert any(render.bare(words).startswith(head) for words in inline)
        assert head in html
    assert not re.search(r"<[A-Za-z/!?]", json.dumps(agent))
    for point in agent["keyPoints"]:
        assert point["text"] in text


def test_expansions_come_together_and_in_any_order(house: Any, report: Any) -> None:
    path = {"reportId": report.id}
    plain = json.loads(house.send("getReport", path=path).body)["data"]
    every = "content,sources,signals,graph,audio"
    whole = json.loads(house.send("getReport", path=path, query=f"include={every}").body)["data"]
    assert set(whole) == set(plain) | set(every.split(","))
    assert {name: whole[name] for name in plain} == plain
    backwards = ",".join(reversed(every.split(",")))
    again = house.send("getReport", path=path, query=f"include={backwards}")
    assert json.loads(again.body)["data"] == whole
    for name in every.split(","):
        alone = json.loads(house.send("getReport", path=path, query=f"include={name}").body)["data"]
        assert alone[name] == whole[name]
    assert whole["graph"]["counts"] == {
        "nodes": len(whole["graph"]["nodes"]),
        "edges": len(whole["graph"]["edges"]),
        "incidentAnchors": len(whole["graph"]["incidentAnchors"]),
        "citations": len(whole["graph"]["citations"]),
    }


@pytest.mark.parametrize("query", ["include=", "include=pictures", "include=content,pictures"])
def test_an_expansion_that_does_not_exist_is_refused(house: Any, report: Any, query: str) -> None:
    refusal = house.refusal("getReport", path={"reportId": report.id}, query=query)
    assert refusal.type.code == "INVALID_PARAMETER"

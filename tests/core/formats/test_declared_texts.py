"""Each text of each format comes back as its format's specification says that it is written.

What is declared plain comes back as it was; of HTML and Markdown the escaped text comes back.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from html import escape
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.markup_text import fold_space, repair_encoding
from svc_core.formats.reading.values import html_member, markdown_member, text_member
from svc_core.formats.table import FORMATS, read_document
from tests.core.formats import golden

Case = dict[str, Any]
Path = tuple[str | int, ...]


def escape_markdown(text: str) -> str:
    """`text` in CommonMark, which reads a backslash before punctuation as that punctuation."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


WRITERS: dict[Callable[..., str | None], Callable[[str], str]] = {
    text_member: str,
    html_member: escape,
    markdown_member: escape_markdown,
}
TEXTS = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&;#*_`[]()\\! \nab1"))


@pytest.mark.parametrize("read", WRITERS)
@given(text=TEXTS.filter(lambda text: repair_encoding(text) == text))
def test_a_text_that_is_escaped_as_its_language_asks_comes_back(
    read: Callable[..., str | None], text: str
) -> None:
    assert read(WRITERS[read](text)) == (fold_space(text) or None)


# -- every format ------------------------------------------------------------------------------

FEEDS = {"rss", "atom", "rdf", "jsonfeed"}
"""Their entries say themselves in which language a text is."""

KEYS = {"registered"}
"""Members that are no texts, but keys made of them."""

DECLARED = {
    ("gdacs", "summary"): html_member,
    ("gdacs-rss", "summary"): html_member,
    ("attack", "description"): markdown_member,
    ("attack", "attributes"): markdown_member,
    ("csaf 2.1", "description"): markdown_member,
    ("reliefweb", "summary"): markdown_member,
}
"""What specifications declare to be no plain text, by the member of the row that it becomes."""

HOSTILE = (
    "via the <s:url> tag a<b and c>d <b>e</b> std::vector<int> &lt;i&gt;at&t q&amp;a *x* [y](z)"
)

ENGLISH = [{"lang": "en", "value": "Prose"}]
KEV_TEXTS = ("shortDescription", "vulnerabilityName", "requiredAction", "product")
OBJECTS = (
    ("description", ("objects", 0, "description"), "Prose"),
    ("attributes", ("objects", 2, "description"), "Prose"),
)
PROSE: dict[str, tuple[tuple[str, Path, Any], ...]] = {
    "attack": OBJECTS,
    "cve": (
        ("title", ("containers", "cna", "title"), "Prose"),
        ("description", ("containers", "cna", "descriptions"), ENGLISH),
        ("affected", ("containers", "cna", "affected"), [{"vendor": "Pier", "product": "Crane"}]),
    ),
    "csaf": (
        ("description", ("vulnerabilities", 0, "notes"), [{"category": "summary", "text": "A"}]),
    ),
    "eonet": (("summary", ("events", 0, "description"), "Prose"),),
    "ftm": (("description", ("properties", "notes"), ["Prose"]),),
    "gdacs": tuple(
        ("summary", ("features", number, "properties", "htmldescription"), "Prose")
        for number in range(3)
    ),
    "kalshi": (("rules", (0, "rules_primary"), "Prose"),),
    "kev": tuple(("kev", ("vulnerabilities", 0, name), "Prose") for name in KEV_TEXTS),
    "manifold": (("rules", ("textDescription",), "Prose"),),
    "misp-event": (("description", ("Event", "Attribute", 2, "comment"), "Prose"),),
    "misp-galaxy": (("description", ("values", 0, "description"), "Prose"),),
    "nvd": (("description", ("vulnerabilities", 0, "cve", "descriptions"), ENGLISH),),
    "polymarket": (("rules", ("description",), "Prose"),),
    "reliefweb": (("summary", ("data", 0, "fields", "description"), "Prose"),),
    "sec-submissions": (
        ("description", ("description",), "Prose"),
        ("description", ("filings", "recent", "primaryDocDescription"), ["Prose", "Prose"]),
    ),
    "stix": OBJECTS[:1],
}
"""Texts that a document of a format gets: the member of the row, where they stand, what."""


def _changed(node: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(node)
    copy = node.copy()
    inner = node.get(path[0]) if isinstance(node, dict) else node[path[0]]
    copy[path[0]] = _changed(inner, path[1:], change)
    return copy


def _leaves(node: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts of a JSON value, each with the way to it."""
    members = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node if isinstance(node, list) else ())
    )
    for name, member in members:
        yield from _leaves(member, (*path, name))
    if isinstance(node, str):
        yield path, node


def _appended(case: Case, more: str) -> Iterator[Case]:
    """The case as often as its document has texts, each time with `more` behind one of them."""
    if "json" in case:
        for path, _ in _leaves(case["json"]):
            yield case | {"json": _changed(case["json"], path, lambda text: text + more)}
        return
    document = "\n".join(case["text"])
    is_xml = document.lstrip().startswith("<")
    end = r"(?<=[\w.])(?=\s*</)" if is_xml else r"(?<=[\w.])(?=\"?[,;\t\n]|$)"
    written = escape(more, quote=False) if is_xml else more
    for match in re.finditer(end, document):
        text = f"{document[: match.start()]}{written}{document[match.start() :]}"
        yield case | {"text": text.split("\n")}


def _with_prose(format_id: str, case: Case) -> Case:
    for _, path, prose in PROSE.get(format_id, ()):
        with suppress(LookupError, AttributeError, TypeError):
            case = case | {"json": _changed(case["json"], path, lambda _, prose=prose: prose)}
    return case


def _cases() -> Iterator[Any]:
    for format_id in sorted({path.stem for path in golden.FILES.glob("*.json")} - FEEDS):
        cases = [
            _with_prose(format_id, case) for case, *_ in golden.stored_cases(format_id).values()
        ]
        yield pytest.param(format_id, format_id, cases, id=format_id)
        if format_id == "csaf":
            version = ("json", "document", "csaf_version")
            newer = [_changed(case, version, lambda _: "2.1") for case in cases]
            yield pytest.param(format_id, "csaf 2.1", newer, id="csaf 2.1")


def _rows(format_id: str, case: Case) -> list[Any]:
    """The members of the rows that a document gives; none where it is refused."""
    text = json.dumps(case["json"]) if "json" in case else "\n".join(case["text"])
    origin = Origin(**case.get("origin", {}))
    try:
        document = read_document(Body(text.encode()), FORMATS[format_id], origin)
    except DocumentRefused:
        return []
    return [json.loads(json.dumps(record.members)) for record in document.records]


@pytest.mark.parametrize(("format_id", "version", "cases"), list(_cases()))
def test_every_text_of_every_format_comes_back_whole(
    format_id: str, version: str, cases: list[Case]
) -> None:
    members = set()
    for case, (read, write) in product(cases, WRITERS.items()):
        for row in (
            row for more in _appended(case, f" {write(HOSTILE)}") for row in _rows(format_id, more)
        ):
            for path, text in _leaves(row):
                is_declared = DECLARED.get((version, path[0]), text_member) is read
                if is_declared and " via the " in text and path[0] not in KEYS:
                    members.add(path[0])
                    assert HOSTILE in text or text.endswith("…"), path
    assert members >= {member for member, *_ in PROSE.get(format_id, ())}


# -- feeds -------------------------------------------------------------------------------------

ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/"><title>{feed}</title><entry><id>urn:1</id>'
    "<link href='https://pier.example/1'/>{entry}</entry></feed>"
)
RSS = (
    "<rss version='2.0' xmlns:c='http://purl.org/rss/1.0/modules/content/'><channel>"
    "<title>{feed}</title><item><link>https://pier.example/1</link>{entry}</item></channel></rss>"
)
RDF = (
    "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
    "xmlns='http://purl.org/rss/1.0/'><channel><title>{feed}</title></channel>"
    "<item><link>https://pier.example/1</link>{entry}</item></rdf:RDF>"
)


def _xml(template: str, element: str, *, feed: str = "F") -> Callable[[str], bytes]:
    def write(text: str) -> bytes:
        marked = escape(text, quote=False)
        entry = element.replace("{}", marked)
        return template.format(feed=feed.replace("{}", marked), entry=entry).encode()

    return write


def _json(
    change: Callable[[str], dict[str, Any]], *, is_rss: bool = False
) -> Callable[[str], bytes]:
    def write(text: str) -> bytes:
        item = {"id": "1", "url": "https://pier.example/1", "title": "T", **change(text)}
        rss = {"rss": {"channel": {"item": item | {"link": item["url"]}}}}
        feed = {"version": "https://jsonfeed.org/version/1.1", "items": [item]}
        return json.dumps(rss if is_rss else feed).encode()

    return write


FEED_TEXTS: dict[str, tuple[str, Callable[[str], str], Callable[[str], bytes]]] = {
    "atom title": ("title", str, _xml(ATOM, "<title>{}</title>")),
    "atom title as text": ("title", str, _xml(ATOM, "<title type='text'>{}</title>")),
    "atom title as html": ("title", escape, _xml(ATOM, "<title type='html'>{}</title>")),
    "atom title as xhtml": (
        "title",
        str,
        _xml(
            ATOM,
            "<title type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>{}</div></title>",
        ),
    ),
    "atom summary": ("summary", str, _xml(ATOM, "<summary>{}</summary>")),
    "atom summary as html": ("summary", escape, _xml(ATOM, "<summary type='html'>{}</summary>")),
    "atom content": ("text", str, _xml(ATOM, "<content>{}</content>")),
    "atom content as html": ("text", escape, _xml(ATOM, "<content type='html'>{}</content>")),
    "atom author": ("authors", str, _xml(ATOM, "<author><name>{}</name></author>")),
    "rss title": ("title", escape, _xml(RSS, "<title>{}</title>")),
    "rss description": ("summary", escape, _xml(RSS, "<description>{}</description>")),
    "rss content": ("text", escape, _xml(RSS, "<c:encoded>{}</c:encoded>")),
    "rss category": ("categories", escape, _xml(RSS, "<category>{}</category>")),
    "rdf title": ("title", escape, _xml(RDF, "<title>{}</title>")),
    "rdf description": ("summary", escape, _xml(RDF, "<description>{}</description>")),
    "media group": (
        "text", str, _xml(ATOM, "<m:group><m:description>{}</m:description></m:group>"),
    ),
    "media group as html": (
        "text",
        escape,
        _xml(ATOM, "<m:group><m:description type='html'>{}</m:description></m:group>"),
    ),
    "jsonfeed title": ("title", str, _json(lambda text: {"title": text})),
    "jsonfeed summary": ("summary", str, _json(lambda text: {"summary": text})),
    "jsonfeed text": ("text", str, _json(lambda text: {"content_text": text})),
    "jsonfeed html": ("text", escape, _json(lambda text: {"content_html": text})),
    "jsonfeed tag": ("categories", str, _json(lambda text: {"tags": [text]})),
    "jsonfeed author": ("authors", str, _json(lambda text: {"authors": [{"name": text}]})),
    "rss-json title": ("title", escape, _json(lambda text: {"title": text}, is_rss=True)),
    "rss-json description": (
        "summary", escape, _json(lambda text: {"description": text}, is_rss=True),
    ),
}  # fmt: skip
LINES = st.text(st.characters(codec="ascii", exclude_characters="\x7f", min_codepoint=32))
HOSTILE_TEXTS = st.one_of(
    LINES,
    st.lists(st.sampled_from([*HOSTILE.split(), "&amp;lt;", "<p>x</p>", "<br>"]), max_size=9).map(
        " ".join
    ),
)


@pytest.mark.parametrize("name", FEED_TEXTS)
@given(text=HOSTILE_TEXTS.map(fold_space))
@example(text=HOSTILE)
def test_every_text_of_a_feed_comes_back_whole(name: str, text: str) -> None:
    member, escaped, write = FEED_TEXTS[name]
    (item,) = parse_feed(write(escaped(text))).items
    actual = getattr(item, member)
    assert actual == ((text,) if text else ()) if isinstance(actual, tuple) else actual == text

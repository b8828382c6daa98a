"""Parses RSS 0.9x, 1.0 and 2.0 and Atom with feedparser, after `census` has checked the document.

Rule 1: feedparser gets a stream, never bytes: it would open bytes that name a file.
Rule 2: a well-formed document is read as it is. A malformed one is kept only when it is whole:
its root is closed and every item that was opened was read. Anything less is refused.
Rule 3: links and markup are this package's business, so feedparser's slow sanitising is off.
"""

import io
import re
from collections.abc import Callable, Iterator
from functools import partial
from html.entities import html5

from attrs import evolve, frozen

from svc_core.formats.feeds.census import Census, check_root, entity_bomb, html_page, too_many_items
from svc_core.formats.feeds.entry_drafts import (
    APART,
    PLAIN,
    Channel,
    EntryDraft,
    Fields,
    Markup,
    batch,
    plain_names,
    string,
)
from svc_core.formats.feeds.model import FeedFormat, FeedLimits, ParsedFeed
from svc_core.formats.model import DocumentRefused, MissingExtra
from svc_core.formats.reading.dates import parse_date
from svc_core.formats.reading.languages import language_tag
from svc_core.formats.reading.markup_text import literal, plain_text

_DECLARATION = re.compile(r"\s*<\?xml\s[^>]*\?>")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0, 2.2
_HTML_START = re.compile(r"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_ROOT = re.compile(r"<((?:[\w.-]+:)?([A-Za-z][\w.-]*))")
_COMMENT = r"<!--.*?(?:-->|\Z)"
_CDATA = r"<!\[CDATA\[.*?(?:\]\]>|\Z)"
_COMMENT_OR_CDATA = re.compile(f"({_CDATA})|{_COMMENT}", re.DOTALL)
_ENTRY = re.compile(r"<(?:(?:atom|rss):)?(?:item|entry)(?=[\s/>])")
_NAMED_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31};)")
_XML_ENTITIES = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
# What makes the forgiving parser quadratic, and what it is not shown or refused for.
_TERM_LIST = re.compile(r"(</?(?:[\w.-]+:)?)(?:keywords|tags)\b", re.IGNORECASE)
_TERM = re.compile(r"<(?:[\w.-]+:)?(?:category|subject)\b", re.IGNORECASE)
_ODDITIES_MAX = 2_000
_EDGE_CHARS = 4_096
_LONG_WORD = re.compile(r"[\w.+-]{1000}")

_MEDIA_PREFIX = re.compile(rb"xmlns:([\w.-]+)\s*=\s*[\"']http://search\.yahoo\.com/mrss/?[\"']")
_MEDIA_PREFIXES_MAX = 4  # each costs a pass over the document; a feed has one
_HTML_TYPE = re.compile(rb"type\s*=\s*[\"']html")
_QUOTED = rb"(?><!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z))"
_MEDIA_TEXT = (
    rb"<media:(?P<name>title|description)(?=[\s/>])(?P<attributes>[^<>]*)"
    rb"(?:/>|>(?P<words>(?:[^<]++|" + _QUOTED + rb")*+)</media:(?P=name)\s*>)"
)
_MEDIA_CONTENT, _MEDIA_GROUP = (
    rb"<media:%s(?=[\s>])[^<>]*(?<!/)>(?:[^<]++|%s|<(?!media:%s[\s>]|!--|!\[CDATA\[))*?</media:%s\s*>"
    % (name, _QUOTED, name, name)
    for name in (b"content", b"group")
)
"""A text of Media RSS, a content that holds some, a group of contents: none where it is quoted."""

# feedparser takes "É®" for the UTF-8 of another letter, wherever all of a text can be such bytes.
_BYTE_PAIR = re.compile(
    rb"(\xc3[\x82-\xb4]|&#(?:x[c-e][0-9a-f]|xf[0-4]|19[4-9]|2[0-3]\d|24[0-4]);)"
    rb"(?=\xc2[\x80-\xbf]|&#(?:x[89ab][0-9a-f]|12[89]|1[3-8]\d|19[01]);)",
    re.IGNORECASE,
)

# feedparser ends an address after four letters of its top-level domain; the rest of a longer one
# ("ann@desk.example (Ann)") is left in the name.
_CUT_DOMAIN = re.compile(r"^[a-z]+(?: ?\(|$)|<[a-z]*>$")

_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions that escape from feedparser for unforeseen documents."""


@frozen
class _Reading:
    """The result of feedparser as plain mappings."""

    version: str
    feed: Fields
    entries: list[Fields]


def parse_xml(text: str, channel: Channel) -> ParsedFeed:
    """Parses the feed in the XML text; `channel` holds the limits and the base URL.

    Raises:
        DocumentRefused: when it is not a feed, not whole, or more than is read at once.
        MissingExtra: feedparser is not installed.
    """
    declaration = _DECLARATION.match(text)
    markup = text[declaration.end() :] if declaration else text
    if _HTML_START.match(_COMMENT_OR_CDATA.sub("", markup[:_EDGE_CHARS])):
        raise html_page()
    reading = _read(_ILLEGAL.sub("", markup), channel.limits)
    return _feed(reading, channel)


def _read(text: str, limits: FeedLimits) -> _Reading:
    if text.count("<item") + text.count("<entry") > 2 * limits.items:
        raise too_many_items(limits)
    document = text.encode()
    census = Census(document, limits).count()
    if census.has_doctype or not census.is_well_formed:
        # HTML's entities are often used and rarely declared; XML would drop or refuse them.
        document = _NAMED_ENTITY.sub(_character, text).encode()
        census = Census(document, limits).count()
    if census.is_well_formed:
        return _by_feedparser(document)
    return _recover(document.decode(), limits)


def _character(match: re.Match[str]) -> str:
    return match[0] if match[1] in _XML_ENTITIES else html5.get(match[1], match[0])


def _recover(text: str, limits: FeedLimits) -> _Reading:
    """Reads a malformed document that is whole, or refuses it."""
    if len(text) > limits.recovery_bytes:
        _check_whole(text[-_EDGE_CHARS:], text[:_EDGE_CHARS])
        raise DocumentRefused("malformed", "The XML is malformed, and too large to be recovered.")
    item_count = _check_recoverable(_COMMENT_OR_CDATA.sub("", text), text, limits)
    content = _COMMENT_OR_CDATA.sub(lambda match: match[1] or "", text)
    reading = _by_feedparser(_TERM_LIST.sub(r"\1ignored", content).encode())
    if len(reading.entries) < item_count:
        raise DocumentRefused(
            "malformed",
            f"The XML is malformed: {len(reading.entries)} of {item_count} items could be read.",
        )
    return reading


def _check_whole(end: str, start: str) -> None:
    root = _ROOT.search(start)
    if root is None:
        raise DocumentRefused("notAFeed", "The document is neither XML nor JSON.")
    check_root(root[2])
    if "<!ENTITY" in start[: root.start()]:
        raise entity_bomb()
    if not re.search(rf"</{re.escape(root[1])}\s*>", end):
        raise DocumentRefused("truncated", "The document ends before its last element is closed.")


def _check_recoverable(markup: str, text: str, limits: FeedLimits) -> int:
    """The number of items in a document; `markup` is its `text` without comments and CDATA."""
    _check_whole(markup, markup)
    oddities = markup.count("<!") + markup.count("<?") + len(_TERM.findall(text))
    if oddities > _ODDITIES_MAX or markup.count("<") > limits.elements or _LONG_WORD.search(text):
        raise DocumentRefused("malformed", "The XML is malformed, and too odd to be recovered.")
    item_count = len(_ENTRY.findall(markup))
    if item_count > limits.items:
        raise too_many_items(limits)
    return item_count


def _by_feedparser(document: bytes) -> _Reading:
    try:
        import feedparser  # noqa: PLC0415  the base install lacks it
    except ImportError:
        raise MissingExtra("feedparser") from None
    headers = {"content-type": "application/xml; charset=utf-8"}
    try:
        answer = feedparser.parse(
            io.BytesIO(_BYTE_PAIR.sub(rb"\1" + APART.encode(), _with_media_names(document))),
            response_headers=headers,
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except (*_FAULTS, feedparser.UndeclaredNamespace):
        raise DocumentRefused("malformed", "The XML is too irregular to be read.") from None
    # Plain dicts: feedparser's own answer aliases ("updated" for "published") that are not there.
    entries: list[Fields] = [dict(entry) for entry in answer.entries]
    return _Reading(str(answer.version), dict(answer.feed), entries)


def _with_media_names(document: bytes) -> bytes:
    """The document without the titles and descriptions of Media RSS, but those of groups.

    feedparser takes all of them for those of the entry. Most are captions; a group is one thing in
    several forms, and says what it is: `group_title`, `group_description`, `html_group_title`.
    """
    for prefix in [*dict.fromkeys(_MEDIA_PREFIX.findall(document))][:_MEDIA_PREFIXES_MAX]:
        document = _without_captions(document, prefix)
    return document


def _without_captions(document: bytes, prefix: bytes) -> bytes:
    def replace(form: bytes, make: Callable[[re.Match[bytes]], bytes], part: bytes) -> bytes:
        own_form = _QUOTED + b"|" + form.replace(b"media:", re.escape(prefix) + b":")

        def unless_quoted(match: re.Match[bytes]) -> bytes:
            return match[0] if match[0].startswith(b"<!") else make(match)

        return re.sub(own_form, unless_quoted, part, flags=re.DOTALL)

    without_texts = partial(replace, _MEDIA_TEXT, lambda _: b"")

    def rename(match: re.Match[bytes]) -> bytes:
        if match["name"]:
            return b""
        own = replace(_MEDIA_CONTENT, lambda content: without_texts(content[0]), match[0])
        return replace(_MEDIA_TEXT, partial(_group_text, prefix), own)

    return replace(_MEDIA_GROUP + b"|" + _MEDIA_TEXT, rename, document)


def _group_text(prefix: bytes, match: re.Match[bytes]) -> bytes:
    html = b"html_" if _HTML_TYPE.search(match["attributes"]) else b""
    name = b"%s:%sgroup_%s" % (prefix, html, match["name"])
    return b"<%s>%s</%s>" % (name, match["words"] or b"", name)


def _format(version: str) -> FeedFormat:
    if version.startswith("atom"):
        return "atom"
    return "rdf" if version in {"rss090", "rss10"} else "rss"


def _feed(reading: _Reading, channel: Channel) -> ParsedFeed:
    feed, limits = reading.feed, channel.limits
    if reading.version in {"", "atom", "rss"} and not (reading.entries or feed.get("title")):
        raise DocumentRefused("notAFeed", "This is XML, but neither RSS nor Atom.")
    home_url = Channel(limits, base_url=channel.base_url).resolve(string(feed, "link"))
    language = language_tag(string(feed, "language"))
    kind = _format(reading.version)
    authors = plain_names(_authors(feed, kind), limits)
    inner = evolve(channel, home_url=home_url, language=language, authors=authors)
    items, rejections = batch([_draft(entry, kind) for entry in reading.entries], inner)
    title = _markup(feed, "title", kind).line(limits)
    return ParsedFeed(kind, title or None, home_url, language, items, rejections)


def _draft(entry: Fields, kind: FeedFormat) -> EntryDraft:
    updated_at = parse_date(string(entry, "updated"))
    published_at = parse_date(string(entry, "published"))
    link, related_links = _links(entry)
    return EntryDraft(
        guid=string(entry, "id"),
        title=_markup(entry, "title", kind),
        summary=_summary(entry, kind),
        content=_content(entry),
        link=link,
        other_links=(*related_links, *_web_links(string(entry, "id"))),
        related_links=related_links,
        # RSS has no date of change: dc:date is the publication (Dublin Core: "an event in the
        # lifecycle"), while Atom tells the two apart (RFC 4287, 4.2.9 and 4.2.15).
        published_at=published_at if kind == "atom" else published_at or updated_at,
        updated_at=updated_at,
        language=_language(entry),
        authors=tuple(_authors(entry, kind)),
        categories=tuple(_categories(entry, kind)),
        image=next(filter(None, _images(entry)), ""),
    )


def _mappings(fields: Fields, name: str) -> list[Fields]:
    return [dict(item) for item in fields.get(name) or () if isinstance(item, dict)]


def _markup(fields: Fields, name: str, kind: FeedFormat) -> Markup:
    """A text of a feed or an entry: Atom says its type, RSS only that `description` is HTML."""
    detail = fields.get(f"{name}_detail") or {}
    text = string(fields, name)
    if kind == "atom" and dict.get(detail, "type") == "text/plain":
        return PLAIN(text)
    return Markup(text, literal if kind != "atom" and name == "title" else plain_text)


def _summary(entry: Fields, kind: FeedFormat) -> Markup:
    """The summary; of an entry without words that is a media group and no picture, the group's."""
    own = _markup(entry, "summary", kind)
    if own.source or any(map(_is_picture, _mappings(entry, "media_content"))):
        return own
    words, html = (string(entry, f"media_{name}group_description") for name in ("", "html_"))
    return PLAIN(words) if words else Markup(html)


def _is_picture(media: Fields) -> bool:
    return string(media, "medium") == "image" or _is_image(string(media, "type"))


def _name_markup(name: str, kind: FeedFormat) -> Markup:
    # RFC 4287, 4.2.2.3: entities in labels "represent their corresponding characters, not markup".
    return PLAIN(name) if kind == "atom" else Markup(name, literal)


def _content(entry: Fields) -> Markup:
    for content in _mappings(entry, "content"):
        type_ = string(content, "type")
        if content.get("value") and (type_.startswith("text/") or type_.endswith("xml")):
            text = string(content, "value")
            return PLAIN(text) if type_ == "text/plain" else Markup(text)
    return Markup()


def _links(entry: Fields) -> tuple[str, tuple[str, ...]]:
    """The link of an entry, and related links that may be its own page instead."""
    original = string(entry, "feedburner_origlink")
    by_rel = [(string(link, "rel"), string(link, "href")) for link in _mappings(entry, "links")]
    related_links = tuple(href for rel, href in by_rel if rel == "related" and href)
    alternate = next((href for rel, href in by_rel if rel == "alternate" and href), "")
    link = original or _own_link(entry) or alternate
    # An empty link, resolved, is the base that it was resolved against.
    return "" if link == _base(entry) else link, related_links


def _base(entry: Fields) -> str:
    return string(entry.get("title_detail") or {}, "base")


def _own_link(entry: Fields) -> str:
    """The link, unless it is a guid that feedparser took for a URL, as RSS defines it."""
    link, guid = string(entry, "link"), string(entry, "id")
    is_guid = bool(entry.get("guidislink")) and link.endswith(guid)
    return "" if is_guid and not _web_links(guid) else link


def _web_links(guid: str) -> tuple[str, ...]:
    """A guid that is a whole URL; any other would become one only by resolving it."""
    return (guid,) if guid.startswith(("http://", "https://")) else ()


def _language(entry: Fields) -> str:
    own = string(entry, "language")
    return own or string(entry.get("title_detail") or {}, "language")


def _authors(fields: Fields, kind: FeedFormat) -> list[Markup]:
    """Names only: an address of a person is not part of the news."""
    return [_name_markup(_name(author), kind) for author in _mappings(fields, "authors")]


def _name(author: Fields) -> str:
    name, top_level = string(author, "name"), string(author, "email").rpartition(".")[2]
    return _CUT_DOMAIN.sub("", name) if len(top_level) == 4 else name


def _categories(entry: Fields, kind: FeedFormat) -> list[Markup]:
    labels = (string(tag, "label") or string(tag, "term") for tag in _mappings(entry, "tags"))
    return [_name_markup(label, kind) for label in labels]


def _images(entry: Fields) -> Iterator[str]:
    for media in _mappings(entry, "media_content"):
        yield string(media, "url") if _is_picture(media) else ""
    for link in _mappings(entry, "links"):
        is_image = string(link, "rel") == "enclosure" and _is_image(string(link, "type"))
        yield string(link, "href") if is_image else ""
    for thumbnail in _mappings(entry, "media_thumbnail"):
        yield string(thumbnail, "url")
    yield string(entry.get("image") or {}, "href")


def _is_image(type_: str) -> bool:
    return type_.startswith("image/")

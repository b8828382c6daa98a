"""Parses JSON Feed 1.0 and 1.1, and RSS-in-JSON (`{"rss": {"channel": ...}}`).

Rule 1: every member may be of any type; a wrong type is as good as a missing member.
Rule 2: an item's permalink is its `url`; `external_url` is only where a link-blog's item points
(JSON Feed 1.1, Items).
"""

import re
from typing import Any

from attrs import evolve

from svc_core.formats.feeds.census import too_many_items
from svc_core.formats.feeds.entry_drafts import (
    NOT_AN_OBJECT,
    PLAIN,
    Channel,
    EntryDraft,
    Fields,
    Markup,
    RejectedEntry,
    batch,
    plain_names,
    string,
)
from svc_core.formats.feeds.model import FeedFormat, ParsedFeed
from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.dates import parse_date
from svc_core.formats.reading.languages import language_tag
from svc_core.formats.reading.markup_text import literal, unwrap_lines

_VERSION = re.compile(r"https?://(?:www\.)?jsonfeed\.org/version/1(?:\.\d{1,2})?/?")
_READERS = {"jsonfeed": unwrap_lines, "rss-json": literal}
"""The readers of titles and names: plain text in JSON Feed; RSS does not say what they are."""
_NOT_A_FEED = "This is JSON, but neither JSON Feed nor RSS-in-JSON."


def parse_json(document: Any, channel: Channel) -> ParsedFeed:
    """Parses the feed in a JSON value; `channel` holds the limits and the base URL.

    Raises:
        DocumentRefused: when it is not a feed, or more than is read at once.
    """
    if not isinstance(document, dict):
        raise DocumentRefused("notAFeed", _NOT_A_FEED)
    if _VERSION.fullmatch(string(document, "version")):
        return _feed(document, _list(document, "items"), "jsonfeed", channel)
    rss = _object(document, "rss")
    if isinstance(rss.get("channel"), dict):
        inner = _object(rss, "channel")
        return _feed(inner, _list(inner, "item"), "rss-json", channel)
    raise DocumentRefused("notAFeed", _NOT_A_FEED)


def _feed(feed: Fields, items: list[Any], kind: FeedFormat, channel: Channel) -> ParsedFeed:
    limits = channel.limits
    if len(items) > limits.items:
        raise too_many_items(limits)
    home = string(feed, "home_page_url") or string(feed, "link")
    home_url = Channel(limits, base_url=channel.base_url).resolve(home)
    language = language_tag(string(feed, "language"))
    authors = plain_names(_authors(feed, kind), limits)
    inner = evolve(channel, home_url=home_url, language=language, authors=authors)
    feed_items, rejections = batch([_outcome(item, kind) for item in items], inner)
    title = Markup(string(feed, "title"), _READERS[kind]).line(limits)
    return ParsedFeed(kind, title or None, home_url, language, feed_items, rejections)


def _outcome(item: Any, kind: FeedFormat) -> EntryDraft | RejectedEntry:
    if not isinstance(item, dict):
        return RejectedEntry(NOT_AN_OBJECT, type(item).__name__)
    return _json_feed_draft(item) if kind == "jsonfeed" else _rss_draft(item)


def _json_feed_draft(item: Fields) -> EntryDraft:
    html = string(item, "content_html")
    return EntryDraft(
        guid=_identifier(item.get("id")),
        title=PLAIN(string(item, "title")),
        summary=PLAIN(string(item, "summary")),
        content=Markup(html) if html else PLAIN(string(item, "content_text")),
        link=string(item, "url") or string(item, "external_url"),
        published_at=parse_date(string(item, "date_published")),
        updated_at=parse_date(string(item, "date_modified")),
        language=string(item, "language"),
        authors=tuple(_authors(item, "jsonfeed")),
        categories=tuple(PLAIN(tag) for tag in _list(item, "tags") if isinstance(tag, str)),
        image=string(item, "image") or string(item, "banner_image"),
    )


def _rss_draft(item: Fields) -> EntryDraft:
    guid = _element_text(item.get("guid"))
    categories = (_element_text(category) for category in _list(item, "category"))
    return EntryDraft(
        guid=guid,
        title=Markup(string(item, "title"), literal),
        summary=Markup(string(item, "description")),
        content=Markup(string(item, "content:encoded")),
        link=string(item, "link") or guid,
        other_links=(guid,),
        published_at=parse_date(string(item, "pubDate")),
        authors=(Markup(string(item, "dc:creator"), literal),),
        categories=tuple(Markup(category, literal) for category in categories),
    )


def _object(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _list(fields: Fields, name: str) -> list[Any]:
    """An array, or the one value that stands for an array of one."""
    value = fields.get(name)
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def _identifier(value: object) -> str:
    # JSON Feed 1.1, Items: an id that is a number "MUST be coerced to a string".
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _element_text(value: object) -> str:
    """A string, or the text of an element with attributes: `{"#value": ...}`."""
    return string(value, "#value") if isinstance(value, dict) else _identifier(value)


def _authors(fields: Fields, kind: FeedFormat) -> list[Markup]:
    people = _list(fields, "authors") or _list(fields, "author")
    names = (string(person, "name") for person in people if isinstance(person, dict))
    return [Markup(name, _READERS[kind]) for name in names]

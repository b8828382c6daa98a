"""The model of a feed document: its items, its own metadata, and the limits for parsing it."""

from datetime import datetime
from typing import Literal

from attrs import frozen

from svc_core.formats.model import Rejection

FeedFormat = Literal["rss", "atom", "rdf", "jsonfeed", "rss-json"]
"""The format family of a document: RSS 0.91-2.0, Atom, RSS 0.90/1.0 (RDF), JSON Feed and
RSS-in-JSON."""


PublishedBasis = Literal["stated", "assumed"]
"""Whether the zone of a publication date is stated, or assumed because the source names none."""


@frozen
class FeedLimits:
    """The bounds of one document; a document past one of the first six is refused whole."""

    body_bytes: int = 10 * 2**20
    """Real feeds stay under 1 MiB; ten leave room for full-text archives."""
    items: int = 2_000
    """Reading costs about half a millisecond an item: one second for the fullest document."""
    elements: int = 60_000
    """XML elements: thirty for each of the 2,000 items."""
    attributes: int = 128
    """Of one XML element, name space declarations included; feeds declare up to about forty."""
    depth: int = 128
    """Nested XML elements; XHTML bodies reach about twenty."""
    recovery_bytes: int = 2**19
    """Malformed XML is read again by a slower, forgiving parser: only up to this size."""
    title_chars: int = 500
    summary_chars: int = 600
    """Spec: News item, summary at most 600 characters."""
    text_chars: int = 20_000
    markup_chars: int = 400_000
    """Markup read of one body before it is turned into text."""
    name_chars: int = 200
    """One author, category or feed title."""
    url_chars: int = 4_096
    names: int = 50
    """Authors, and categories, kept of one item."""


@frozen
class FeedItem:
    """One entry of a feed, as plain text.

    `natural_key` identifies the entry: its permalink, which is then `url`, else its guid within its
    feed, else a hash of title and text. `published_basis` is `assumed` where the date names no zone
    and the document, its country or UTC gave one. `url` is absolute http(s) without tracking
    parameters; `source_url` is the same link as published. Datetimes are aware and in UTC.
    `summary` has at most 600 characters on one line; `text` at most 20,000, one line a paragraph.
    """

    natural_key: str
    title: str
    summary: str
    text: str
    url: str | None
    source_url: str | None
    published_at: datetime | None
    updated_at: datetime | None
    language: str | None
    authors: tuple[str, ...]
    categories: tuple[str, ...]
    image_url: str | None
    published_basis: PublishedBasis | None = None


@frozen
class ParsedFeed:
    """One whole feed document; a feed without items is valid."""

    format: FeedFormat
    title: str | None
    home_url: str | None
    language: str | None
    items: tuple[FeedItem, ...]
    rejections: tuple[Rejection, ...]

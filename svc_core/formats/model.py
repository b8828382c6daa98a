"""What a source parser promises: records, counted rejections, one kind of refusal.

Rule 1: a document is taken whole or refused whole (`DocumentRefused`).
Rule 2: a record that cannot be used is a `Rejection`; it never fails its neighbours.
Rule 3: nothing is invented: what is missing or unreadable is null or left out.
Rule 4: everything taken from a document has a number that bounds it (`Format`, `FeedLimits`).
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, tzinfo
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from attrs import field, frozen

from svc_core import data
from svc_core.wire.constraints import Doc, Example

if TYPE_CHECKING:
    from svc_core.formats.reading.body import Body

Said = Mapping[str, Any]
"""Members of a row in their wire names and JSON values."""


# -- what a document says ----------------------------------------------------------------------


@frozen
class Record:
    """What a document says of one row.

    `resource` is the kind of row, `key` what it is known by among its kind, whoever tells of it:
    the provider belongs to it only where the key is the provider's own (`us7000si5c` of `usgs`).
    `also` are other keys that name the same row. `said` are members of the row; one that is null
    says nothing. `stamp` is when its source last changed it, by the source's own word; without one
    that of the document counts. `record_id` and `url` lead back to the record at its source, and
    `raw` is the record itself. One that is `gone` was withdrawn by a delta.
    """

    resource: str
    key: str
    said: Said
    stamp: datetime | None = None
    also: tuple[str, ...] = ()
    record_id: str | None = None
    url: str | None = None
    published_at: datetime | None = None
    raw: Any = None
    gone: bool = False


@frozen
class Rejection:
    """Rows of one document left out for the same `reason`: how many, and one of them."""

    reason: Annotated[str, Doc("Why, without values."), Example("lacks 'id'")]
    count: Annotated[int, Doc("How many."), Example(1)]
    sample: Annotated[str, Doc("One of them."), Example("M 4.2 - 10 km S of Esmeraldas")]


@frozen
class About:
    """What a document says of itself, the last one told counts.

    `stamp` is when it was made, by its own word; `records` how many it says that it holds.
    """

    stamp: datetime | None = None
    title: str | None = None
    home_url: str | None = None
    language: str | None = None
    records: int | None = None


@frozen
class Given:
    """What is known of a document beside its bytes.

    `options` are what the source's owner says; `base_url` is the address it came from and `name`
    that of its file; of `content_type` only the charset is used. Dates without a zone are read by
    the clock of `zone`, else in the zone of the document's other dates, else by that of
    `country_zone`, else in UTC.
    """

    options: Mapping[str, str] = field(factory=dict)
    base_url: str | None = None
    content_type: str | None = None
    name: str = ""
    zone: tzinfo | None = None
    country_zone: tzinfo | None = None


Told = Iterator[About | Record | Rejection]


# -- formats -----------------------------------------------------------------------------------

Kind = Literal["snapshot", "window", "delta"]
"""Whether what is absent from a document is gone, whether absence says nothing, or whether the
document says itself what is gone."""

MEBI = 2**20


def _asked(recognise: Callable[["Body"], object]) -> Callable[["Body"], bool]:
    """A document of another form than is looked for is of another format."""

    def is_of(body: "Body") -> bool:
        try:
            return bool(recognise(body))
        except DocumentRefused:
            raise
        except FAULTS:
            return False

    return is_of


@frozen
class Format:
    """One upstream format: how it is recognised by its content, and read.

    `provider` is who publishes it, None where each document or an option says so. `brings` are the
    kinds of rows. `options` are those that `svc sources add --option` takes, with their text; what
    is in `required` has to be given. `license` and `attribution` are those of its data, None where
    each publisher has its own. `bytes_max` and `records_max` bound one document.
    """

    id: str
    title: str
    kind: Kind
    provider: str | None
    brings: tuple[str, ...]
    recognise: Callable[["Body"], bool] = field(converter=_asked)
    parse: Callable[["Body", Given], Told]
    options: Mapping[str, str] = field(factory=dict)
    required: frozenset[str] = frozenset()
    cadence_seconds: int = 3_600
    license: str | None = None
    attribution: str | None = None
    bytes_max: int = 64 * MEBI
    records_max: int = 500_000


def declared(
    id_: str,
    recognise: Callable[["Body"], bool],
    parse: Callable[["Body", Given], Told],
    **more: Any,
) -> Format:
    """The format that a line of `formats.tsv` describes; `more` are members that it does not."""
    title, kind, provider, brings, seconds, license_, attribution = _lines()[id_]
    more |= {"license": license_ or None, "attribution": attribution or None}
    more |= {"kind": kind, "brings": tuple(brings.split(",")), "cadence_seconds": int(seconds)}
    return Format(
        id=id_, title=title, provider=provider or None, recognise=recognise, parse=parse, **more
    )


@cache
def _lines() -> Mapping[str, list[str]]:
    return {id_: members for id_, *members in data.rows("formats.tsv")}


# -- feeds -------------------------------------------------------------------------------------

FeedFormat = Literal["rss", "atom", "rdf", "jsonfeed", "rss-json"]
"""The family a document belongs to: RSS 0.91-2.0, Atom, RSS 0.90/1.0 (RDF), JSON Feed and
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
    """One whole document. No items is a valid, empty feed."""

    format: FeedFormat
    title: str | None
    home_url: str | None
    language: str | None
    items: tuple[FeedItem, ...]
    rejections: tuple[Rejection, ...]


class DocumentRefused(ValueError):  # noqa: N818  a refusal, not an error of the program
    """The whole document is refused. `code` is stable, `reason` is a sentence for a person.

    Codes: `empty`, `tooLarge`, `tooManyItems`, `tooComplex`, `badEncoding`, `notAFeed`, `html`,
    `opml`, `entityBomb`, `truncated`, `malformed`; `unrecognised` where no format fits,
    `anotherFormat` where it is not the one that its source has, `shrunk`, `wrongCount`, `option`,
    `archive`.
    """

    def __init__(self, code: str, reason: str) -> None:
        """Refuse with a stable `code` and a `reason` a person understands."""
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


class MissingExtra(ImportError):  # noqa: N818  it names what is missing
    """A library of an optional extra is not installed; the message says how to install it."""

    def __init__(self, library: str) -> None:
        """Name the `library` that is missing."""
        super().__init__(f"{library} is not installed: pip install 'svc-intelligence[server]'")
        self.library = library


FAULTS = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What code raises on data that is not what it takes it for; nested too deeply is among them."""


class Unusable(ValueError):  # noqa: N818  it says what is wrong with a record
    """One record cannot be used; the message is the reason of its `Rejection`, without values."""

"""What a source parser promises: records, counted rejections, one kind of refusal.

Rule 1: a document is taken whole or refused whole (`DocumentRefused`).
Rule 2: a record that cannot be used is a `Rejection`; it never fails its neighbours.
Rule 3: nothing is invented: what is missing or unreadable is null or left out.
Rule 4: everything taken from a document has a number that bounds it (`Format`, `FeedLimits`).
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Annotated, Any

from attrs import field, frozen

from svc_core.wire.constraints import Doc, Example

Members = Mapping[str, Any]
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
    said: Members
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


Contents = Iterator[About | Record | Rejection]


# -- what is refused ---------------------------------------------------------------------------


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

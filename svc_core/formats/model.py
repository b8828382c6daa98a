"""Defines what a parser of an upstream document yields: records, rejections and metadata.

Rule 1: a document is taken whole or refused whole (`DocumentRefused`).
Rule 2: a record that cannot be used is a `Rejection`; it never fails its neighbours.
Rule 3: a parser invents nothing: what is missing or unreadable is null or left out.
Rule 4: everything read from a document has a bound (`Format`, `FeedLimits`).

A parser is a generator function: it takes the bytes of a document (`Body`) and what is known of it
beside them, and yields its contents one by one. It neither fetches nor stores anything, and it does
not ask for the time, so a document always gives the same records. `table.read` runs a parser to its
end before anything of the document counts, which is what makes rule 1 hold.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, tzinfo
from typing import Annotated, Any

from attrs import field, frozen

from svc_core.wire.constraints import Example

Members = Mapping[str, Any]
"""The members of a row, by the camelCase names and with the JSON values of the wire."""


# -- what a document says ----------------------------------------------------------------------


@frozen
class Record:
    """The statement of one document about one row.

    `resource` is the kind of row. `key` names the row among its kind, the same in every source; the
    provider is part of it only where the provider made the id (`usgs:us7000si5c`). `other_keys` are
    other keys of the same row, by which the records of several sources meet. `members` are members
    of the row; a null member states nothing. `stamp` is when the source says that it last changed
    the record; without it the stamp of the document counts. `record_id` and `url` lead back to the
    record at its source, and `raw` is the record as published. `is_withdrawn` marks a record that a
    delta withdraws.
    """

    resource: str
    key: str
    members: Members
    stamp: datetime | None = None
    other_keys: tuple[str, ...] = ()
    record_id: str | None = None
    url: str | None = None
    published_at: datetime | None = None
    raw: Any = None
    is_withdrawn: bool = False


@frozen
class Rejection:
    """Rows of one document left out for the same `reason`: how many, and one of them."""

    reason: Annotated[str, Example("lacks 'id'")]
    """Why, without values."""
    count: Annotated[int, Example(1)]
    """How many."""
    sample: Annotated[str, Example("M 4.2 - 10 km S of Esmeraldas")]
    """One of them."""


@frozen
class Metadata:
    """What a document states about itself; a later one replaces an earlier one.

    `stamp` is when the document says that it was made, `records` how many it says that it holds.
    """

    stamp: datetime | None = None
    title: str | None = None
    home_url: str | None = None
    language: str | None = None
    records: int | None = None


@frozen
class Origin:
    """Where a document came from: what is known of it beside its bytes.

    `options` were set by the owner of the source, `base_url` is the address of the document and
    `name` that of its file; of `content_type` only the charset is used. A date without a zone is in
    `zone`, else in the zone of the document's other dates, else in `country_zone`, else in UTC.
    """

    options: Mapping[str, str] = field(factory=dict)
    base_url: str | None = None
    content_type: str | None = None
    name: str = ""
    zone: tzinfo | None = None
    country_zone: tzinfo | None = None


Contents = Iterator[Metadata | Record | Rejection]
"""What a parser yields, in the order of the document."""


# -- what is refused ---------------------------------------------------------------------------


class DocumentRefused(ValueError):  # noqa: N818  a refusal, not an error of the program
    """A whole document is refused: `code` is stable, `reason` is a sentence for a person.

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
"""Exceptions that code raises on data of an unexpected form, too deep nesting included."""


class RecordRefused(ValueError):  # noqa: N818  it says what is wrong with a record
    """A single record cannot be used; the message becomes the `reason` of its `Rejection`.

    The message holds no values of the record, so that equal faults are counted together.
    """

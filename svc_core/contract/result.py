"""Results of operations that succeed: one class for each shape of answer.

A use case returns one of these, an `Operation` names it as its `response`, and the executor makes
the status, the header fields and the body from it. An answer that goes on without an end is a
`svc_core.operation.stream.Stream`.
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from attrs import field, frozen

T = TypeVar("T")

Tag = tuple[str | int, ...] | str
"""The parts of an ETag; a text is the opaque tag itself, where its form is promised."""

Fields = tuple[tuple[str, str], ...]
"""Header fields of an answer besides those that every answer has."""


@frozen
class Single(Generic[T]):
    """A single resource under `data`. `tag` gives the parts of its ETag; None gives no ETag.

    A `fleeting` one holds an address that expires, so nobody may store it. `failed` says that part
    of the work failed: a command line then exits as after a refusal.
    """

    raw: bytes
    tag: Tag | None = None
    fleeting: bool = False
    failed: bool = False


@frozen
class Bare(Generic[T]):
    """A facet whose object is the whole body, without envelope."""

    raw: bytes
    tag: Tag | None = None


@frozen
class Created(Generic[T]):
    """A new resource: 201 with `Location` and `ETag`."""

    raw: bytes
    tag: Tag
    location: str


@frozen
class Accepted(Generic[T]):
    """Work that will be done: 202 with the resource that reports on it, `Location` and `ETag`."""

    raw: bytes
    tag: Tag
    location: str


@frozen
class Page(Generic[T]):
    """A page of rows in wire bytes; `meta` holds members beside `pageCount` and `page`.

    `next_parameter` is the query parameter that takes `next_cursor` to continue. `failed` is
    as for `Single`.
    """

    rows: tuple[bytes, ...]
    next_cursor: str | None = None
    next_parameter: str = "cursor"
    meta: Mapping[str, Any] = field(factory=dict)
    fields: Fields = ()
    failed: bool = False


@frozen
class PagedResource(Page[T]):
    """A page of one resource under `data`: `raw` is the resource with the `rows` of this page."""

    raw: bytes = b""


@frozen
class Empty:
    """Success without a body: 204."""


@frozen
class Redirect:
    """The resource is at another address for now: 302 with an absolute `Location`."""

    location: str


@frozen
class Content:
    """A representation of its own (Markdown, plain text, HTML): its media type and bytes.

    A `fleeting` one holds an address that expires, as for a single resource.
    """

    media_type: str
    body: bytes
    tag: Tag | None = None
    fields: Fields = ()
    fleeting: bool = False

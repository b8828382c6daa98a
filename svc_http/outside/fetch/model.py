"""The results of a fetch: a document or its refusal; and the bounds of a fetch."""

from http import HTTPStatus

from attrs import field, frozen


@frozen
class FetchLimits:
    """The bounds of one fetch, and of all fetches together."""

    body_bytes: int = 64 * 2**20
    """The largest document of any format; counted on the wire and again decompressed."""
    connect_seconds: float = 3.0
    """For name, connection and TLS; a server that needs longer is overloaded."""
    total_seconds: float = 20.0
    """For the whole exchange with its redirects, without the wait for a place."""
    redirects: int = 3
    """Enough for http to https, to www and to a new path."""
    at_once: int = 8
    """Concurrent exchanges; one per host, so that no publisher is overloaded."""


@frozen
class FetchedDocument:
    """A whole document. `final_url` is its address after redirects."""

    body: bytes = field(repr=False)
    content_type: str | None
    etag: str | None
    last_modified: str | None
    final_url: str
    status: int | None
    """The HTTP status; None for a file."""


@frozen
class NotModified:
    """The document is the one whose validators were sent (HTTP status 304)."""


def status_phrase(status: int) -> str:
    """An HTTP status with its standard phrase, if it has one."""
    is_listed = status in HTTPStatus.__members__.values()
    return f"{status} {HTTPStatus(status).phrase}" if is_listed else str(status)


class FetchRefusal(Exception):  # noqa: N818 - named as an outcome
    """The document could not be read. `code` is stable, `message` a sentence for a person.

    Codes: `badAddress`, `deniedAddress`, `unknownHost`, `unreachable`, `timeout`, `protocol`,
    `httpStatus`, `redirects`, `encoding`, `tooLarge`, `notFound`, `unreadable`, `tooMany`.
    """

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        """Set the members; `status` is the HTTP status, if the server gave one."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status

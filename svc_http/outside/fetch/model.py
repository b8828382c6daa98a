"""What a fetch gives back, what it refuses with, and its bounds."""

from attrs import field, frozen


@frozen
class FetchLimits:
    """The bounds of one fetch, and of all of them together."""

    body_bytes: int = 64 * 2**20
    """As many as a document of any format has; counted on the wire and once more unfolded."""
    connect_seconds: float = 3.0
    """Name, connection and TLS; a server that needs longer is not well."""
    total_seconds: float = 20.0
    """The whole exchange with its redirects, without the wait for a turn."""
    redirects: int = 3
    """Enough for http to https, to www and to a new path."""
    at_once: int = 8
    """Exchanges under way; one per host, so that no publisher is pressed."""


@frozen
class Fetched:
    """A whole document. `final_url` is where it was found after redirects."""

    body: bytes = field(repr=False)
    content_type: str | None
    etag: str | None
    last_modified: str | None
    final_url: str
    status: int | None
    """The HTTP status; None for a file."""


@frozen
class NotModified:
    """The server says that the document is the one whose validators were sent."""


class FetchRefused(Exception):  # noqa: N818 - said as what happened
    """The document could not be read. `code` is stable, `message` a sentence for a person.

    Codes: `badAddress`, `deniedAddress`, `unknownHost`, `unreachable`, `timeout`, `protocol`,
    `httpStatus`, `redirects`, `encoding`, `tooLarge`, `notFound`, `unreadable`, `tooMany`.
    """

    def __init__(self, code: str, message: str, status: int | None = None) -> None:
        """Refuse; `status` is the HTTP status where the server gave one."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status

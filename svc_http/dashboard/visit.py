"""One request for a page of the dashboard, and the three kinds of answers to it."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar, Final
from urllib.parse import parse_qsl

from attrs import field, frozen

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.dashboard.desk import Desk
from svc_http.exchange.http_exchange import Exchange

FIELDS_MAX: Final = 500
"""Values in one query or form: the largest form of the catalogue has about forty inputs."""

Values = Mapping[str, tuple[str, ...]]
"""The values of each name, in the order sent."""


@frozen
class Visit:
    """A request: its path, the values in that, the query, and the form that was sent with POST."""

    path: str
    places: Mapping[str, str] = field(factory=dict)
    query: Values = field(factory=dict)
    form: Values | None = None

    def word(self, name: str) -> str:
        """The first value of a name in the query; empty where there is none."""
        return next(iter(self.query.get(name, ())), "")


@frozen
class HtmlPage:
    """An HTML page: a template and its values. One with a secret is never stored by the browser."""

    template: str
    values: Mapping[str, Any] = field(factory=dict)
    status: int = 200
    is_secret: bool = False


@frozen
class Redirection:
    """The address, under the origin, of the page that shows what was done (303)."""

    address: str
    is_secret: ClassVar = False


@frozen
class Download:
    """Bytes of another kind than HTML, under a file name where they are to be stored."""

    media_type: str
    body: bytes
    file_name: str | None = None

    @property
    def is_secret(self) -> bool:
        """Whether the browser keeps no copy of its own: it is stored as a file."""
        return self.file_name is not None


PageAnswer = HtmlPage | Redirection | Download
View = Callable[[Desk, Visit], Awaitable[PageAnswer]]
"""Answers one visit of a signed-in person."""


@frozen
class PageRoute:
    """The address of a page, with the views of its GET and of the form that it sends.

    Where the path has `{workspaceId}`, the page is for members of that workspace. The form of one
    that is `guarded` asks a person to have signed in a short time ago.
    """

    path: str
    get: View
    post: View | None = None
    is_guarded: bool = False


async def visit_of(exchange: Exchange, places: Mapping[str, str], seconds_max: float) -> Visit:
    """The visit of a request; the form of a POST is read whole, within the limits of every body.

    Raises:
        Problem: UNSUPPORTED_MEDIA_TYPE, INVALID_PARAMETER, or a fault of the body.
    """
    query = _values(exchange.query)
    if exchange.method != "POST":
        return Visit(exchange.path, places, query)
    kind = (exchange.header("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        detail = "A form is sent as application/x-www-form-urlencoded."
        raise Problem(problem.UNSUPPORTED_MEDIA_TYPE, detail)
    return Visit(exchange.path, places, query, _values(await exchange.body(seconds_max)))


def _values(raw: bytes) -> Values:
    try:
        text = raw.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX)
    except ValueError as fault:
        detail = f"At most {FIELDS_MAX} values, as percent-encoded UTF-8."
        raise Problem(problem.INVALID_PARAMETER, detail) from fault
    values: dict[str, tuple[str, ...]] = {}
    for name, text in pairs:
        values[name] = (*values.get(name, ()), text.replace("\r\n", "\n"))
    return values

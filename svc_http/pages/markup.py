"""Renders HTML pages from templates, with the header fields that belong to them.

Rule 1: the values of a template are text and are escaped; a missing value is a defect.
Rule 2: a page loads only files of this service and runs no script, except `/docs/try`.
Rule 3: links are relative to the page, so that they work below any mount and behind any proxy. The
        page of a report, which may be saved and printed, contains its style and its icon.
"""

from base64 import b64encode
from collections.abc import Mapping
from datetime import date
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.contract.negotiation import Representation
from svc_core.contract.result import Content
from svc_core.reports.model import Period
from svc_core.reports.page import ReportPage
from svc_core.text.wording import Wording, days, frame

if TYPE_CHECKING:
    from jinja2 import Environment

HTML: Final = Representation("html", "text/html; charset=utf-8")
STATIC: Final = Path(__file__).parent.parent / "static"
ICON: Final = "/static/favicon.svg"
_STYLE: Final = "/static/page.css"

_BARE: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
POLICY: Final = _BARE + "style-src 'self'; img-src 'self'"
"""The Content-Security-Policy of a page without a script."""
REFERRER: Final = (b"referrer-policy", b"no-referrer")


def site_root(path: str) -> str:
    """The relative URL of the index, seen from the page at `path`."""
    return "../" * (path.count("/") - 1) or "./"


def render_template(template: str, root: str, **values: Any) -> bytes:
    """Render a template with its values; `root` is the relative URL of the index."""
    page = _environment().get_template(template if "." in template else f"{template}.html")
    return page.render(root=root, page=template, **values).encode()


class PageTypesetter:
    """Renders the pages of reports for a service at `origin`."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    def report(self, page: ReportPage) -> Content:
        """The page of a report, with its Content-Security-Policy."""
        style, icon = _file(_STYLE), _file(ICON)
        digest = b64encode(sha256(style.encode()).digest()).decode()
        body = render_template(
            "report",
            f"{self._origin}/",
            report=page,
            own=frame(page.language),
            style=style,
            icon="data:image/svg+xml," + quote(icon),
        )
        audio_policy = "" if page.audio is None else f"; media-src {policy_origin(page.audio.url)}"
        policy = f"{_BARE}style-src 'sha256-{digest}'; img-src data:{audio_policy}"
        fields = (
            ("Content-Security-Policy", policy),
            ("Referrer-Policy", "no-referrer"),
            ("X-Robots-Tag", "noindex"),
        )
        return Content(HTML.media_type, body, fields=fields)


@cache
def _file(path: str) -> str:
    return (STATIC.parent / path[1:]).read_text("utf-8").strip()


def policy_origin(url: str) -> str:
    """The scheme and the host of a URL, as policies name them."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


# -- the templates -----------------------------------------------------------------------------


def template_environment(package: str) -> "Environment":
    """The templates of a package, for pages whose values are text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape  # noqa: PLC0415 - loads late

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(("html",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(service=openapi.TITLE)
    return environment


@cache
def _environment() -> "Environment":
    environment = template_environment(__package__)
    filters: Mapping[str, Any] = {
        "day": _day,
        "moment": frame("en").moment,
        "period": _period,
        "clock": _clock,
    }
    environment.filters.update(filters)
    return environment


def _day(at: date, own: Wording | None = None) -> str:
    return (own or frame("en")).day(at)


def _period(span: Period, own: Wording) -> str:
    """The days of a period, or, where it does not begin and end at midnight, its instants."""
    first, last = days(span.start, span.end)
    if any(at.timestamp() % 86_400 for at in (span.start, span.end)):
        return f"{own.moment(span.start).removesuffix(' UTC')} – {own.moment(span.end)}"
    return own.span(first, last)


def _clock(seconds: float) -> str:
    """A duration as players show it: `3:05`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"

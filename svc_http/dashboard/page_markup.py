"""Renders the templates of the dashboard.

Rule 1: the values of a template are text and are escaped; a missing value is a defect.
Rule 2: a template has neither style nor script inside; the policy of its page forbids both.
"""

import json
from functools import cache, partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from svc_core.catalog.openapi import openapi_document as openapi
from svc_http.dashboard.assets import asset_address
from svc_http.dashboard.captions import (
    caption_of,
    group_caption,
    item_caption,
    subtitle_of,
    word_caption,
)
from svc_http.dashboard.value_shapes import (
    anchor_of,
    headings_of,
    member_at,
    moment_of,
    short_text,
    shown_columns,
    title_of,
    tone_of,
    value_shape,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_SCHEMES: Final = frozenset({"", "http", "https", "mailto"})


def render_page(template: str, **values: Any) -> bytes:
    """Render a template with its values."""
    return _environment().get_template(f"{template}.html").render(page=template, **values).encode()


def compile_pages() -> None:
    """Compile every template: the first visit would hold up all others for 80 ms."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def safe_link(address: str) -> str | None:
    """An address that a link may lead to; None for one that a browser would run, or cannot read."""
    try:
        scheme = urlsplit(address.strip()).scheme
    except ValueError:
        return None
    return address if scheme in _SCHEMES else None


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - loads late

    environment = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        link=safe_link,
        caption=caption_of,
        group=group_caption,
        item=item_caption,
        subtitle=subtitle_of,
        word=word_caption,
        shape=value_shape,
        moment=moment_of,
        short=short_text,
        name=title_of,
        tone=tone_of,
        at=member_at,
        anchor=anchor_of,
        columns=shown_columns,
        headings=headings_of,
        pretty=partial(json.dumps, ensure_ascii=False, indent=1),
        quote=quote,
    )
    environment.globals.update(service=openapi.TITLE, asset=asset_address)
    return environment

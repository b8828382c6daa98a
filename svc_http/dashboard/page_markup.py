"""Renders the templates of the dashboard.

Rule 1: the values of a template are text and are escaped; a missing value is a defect.
Rule 2: what `captions` and `value_shapes` have is a filter by its name.
Rule 3: a template has neither style nor script inside; the policy of its page forbids both.
"""

import json
from functools import cache, partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from svc_http.dashboard import captions, value_shapes
from svc_http.dashboard.assets import asset_address
from svc_http.dashboard.row_exports import EXPORTS
from svc_http.pages.markup import template_environment

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
    environment = template_environment(__package__)
    for module in (captions, value_shapes):
        functions = {name: each for name, each in vars(module).items() if callable(each)}
        environment.filters.update(functions)
    pretty = partial(json.dumps, ensure_ascii=False, indent=1)
    environment.filters.update(link=safe_link, pretty=pretty, quote=quote)
    environment.globals.update(asset=asset_address, exports=tuple(EXPORTS))
    return environment

"""A page that shows every component of the dashboard in all of its states, in development only."""

import tomllib
from pathlib import Path
from typing import Any

from svc_http.dashboard.desk import Desk
from svc_http.dashboard.form_fields import Field
from svc_http.dashboard.visit import HtmlPage, Visit


def kit_values() -> dict[str, Any]:
    """The values of `kit.html`, from `kit.toml`."""
    samples = tomllib.loads(Path(__file__).with_name("kit.toml").read_text("utf-8"))
    return {**samples, "fields": [Field(**row) for row in samples["fields"]]}


async def kit_page(_desk: Desk, _visit: Visit) -> HtmlPage:
    """The page at `/dashboard/kit`."""
    return HtmlPage("kit", kit_values())

"""A page that shows every component of the dashboard in all of its states, in development only."""

from datetime import UTC, datetime
from types import SimpleNamespace as Sample
from typing import Any, Final

from svc_http.dashboard.menu import MenuLink, MenuSection, Shell

PATH: Final = "/dashboard/kit"

_LEVELS: Final = tuple((level, level.capitalize()) for level in ("info", "low", "medium", "high"))
_SEEN: Final = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
_LONG: Final = "A name of many words that stands in a narrow place and has to be broken somewhere"


def _field(kind: str, label: str, *values: str, **members: Any) -> Sample:
    usual = {"hint": "", "required": False, "options": (), "bounds": {}, "type": "text"}
    own = {"example": "", "prefixes": (), "error": "", "value": "\n".join(values), **members}
    return Sample(kind=kind, name=label.lower(), label=label, values=values, **{**usual, **own})


_FIELDS: Final = (
    _field("text", "Name", "Hospital ransomware", required=True, hint="What people call it."),
    _field("longtext", "Topic", bounds={"maxlength": 2000}, example="Ransomware in hospitals"),
    _field("number", "Rate", "120", bounds={"min": 1, "max": 60}, error="At most 60."),
    _field("choice", "Severity", options=_LEVELS),
    _field("choices", "Levels", "low", "high", options=_LEVELS),
    _field("check", "Pinned", "true", hint="Stands first in lists."),
    _field("lines", "Keywords", "Vallmere", "Gravel Lynx", hint="One a line."),
    _field("pick", "Profile", prefixes=("prf",), example="prf_01j8z0k2v9"),
    _field("picks", "Webhooks", prefixes=("whk",)),
    _field("instant", "Start", "2026-01-31T09:30", type="datetime-local"),
    _field("span", "Every", "15m", hint="Such as 90s, 15m or 7d."),
    _field("pairs", "Options", "series=GDP", hint="name=value, one a line."),
    _field("json", "Body", '{\n "frequency": "daily"\n}'),
    _field("box", "Area"),
    _field("interval", "Period"),
)
_CELLS: Final = (
    ("M 5.4 - 38 km W of Esmeraldas", "5.4"),
    (_LONG, "—"),
    ("زلزال في الإكوادور", "6.7"),
)


def kit_values() -> dict[str, Any]:
    """The values of `kit.html`."""
    group = (("Reports", "file-text"), ("News", "newspaper"), ("Signals", "activity"))
    links = tuple(MenuLink(label, "#", picture, label.lower()) for label, picture in group)
    here = MenuLink("Kit", PATH, "settings", is_here=True)
    sections = (MenuSection("Read", links), MenuSection("More", (here,), is_folded=True))
    spaces = (("demo", "/dashboard"), (_LONG, "/dashboard/w/wsp_2"))
    shell = Shell(
        "demo", "Elite plan", "/dashboard", spaces, "Rosa Adler", "Owner", "/dashboard/me",
        sections, (*links, here), (("g r", "Reports", "#"),), PATH, f"{PATH}/palette",
    )  # fmt: skip
    columns = (
        Sample(label="Title", is_number=False, sort="", order=""),
        Sample(label="Magnitude", is_number=True, sort="#", order="descending"),
    )
    fault = Sample(
        title="The input is not valid", detail="1 member is wrong.", code="VALIDATION_FAILED",
        resolution="Correct what is named and send it again.", request_id="req_01j8z0k2v9",
    )  # fmt: skip
    return {
        "shell": shell,
        "toasts": (("The profile is paused.", "#", (("action", "resume"),)),),
        "fault": fault,
        "faults": (("rate", "Rate", "At most 60."), ("", "Body", "A name is missing.")),
        "at": _SEEN,
        "columns": columns,
        "rows": [Sample(href="#tables", cells=cells) for cells in _CELLS],
        "texts": (("curl", "curl -s https://example.org"), ("Python", "import httpx2")),
        "fields": _FIELDS,
        "filters": (*_FIELDS[3:5], _FIELDS[9]),
    }

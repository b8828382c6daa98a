"""Every component of the dashboard on one page, with what its scripts ask for.

The palette answers with three pages, or with one row; the stream has two reports a second.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from svc_http.dashboard.kit import kit_values
from svc_http.dashboard.page_markup import render_page
from svc_http.dashboard.security import page_fields

PATH = "/components"
FIELDS = {name.decode(): value.decode() for name, value in page_fields(None)}
ROW = {"group": "Rows", "label": "Hospital ransomware", "detail": "Profile", "id": "prf_01j8z0k2v9"}
NAMES = ("Reports", "News", "Keys")
CHANGE = {"changeType": "created", "links": {"self": "/api/v1/reports/rpt_1"}}


def _link(label: str, **members: Any) -> dict[str, Any]:
    usual = {"picture": "file-text", "key": "", "group": label.lower(), "is_here": False}
    return {"label": label, "href": f"{PATH}?{label}", **usual, **members}


def shell(request: Request) -> dict[str, Any]:
    """The frame; with `?live` its pages hear of changes."""
    links = [_link("Reports", key="g r"), _link("News", key="g n")]
    here = _link("Kit", href=PATH, is_here=True)
    return {
        "space": "demo", "plan": "Elite plan", "home": "/dashboard/w/wsp_1", "person": "Rosa Adler",
        "spaces": [("demo", "/dashboard/w/wsp_1"), ("A workspace of many words", "/dashboard/x")],
        "role": "Owner", "sections": {"Read": links, "More": [here]}, "tabs": [*links, here],
        "jumps": [("g r", "Reports", f"{PATH}?Reports"), ("c k", "Create a key", f"{PATH}?create")],
        "search": PATH, "palette": f"{PATH}/palette",
        "live": f"{PATH}/live" if "live" in request.query_params else "",
    }  # fmt: skip


async def page(request: Request) -> Response:
    toasts = (("The profile is paused.", "#", (("action", "resume"),)),)
    body = render_page("kit", shell=shell(request), toasts=toasts, **kit_values())
    return Response(body, headers=FIELDS, media_type="text/html")


async def palette(request: Request) -> Response:
    pages = [_link(name, group="Go to", detail="") for name in NAMES]
    query = request.query_params
    rows = [{**ROW, "href": f"{PATH}?row", "picture": "list"}]
    body = json.dumps(
        {"entries": (rows if "hosp" in query["q"] else []) if "q" in query else pages}
    )
    return Response(body, headers=FIELDS, media_type="application/json")


async def live(_: Request) -> Response:
    async def events() -> AsyncIterator[bytes]:
        for number in range(600):
            yield f"id: w{number}\nevent: change\ndata: {json.dumps(CHANGE)}\n\n".encode()
            await asyncio.sleep(0.5)

    return StreamingResponse(events(), headers=FIELDS, media_type="text/event-stream")


ROUTES = [Route(PATH, page), Route(f"{PATH}/palette", palette), Route(f"{PATH}/live", live)]

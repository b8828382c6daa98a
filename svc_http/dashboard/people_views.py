"""Lists of members, sessions and acts with what is done about a row; the export of a workspace.

Rule: each has the rows and filters of the derived page; its forms are those of derived pages.
"""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final, get_args
from urllib.parse import unquote

import attrs

from svc_core.access.creation import Role
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import NDJSON
from svc_core.wire import Json
from svc_http.dashboard.captions import operation_title
from svc_http.dashboard.derived import operation_page
from svc_http.dashboard.desk import Desk, Request
from svc_http.dashboard.page_addresses import BY_ID
from svc_http.dashboard.page_serving import sign_in_address
from svc_http.dashboard.visit import Download, HtmlPage, PageAnswer, View, Visit

_TEMPLATES: Final = {"listMembers": "members", "listSessions": "sessions", "listAudit": "audit"}
_EXPORT: Final = BY_ID["exportWorkspace"]
_CURSOR: Final = re.compile(r"[?&]cursor=([^&>]+)")
EXPORT_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of an export that a page makes, which is held in memory: some hundred thousand rows."""


async def _list_page(operation_id: str, template: str, desk: Desk, visit: Visit) -> PageAnswer:
    page = await operation_page(BY_ID[operation_id], desk, visit)
    if not isinstance(page, HtmlPage):
        return page
    own = {
        "person": desk.person,
        "roles": get_args(Role),
        "titles": {id_: operation_title(each) for id_, each in BY_ID.items()},
        "is_fresh": desk.is_fresh,
        "again": sign_in_address(desk.exchange, is_again=True),
    }
    return attrs.evolve(page, template=template, values={**page.values, **own})


async def _export_page(desk: Desk, _visit: Visit) -> Download:
    """All rows of the workspace, page after page, as one file."""
    content = bytearray()
    query: dict[str, Json] = {}
    while len(content) < EXPORT_BYTES_MAX:
        reply = await desk.run(_EXPORT, Request(body=query))
        content += reply.body
        match = _CURSOR.search(dict(reply.headers).get("Link", ""))
        if match is None:
            return Download(NDJSON.media_type, bytes(content), "workspace.ndjson")
        query = {"cursor": unquote(match[1])}
    raise Problem(problem.RESOURCE_CONFLICT, "It is too large here; see: svc workspace export")


VIEWS: Final[Mapping[str, View]] = {
    **{id_: partial(_list_page, id_, template) for id_, template in _TEMPLATES.items()},
    _EXPORT.id: _export_page,
}
"""The views that answer both GET and the form of an operation in place of the derived ones, by its
id. With the table empty every operation still has its page, only a plainer one."""

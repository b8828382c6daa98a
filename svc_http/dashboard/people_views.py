"""The lists of members, sessions and acts, with what is done about a row beside it.

Rule: each has the rows and filters of the derived page; its forms are those of derived pages.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, get_args

import attrs

from svc_core.access.creation import Role
from svc_http.dashboard.captions import operation_title
from svc_http.dashboard.derived import operation_page
from svc_http.dashboard.desk import Desk
from svc_http.dashboard.page_addresses import BY_ID
from svc_http.dashboard.page_serving import sign_in_address
from svc_http.dashboard.visit import HtmlPage, PageAnswer, View, Visit

_TEMPLATES: Final = {"listMembers": "members", "listSessions": "sessions", "listAudit": "audit"}


def views_of_people() -> Mapping[str, View]:
    """The views by the id of the operation whose rows they show."""
    return {id_: partial(_list_page, id_, template) for id_, template in _TEMPLATES.items()}


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

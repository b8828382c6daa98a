"""Puts the dashboard together: the way in, the page of every operation, and what is beside them."""

from typing import Final

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.dashboard.assets import asset_resource
from svc_http.dashboard.derived import page_routes
from svc_http.dashboard.desk import Desk, Office
from svc_http.dashboard.entrance import Entrance
from svc_http.dashboard.kit import kit_page
from svc_http.dashboard.menu import palette, shell_of
from svc_http.dashboard.own_page import own_routes
from svc_http.dashboard.page_addresses import BY_ID
from svc_http.dashboard.page_serving import Dashboard
from svc_http.dashboard.people_views import VIEWS
from svc_http.dashboard.visit import PageRoute, Redirection, Visit
from svc_http.exchange.http_exchange import DASHBOARD
from svc_http.exchange.resource import Resource

_HOME: Final = f"{DASHBOARD}/w/{{workspaceId}}"


def dashboard_resources(office: Office) -> list[Resource]:
    """Every address of the dashboard of a running service."""
    dashboard = Dashboard(office, shell_of)
    beside = [
        PageRoute(_HOME, _first_page),
        PageRoute(f"{DASHBOARD}/operate", _first_page),
        PageRoute(f"{_HOME}/palette", palette),
        *(PageRoute(f"{place}/{{+page}}", _no_page) for place in (DASHBOARD, _HOME)),
        *own_routes(),
    ]
    if office.settings.env == "development":
        beside.append(PageRoute(f"{DASHBOARD}/kit", kit_page))
    return [
        asset_resource(),
        *Entrance(dashboard).resources(),
        *map(dashboard.resource, [*beside, *page_routes(VIEWS)]),
        dashboard.live(BY_ID["listChanges"], BY_ID["getChangesHead"]),
    ]


async def _no_page(_desk: Desk, _visit: Visit) -> Redirection:
    raise Problem(problem.NOT_FOUND, "The dashboard has no such page.")


async def _first_page(desk: Desk, _visit: Visit) -> Redirection:
    """Lead to the first page of a workspace, or of the installation."""
    first = "listSources" if desk.person.home is None else "listReports"
    return Redirection(desk.address(BY_ID[first]))

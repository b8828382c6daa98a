"""Puts the dashboard together: the way in, the page of every operation, and what is beside them."""

from collections.abc import Iterator
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
from svc_http.dashboard.page_addresses import BY_ID, PREFIX, page_address
from svc_http.dashboard.page_serving import Dashboard
from svc_http.dashboard.page_views import VIEWS
from svc_http.dashboard.visit import PageRoute, Redirection, Visit
from svc_http.exchange.resource import Resource

_HOME: Final = f"{PREFIX}/w/{{workspaceId}}"


def dashboard_resources(office: Office) -> list[Resource]:
    """Every address of the dashboard of a running service."""
    dashboard = Dashboard(office, shell_of)
    is_development = office.settings.env == "development"
    return [
        asset_resource(),
        *Entrance(dashboard).resources(),
        *dashboard.resources([*_beside(is_development=is_development), *page_routes(VIEWS)]),
        dashboard.live(BY_ID["listChanges"], BY_ID["getChangesHead"]),
    ]


def _beside(*, is_development: bool) -> Iterator[PageRoute]:
    """The pages that are no operation's."""
    yield PageRoute(_HOME, _first_page)
    yield PageRoute(f"{PREFIX}/operate", _first_page)
    yield PageRoute(f"{_HOME}/palette", palette)
    for place in (PREFIX, _HOME):
        yield PageRoute(f"{place}/{{+page}}", _no_page)
    yield from own_routes()
    if is_development:
        yield PageRoute(f"{PREFIX}/kit", kit_page)


async def _no_page(_desk: Desk, _visit: Visit) -> Redirection:
    raise Problem(problem.NOT_FOUND, "The dashboard has no such page.")


async def _first_page(desk: Desk, _visit: Visit) -> Redirection:
    """Lead to the first page of a workspace, or of the installation."""
    home = desk.person.home
    first = BY_ID["listSources" if home is None else "listReports"]
    return Redirection(page_address(first, None if home is None else home.id, {}))

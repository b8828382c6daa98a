"""The pages that stand by hand in place of derived ones.

Rule: with the table empty every operation still has its page, only a plainer one.
"""

from collections.abc import Mapping
from typing import Final

from svc_http.dashboard.people_views import views_of_people
from svc_http.dashboard.visit import View

VIEWS: Final[Mapping[str, View]] = {**views_of_people()}
"""The views that answer both GET and the form of an operation, by its id."""

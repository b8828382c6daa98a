"""The rules by which the reports of several sources are folded into one event row."""

from collections.abc import Sequence
from typing import Any

from svc_core.intel.events.model import incident_of
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.rules import Rules

_UNION_KEYS = {"designators": ("scheme", "value"), "actors": ("name", "role")}
RULES = Rules(("gdacs", "gdacs-rss"), item_keys=_UNION_KEYS)


def event_members(
    members: dict[str, Any], contributions: Sequence[Contribution]
) -> dict[str, Any] | None:
    """The members of an event's row, with the incident that it makes by itself."""
    row = contributions[0].row
    return members | {"incidentId": incident_of(row, members["provider"], members.get("url"))}

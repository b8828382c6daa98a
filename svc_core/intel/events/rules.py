"""The rules by which the reports of several sources are folded into one event row."""

from collections.abc import Sequence
from typing import Any

from svc_core.formats.reading.severities import severity_members
from svc_core.intel.events.model import incident_of
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.rules import Rules

_UNION_KEYS = {"designators": ("scheme", "value"), "actors": ("name", "role")}
RULES = Rules(("gdacs", "gdacs-rss"), item_keys=_UNION_KEYS)


def event_members(
    members: dict[str, Any], contributions: Sequence[Contribution]
) -> dict[str, Any] | None:
    """The members of an event's row, with the incident that it makes by itself.

    What was read of harm is rated by the table of today, and no date is exact where there is none.
    """
    basis, happened_at = members.get("severityBasis"), members.get("occurredAt")
    rating = severity_members(**basis) if basis else {}
    root = (members.get("cameo") or {}).get("rootCode")
    country = (members.get("place") or {}).get("countryCode")
    url, row = members.get("url"), contributions[0].row
    day = happened_at and happened_at[:10]
    return {
        **members,
        "severity": rating.get("severity"),
        "severityBasis": rating.get("severityBasis"),
        "datePrecision": members.get("datePrecision") if happened_at else None,
        "incidentId": incident_of(row, members["provider"], url, day, root, country),
    }

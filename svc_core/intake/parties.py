"""What makes a row of an entity of the things that its sources say of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from svc_core.intake.contributions import Contribution
from svc_core.intake.fold import Rules

RULES = Rules(
    precedence=("gleif", "lei-cdf", "sec-submissions", "attack", "ofac", "un-sanctions", "ftm"),
    joined={
        "designators": ("scheme", "value"),
        "aliases": (),
        "weakAliases": (),
        "countryCodes": (),
        "topics": (),
        "listings": ("ticker", "mic"),
        "sanctions": ("authority", "listName", "programId"),
        "crossReferences": ("provider", "id"),
        "targetCountries": (),
        "targetSectors": (),
    },
)
_ACTOR = (
    "attackId", "country", "motivations", "sophistication", "firstSeenDate", "lastSeenDate",
    "targetCountries", "targetSectors", "crossReferences",
)  # fmt: skip


def finished(
    members: dict[str, Any], contributions: Sequence[Contribution]
) -> dict[str, Any] | None:
    """The members of an entity's row; None without a name."""
    if members.get("name") is None:
        return None
    given = [one.said["name"] for one in contributions if one.said.get("name") and not one.gone]
    names = dict.fromkeys([*given, *(members.get("aliases") or ())])
    made = {name: value for name, value in members.items() if name not in _ACTOR}
    made |= {
        "aliases": [name for name in names if name != members["name"]],
        "status": members.get("status") or "unknown",
        "revoked": bool(members.get("revoked") or members.get("deprecated")),
    }
    if members["type"] in {"threatActor", "campaign"}:
        made["actor"] = _facet(members)
    return made


def _facet(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: members[name] for name in _ACTOR if members.get(name) is not None}

"""Signals of companies and people: sanctions, and filings of what befell them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.formats.reading.values import moment
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.linking.references import id_of
from svc_core.intel.signals.detectors import DETECTORS, measured
from svc_core.intel.signals.differences import Diff
from svc_core.intel.signals.model import Direction, Signal, SignalType

# -- sanctions ---------------------------------------------------------------------------------

_ENTRY = ("authority", "listName", "programId")


def sanctioned(diff: Diff) -> Iterator[Signal]:
    """Who came on a list, or left it."""
    was, now = map(_active, diff.said("sanctions"))
    told = diff.told
    if not diff.has_earlier or was.keys() == now.keys():
        return
    name = told.said.get("name") or told.key
    reference = told.names[0] if told.names else told.row
    sides: tuple[tuple[SignalType, Any, Any, str, Direction], ...] = (
        ("sanctionListed", now, was, "listed", "up"),
        ("sanctionDelisted", was, now, "delisted", "down"),
    )
    for type_, side, other, word, direction in sides:
        gained = sorted(side.keys() - other.keys())
        if not gained:
            continue
        entries = [side[one] for one in gained]
        dates = sorted(filter(None, (one.get("listedDate") for one in entries)))
        since = moment(dates[-1]) if dates and word == "listed" else None
        lists = sorted({one.get("listName") or one.get("authority") or "" for one in entries})
        yield diff.found(
            type_,
            "|".join([told.key, *map(" ".join, gained), *dates[-1:]]),
            f"{name} is {word}: {', '.join(filter(None, lists))}",
            at=since,
            summary=next(filter(None, (one.get("reason") for one in entries)), None),
            direction=direction,
            evidence=diff.evidence(len(now), len(was)),
            entities=(EntityRef(reference, name, "target"),),
        )


def _active(entries: Sequence[Mapping[str, Any]] | None) -> dict[tuple[str, ...], Any]:
    active = [one for one in entries or () if one.get("status") != "delisted"]
    return {tuple(one.get(name) or "" for name in _ENTRY): one for one in active}


# -- filings -----------------------------------------------------------------------------------


def filed(diff: Diff) -> Iterator[Signal]:
    """Filings of the item for material cybersecurity incidents."""
    item = DETECTORS["filing8k105"].numbers["item"]
    had, has = (item in (told or ()) for told in diff.said("items"))
    said = diff.told.said
    if had or not has or not str(said.get("form")).startswith("8-K"):
        return
    at = moment(said.get("acceptedAt") or said.get("filedDate"))
    yield diff.found(
        "filing8k105",
        diff.told.key,
        f"{said['form']} with item {item}: material cybersecurity incident",
        at=at,
        summary=f"Filed by CIK {said.get('cik')}, accession {said.get('accession')}.",
        direction="up",
        evidence=measured(1, 0, None, at),
        entities=(EntityRef(id_of(said["entity"]), f"CIK {said.get('cik')}", "subject"),),
        observation_ids=(diff.told.row,),
    )

"""Finds signals about companies and people: sanctions, and filings about cyber incidents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.formats.reading.values import moment
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.linking.references import id_of
from svc_core.intel.signals.detectors import DETECTORS, signal_evidence
from svc_core.intel.signals.model import Direction, Signal, SignalType
from svc_core.intel.signals.source_diffs import Diff

# -- sanctions ---------------------------------------------------------------------------------

_ENTRY = ("authority", "listName", "programId")


def sanction_signals(diff: Diff) -> Iterator[Signal]:
    """The signals of a party that was put on a sanctions list or taken off it."""
    old, new = map(_active, diff.pair("sanctions"))
    claim = diff.claim
    if not diff.has_earlier or old.keys() == new.keys():
        return
    name = claim.said.get("name") or claim.key
    reference = claim.names[0] if claim.names else claim.row
    sides: tuple[tuple[SignalType, Any, Any, str, Direction], ...] = (
        ("sanctionListed", new, old, "listed", "up"),
        ("sanctionDelisted", old, new, "delisted", "down"),
    )
    for type_, side, base, word, direction in sides:
        keys = sorted(side.keys() - base.keys())
        if not keys:
            continue
        entries = [side[key] for key in keys]
        dates = sorted(filter(None, (listing.get("listedDate") for listing in entries)))
        since = moment(dates[-1]) if dates and word == "listed" else None
        lists = sorted(
            {listing.get("listName") or listing.get("authority") or "" for listing in entries}
        )
        yield diff.signal(
            type_,
            "|".join([claim.key, *map(" ".join, keys), *dates[-1:]]),
            f"{name} is {word}: {', '.join(filter(None, lists))}",
            evidence=diff.evidence(len(new), len(old), since),
            summary=next(filter(None, (listing.get("reason") for listing in entries)), None),
            direction=direction,
            entities=(EntityRef(reference, name, "target"),),
        )


def _active(entries: Sequence[Mapping[str, Any]] | None) -> dict[tuple[str, ...], Any]:
    rows = [entry for entry in entries or () if entry.get("status") != "delisted"]
    return {tuple(entry.get(name) or "" for name in _ENTRY): entry for entry in rows}


# -- filings -----------------------------------------------------------------------------------


def filing_signals(diff: Diff) -> Iterator[Signal]:
    """The signal of a filing 8-K with the item for material cybersecurity incidents (1.05)."""
    item = DETECTORS["filing8k105"].numbers["item"]
    was_in, is_in = (item in (side or ()) for side in diff.pair("items"))
    members = diff.claim.said
    if was_in or not is_in or not str(members.get("form")).startswith("8-K"):
        return
    names = ("reportDate", "acceptedAt")
    start, end = (moment(members.get(name) or members["filedDate"]) or diff.end for name in names)
    yield diff.signal(
        "filing8k105",
        diff.claim.key,
        f"{members['form']} with item {item}: material cybersecurity incident",
        evidence=signal_evidence(1, 0, min(start, end), end),
        summary=f"Filed by CIK {members.get('cik')}, accession {members.get('accession')}.",
        direction="up",
        entities=(EntityRef(id_of(members["entity"]), f"CIK {members.get('cik')}", "subject"),),
        observation_ids=(diff.claim.row,),
    )

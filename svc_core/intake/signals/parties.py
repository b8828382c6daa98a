"""Signals of companies and people: sanctions, and filings of what befell them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.intake.detectors import DETECTORS, Finding, source_of
from svc_core.intake.signals.diffs import Diff
from svc_core.linking.references import id_of
from svc_core.resources.entity import EntityRef
from svc_core.resources.signal import (
    SignalEvidence,
    SignalWindow,
)
from svc_core.sources.values import moment

# -- sanctions ---------------------------------------------------------------------------------

_ENTRY = ("authority", "listName", "programId")


def sanctioned(diff: Diff) -> Iterator[Finding]:
    """Who came on a list, or left it."""
    was, now = map(_active, diff.said("sanctions"))
    told = diff.told
    if not diff.has_earlier or was.keys() == now.keys():
        return
    for type_, gained, side, word in (
        ("sanctionListed", now.keys() - was.keys(), now, "listed"),
        ("sanctionDelisted", was.keys() - now.keys(), was, "delisted"),
    ):
        if not gained:
            continue
        entries = [side[one] for one in sorted(gained)]
        dates = sorted(filter(None, (one.get("listedDate") for one in entries)))
        since = moment(dates[-1]) if dates and type_ == "sanctionListed" else None
        name = told.said.get("name") or told.key
        lists = sorted({one.get("listName") or one.get("authority") or "" for one in entries})
        reference = told.names[0] if told.names else told.row
        yield Finding(
            type=type_,  # type: ignore[arg-type]  # one of the two above
            key="|".join([told.key, *map(" ".join, sorted(gained)), *dates[-1:]]),
            title=f"{name} is {word}: {', '.join(filter(None, lists))}",
            summary=next(filter(None, (one.get("reason") for one in entries)), None),
            direction="up" if word == "listed" else "down",
            measure=1,
            evidence=diff.evidence(len(now), len(was)),
            detected_at=since or diff.stamp,
            entities=(EntityRef(reference, name, "target"),),
            sources=(source_of(told),),
        )


def _active(entries: Sequence[Mapping[str, Any]] | None) -> dict[tuple[str, ...], Any]:
    active = [one for one in entries or () if one.get("status") != "delisted"]
    return {tuple(one.get(name) or "" for name in _ENTRY): one for one in active}


# -- filings -----------------------------------------------------------------------------------


def filed(diff: Diff) -> Iterator[Finding]:
    """Filings of the item for material cybersecurity incidents."""
    item = DETECTORS["filing8k105"].numbers["item"]
    had, has = (item in (told or ()) for told in diff.said("items"))
    said = diff.told.said
    if had or not has or not str(said.get("form")).startswith("8-K"):
        return
    filed = moment(said.get("acceptedAt") or said.get("filedDate"))
    yield Finding(
        type="filing8k105",
        key=diff.told.key,
        title=f"{said['form']} with item {item}: material cybersecurity incident",
        summary=f"Filed by CIK {said.get('cik')}, accession {said.get('accession')}.",
        direction="up",
        measure=1,
        evidence=SignalEvidence(1, 0, window=SignalWindow(None, filed)),
        detected_at=filed or diff.stamp,
        entities=(EntityRef(id_of(said["entity"]), f"CIK {said.get('cik')}", "subject"),),
        observation_ids=(diff.told.row,),
        sources=(source_of(diff.told),),
    )

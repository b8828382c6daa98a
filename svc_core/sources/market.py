"""Prediction markets, whoever runs them: one row is one proposition with its outcomes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.sources.model import Format, Record
from svc_core.sources.values import at, measurement, number, required, text

market_format = partial(Format, kind="window", brings=("market",), cadence_seconds=300)

Row = dict[str, Any]
Outcomes = list[dict[str, Any]] | None


def pairs(told: Any) -> Iterator[tuple[Any, Row]]:
    """Every market of an answer with the event that it stands in: of lists, envelopes, events."""
    if isinstance(told, dict) and "question" not in told and isinstance(told.get("events"), list):
        told = told["events"]
    for one in told if isinstance(told, list) else [told]:
        top = one if isinstance(one, dict) else {}
        event = top["event"] if isinstance(top.get("event"), dict) else top
        found = event.get("markets", top.get("markets"))
        if isinstance(found, list):
            yield from ((each, event) for each in found)
        else:
            yield top.get("market", one), {}


def binary(yes: float | None) -> Outcomes:
    """The two outcomes of a question, whose probabilities sum to one; null where yes is unknown."""
    no = None if yes is None else round(1 - yes, 12)
    return [{"label": "Yes", "probability": yes}, {"label": "No", "probability": no}]


def resolved(label: str | None, when: datetime | None) -> Row:
    """What a market came out as; the label is null where it is none of its outcomes."""
    return {"label": label, "resolvedAt": at(when)}


def amounts(row: Row, names: Mapping[str, str], **unit: str) -> Row:
    """Measurements by their name in rows, each from its upstream name."""
    told = {name: number(row.get(upstream)) for name, upstream in names.items()}
    return {
        name: None if value is None else measurement(name, value, **unit)
        for name, value in told.items()
    }


def market(
    provider: str,
    own_id: object,
    said: Row,
    times: Mapping[str, datetime | None],
    stamp: datetime | None,
    *,
    other_id: object = None,
) -> Record:
    """The record of a market; `times` are `opensAt`, `closesAt` and `resolvesAt`."""
    named, exclusive = required(text(own_id), "an id"), said.get("mutuallyExclusive")
    members = {
        **said,
        "type": "prediction",
        "question": required(text(said["question"], 1_000), "a question"),
        "rules": text(said.get("rules")),
        "category": text(said.get("category"), 200),
        "groupId": text(said.get("groupId")),
        "mutuallyExclusive": exclusive if isinstance(exclusive, bool) else None,
        "provider": provider,
        "providerMarketId": named,
        **{name: at(when) for name, when in times.items()},
    }
    key, also = f"{provider}:{named}", (f"{provider}:{other_id}",) if other_id else ()
    return Record("market", key, members, stamp, also, record_id=named, url=said["url"])

"""Prediction markets, whoever runs them: one row is one proposition with its outcomes."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from svc_core.formats.model import Record
from svc_core.formats.reading.values import amount, as_list, at, require, text

Row = dict[str, Any]
Outcomes = list[dict[str, Any]] | None


def pairs(told: Any) -> Iterator[tuple[Any, Row]]:
    """Every market of an answer with the event that it stands in: of lists, envelopes, events."""
    if isinstance(told, dict) and "question" not in told and isinstance(told.get("events"), list):
        told = told["events"]
    for one in as_list(told):
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


def amounts(row: Row, names: Mapping[str, str], **unit: str) -> Row:
    """Measurements by their name in rows, each from its upstream name."""
    return {name: amount(name, row.get(upstream), **unit) for name, upstream in names.items()}


def market(
    provider: str,
    own_id: object,
    said: Row,
    *,
    stamp: datetime | None,
    won: str | None,
    ended: datetime | None,
    other_id: object = None,
) -> Record:
    """The record of a market, whose times are moments in `said`.

    Of one that is resolved, `won` is the outcome, null where it is none, and `ended` when it was.
    """
    named, exclusive = require(text(own_id), "an id"), said.get("mutuallyExclusive")
    resolution = {"label": won, "resolvedAt": at(ended)}
    members = {
        **said,
        "type": "prediction",
        "question": require(text(said["question"], 1_000), "a question"),
        "rules": text(said.get("rules")),
        "category": text(said.get("category"), 200),
        "groupId": text(said.get("groupId")),
        "mutuallyExclusive": exclusive if isinstance(exclusive, bool) else None,
        "resolution": resolution if said["status"] == "resolved" else None,
        "provider": provider,
        "providerMarketId": named,
        **{name: at(said.get(name)) for name in ("opensAt", "closesAt", "resolvesAt")},
    }
    key, also = f"{provider}:{named}", (f"{provider}:{other_id}",) if other_id else ()
    return Record("market", key, members, stamp, also, record_id=named, url=said["url"])

"""Prediction markets, whoever runs them: one row is one proposition with its outcomes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from svc_core.sources.model import Record
from svc_core.sources.values import at, measurement, number, required, text, web

YES_NO = ("Yes", "No")

Outcomes = list[dict[str, Any]] | None


def binary(yes: float | None) -> Outcomes:
    """The two outcomes of a question, whose probabilities sum to one; null where yes is unknown."""
    no = None if yes is None else round(1 - yes, 12)
    shares = zip(YES_NO, (yes, no), strict=True)
    return [{"label": label, "probability": share} for label, share in shares]


def resolved(label: str | None, when: datetime | None) -> dict[str, Any]:
    """What a market came out as; the label is null where it is none of its outcomes."""
    return {"label": label, "resolvedAt": at(when)}


def amounts(row: Mapping[str, Any], names: Mapping[str, Any], **unit: str) -> dict[str, Any]:
    """Measurements by their name in rows, from the first upstream name of each that has one."""
    told = {name: _first(row, upstream) for name, upstream in names.items()}
    return {
        name: None if value is None else measurement(name, value, **unit)
        for name, value in told.items()
    }


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> int | float | None:
    found = (number(row.get(name)) for name in names)
    return next((value for value in found if value is not None), None)


def market(
    provider: str,
    own_id: object,
    said: Mapping[str, Any],
    times: Mapping[str, datetime | None],
    stamp: datetime | None,
) -> Record:
    """The record of a market; `times` are `opensAt`, `closesAt` and `resolvesAt`."""
    named = required(text(own_id), "an id")
    address = web(said["url"])
    members = {
        **said,
        "type": "prediction",
        "question": required(text(said["question"], 1_000), "a question"),
        "rules": text(said.get("rules")),
        "category": text(said.get("category"), 200),
        "groupId": text(said.get("groupId")),
        "url": address,
        "provider": provider,
        "providerMarketId": named,
        **{name: at(when) for name, when in times.items()},
    }
    return Record("market", f"{provider}:{named}", members, stamp, record_id=named, url=address)

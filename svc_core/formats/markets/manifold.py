"""Parses markets of Manifold's API v0: lists, searches, and one market in full.

Lists leave out the answers of questions that have several (`outcomes` is then null). The number of
a numeric question is a place on its scale, not a probability. Amounts are in play money (MANA).
"""

from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any

from svc_core.base.instants import InstantError
from svc_core.formats.markets.market_record import Outcomes, Row, amounts, binary, market_row
from svc_core.formats.model import Contents, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    as_list,
    epoch_moment,
    number,
    objects,
    record_list,
    text_member,
    web_url,
)

SITE = "https://manifold.markets"

_AMOUNTS = {"volume": "volume", "volume24h": "volume24Hours", "liquidity": "totalLiquidity"}
_RESULTS: dict[Any, float | None] = {"YES": 1, "NO": 0}
_LABELS: dict[Any, str | None] = {"YES": "Yes", "NO": "No"}
_TIMES = ("createdTime", "lastUpdatedTime", "lastBetTime", "lastCommentTime", "resolutionTime")
"""Members with times that have passed: a document is at least as new as the latest of them."""


def _recognise(body: Body) -> bool:
    return {"question", "outcomeType", "createdTime"}.issubset(as_list(body.json)[0])


def _parse(body: Body, _: Origin) -> Contents:
    rows = as_list(body.whole_json())
    times = [row.get(name) for row in objects(rows) for name in _TIMES]
    latest = max((time for time in times if isinstance(time, int | float)), default=0)
    yield from record_list(rows, partial(_record, latest), lambda row: row["id"])


def _status(row: Row, latest: float) -> str:
    if row.get("isResolved"):
        return "cancelled" if row.get("resolution") == "CANCEL" else "resolved"
    closes = number(row.get("closeTime"))
    return "closed" if closes is not None and closes <= latest else "open"


def _outcomes(row: Row, status: str) -> Outcomes:
    if row["outcomeType"] != "BINARY":
        return [_answer(answer, row, status) for answer in row.get("answers") or ()] or None
    share = number(row.get("probability"))
    if status == "resolved":
        share = _RESULTS.get(row.get("resolution"), number(row.get("resolutionProbability")))
    return binary(None if status == "cancelled" else share)


def _answer(item: Row, row: Row, status: str) -> Row:
    """An answer with its probability, which is the result where the question is resolved."""
    share = number(item.get("probability"))
    if status == "resolved":
        shares = row.get("resolutions") or {row.get("resolution"): 100}
        share = _RESULTS.get(item.get("resolution"), (number(shares.get(item["id"])) or 0) / 100)
    return {
        "label": text_member(item["text"]),
        "probability": None if status == "cancelled" else share,
    }


def _label(row: Row) -> str | None:
    """The winning outcome of a question; None where several outcomes share the win."""
    labels = {outcome["id"]: text_member(outcome["text"]) for outcome in row.get("answers") or ()}
    return (_LABELS | labels).get(row.get("resolution"))


def _record(latest: float, row: Row) -> Record:
    status = _status(row, latest)
    outcomes = _outcomes(row, status)
    basis = {"resolved": "resolved", "cancelled": None}.get(status, "amm")
    has_share = any(outcome["probability"] is not None for outcome in outcomes or ())
    is_binary = row["outcomeType"] == "BINARY"
    members = {
        "question": row["question"],
        "category": next(iter(row.get("groupSlugs") or ()), None),
        "status": status,
        "outcomes": outcomes,
        "mutuallyExclusive": None if is_binary else row.get("shouldAnswersSumToOne"),
        "priceBasis": basis if has_share else None,
        **amounts(
            row, _AMOUNTS, unit=text_member(row.get("token"), 20) or "MANA", provider="manifold"
        ),
        "rules": row.get("textDescription"),
        "url": web_url(row.get("url")) or f"{SITE}/{row.get('creatorUsername')}/{row.get('slug')}",
        "opensAt": _time(row, "createdTime"),
        "closesAt": _time(row, "closeTime"),
    }
    stamp, end = _time(row, "lastUpdatedTime"), _time(row, "resolutionTime")
    return market_row("manifold", row["id"], members, stamp=stamp, winner=_label(row), end=end)


def _time(row: Row, name: str) -> datetime | None:
    """An instant; None for one after the year 9999, which stands for never."""
    with suppress(InstantError):
        return epoch_moment(row.get(name))
    return None


MANIFOLD = make_format("manifold", _recognise, _parse)

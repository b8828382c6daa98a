"""Scores of the Exploit Prediction Scoring System, by FIRST: its daily CSV, or pages of its API.

The day's list names every published CVE, but extracts of it look the same and a CVE leaves it only
by being rejected: absence says nothing, so it is a window; each score carries its own date.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told, Unusable
from svc_core.sources.values import at, moment, objects, records, required
from svc_core.sources.vulnerabilities import cve_id

HOME = "https://www.first.org/epss/"
COLUMNS = ["cve", "epss"]


def _is_csv(body: Body) -> bool:
    return body.first_line.startswith("#model_version") or body.columns()[:2] == COLUMNS


def _page(body: Body) -> Any:
    rows = body.json["data"] if body.has("data") else None
    return rows if any({*COLUMNS} <= one.keys() for one in objects(rows)) else []


def _parse(body: Body, _: Given) -> Told:
    if _is_csv(body):
        yield from _list(body.rows())
    else:
        yield About(home_url=HOME)
        yield from records(_page(body), _of_page, lambda row: row["cve"])


def _list(rows: Iterator[list[str]]) -> Told:
    """The first line tells model and date (none before 2022), the next the columns."""
    header, told = next(rows, [""]), {}
    if header[0].startswith("#"):
        told = dict(part.lstrip("# ").split(":", 1) for part in header)
        header = next(rows, [])
    stamp = moment(told.get("score_date"))
    yield About(stamp=stamp, home_url=HOME)
    make = _maker(told.get("model_version"), stamp)
    cve, score, percentile = map(header.index, (*COLUMNS, "percentile"))
    yield from records(
        rows, lambda row: make(row[cve], row[score], row[percentile]), lambda row: row[cve]
    )


def _of_page(row: dict[str, Any]) -> Record:
    make = _maker(None, moment(row.get("date")))
    return make(row["cve"], row["epss"], row["percentile"])


def _maker(model: str | None, stamp: datetime | None) -> Callable[[Any, Any, Any], Record]:
    date = at(stamp)

    def make(cve: Any, score: Any, percentile: Any) -> Record:
        facet = {
            "score": _share(score),
            "percentile": _share(percentile),
            "modelVersion": model,
            "scoreDate": date,
        }
        name = cve_id(cve)
        return Record("cve", name, {"epss": facet}, stamp, record_id=name)

    return make


def _share(value: Any) -> float:
    found = float(required(value, "a score"))
    if not 0 <= found <= 1:
        raise Unusable("has a score that is no probability")
    return found


EPSS = Format(
    id="epss",
    title="EPSS scores",
    kind="window",
    provider="first-epss",
    brings=("cve",),
    recognise=lambda body: _is_csv(body) or bool(_page(body)),
    parse=_parse,
    cadence_seconds=21_600,  # made once a day, at no fixed hour
    license="free use with attribution",
    attribution="FIRST EPSS, https://www.first.org/epss",
)

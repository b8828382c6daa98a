"""Scores of the Exploit Prediction Scoring System, by FIRST: its daily CSV, or pages of its API.

The day's list names every published CVE, but extracts of it look the same and a CVE leaves it only
by being rejected: absence says nothing, so it is a window; each score carries its own date.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from svc_core.formats.cyber.vulnerabilities import cve_id
from svc_core.formats.model import About, Given, Record, Said, Told, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared
from svc_core.formats.reading.values import at, moment, objects, records, required

HOME = "https://www.first.org/epss/"
FIELDS = ("cve", "epss", "percentile")


def _is_csv(body: Body) -> bool:
    return body.first_line.startswith("#model_version") or tuple(body.columns()[:2]) == FIELDS[:2]


def _is_page(body: Body) -> bool:
    return any({*FIELDS} <= one.keys() for one in objects(body.json["data"]))


def _parse(body: Body, _: Given) -> Told:
    if _is_csv(body):
        yield from _list(body.rows())
    else:
        yield About(home_url=HOME)
        yield from records(body.json["data"], _of_page, lambda row: row["cve"])


def _list(rows: Iterator[list[str]]) -> Told:
    """The first line tells model and date (none before 2022), the next the columns."""
    header, told = next(rows, [""]), {}
    if header[0].startswith("#"):
        told = dict(part.lstrip("# ").split(":", 1) for part in header)
        header = next(rows, [])
    stamp = moment(told.get("score_date"))
    yield About(stamp, home_url=HOME)
    of_list = {"modelVersion": told.get("model_version"), "scoreDate": at(stamp)}
    cve, score, percentile = map(header.index, FIELDS)
    yield from records(
        rows,
        lambda row: _record((row[cve], row[score], row[percentile]), of_list, stamp),
        lambda row: row[cve],
    )


def _of_page(row: dict[str, Any]) -> Record:
    stamp = moment(row.get("date"))
    of_page = {"modelVersion": None, "scoreDate": at(stamp)}
    return _record(tuple(row[name] for name in FIELDS), of_page, stamp)


def _record(told: tuple[Any, ...], of_day: Said, stamp: datetime | None) -> Record:
    cve, score, percentile = told
    name = cve_id(cve)
    facet = {"score": _share(score), "percentile": _share(percentile), **of_day}
    return Record("cve", name, {"epss": facet}, stamp, record_id=name)


def _share(value: Any) -> float:
    found = float(required(value, "a score"))
    if not 0 <= found <= 1:
        raise Unusable("has a score that is no probability")
    return found


EPSS = declared("epss", lambda body: _is_csv(body) or _is_page(body), _parse)

"""Parses EPSS scores of FIRST, the chance of exploitation: the daily CSV or pages of the API.

The daily list has every published CVE, but an extract of it looks the same, and a CVE leaves it
only when it is rejected. Absence means nothing, so the format is a window, and each score has its
own date.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from svc_core.formats.cyber.cve_fields import cve_id
from svc_core.formats.cyber.cve_members import CveMembers
from svc_core.formats.model import Contents, Metadata, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, moment, objects, record_list, require

HOME = "https://www.first.org/epss/"
FIELDS = ("cve", "epss", "percentile")


def _is_csv(body: Body) -> bool:
    return body.first_line.startswith("#model_version") or tuple(body.columns()[:2]) == FIELDS[:2]


def _is_page(body: Body) -> bool:
    return any({*FIELDS} <= row.keys() for row in objects(body.json["data"]))


def _parse(body: Body, _: Origin) -> Contents:
    if _is_csv(body):
        yield from _list_contents(body.rows())
    else:
        yield Metadata(home_url=HOME)
        yield from record_list(body.json["data"], _page_record, lambda row: row["cve"])


def _list_contents(rows: Iterator[list[str]]) -> Contents:
    """Parses the CSV: a comment with model and date (none before 2022), a header line, the rows."""
    header, banner = next(rows, [""]), {}
    if header[0].startswith("#"):
        banner = dict(part.lstrip("# ").split(":", 1) for part in header)
        header = next(rows, [])
    stamp = moment(banner.get("score_date"))
    yield Metadata(stamp, home_url=HOME)
    model, date = banner.get("model_version"), day(stamp)
    cve, score, percentile = map(header.index, FIELDS)
    yield from record_list(
        rows,
        lambda row: _record((row[cve], row[score], row[percentile]), model, stamp, date),
        lambda row: row[cve],
    )


def _page_record(row: dict[str, Any]) -> Record:
    stamp = moment(row.get("date"))
    return _record(tuple(row[name] for name in FIELDS), None, stamp, day(stamp))


def _record(
    fields: tuple[Any, ...], model: str | None, stamp: datetime | None, date: str | None
) -> Record:
    cve, score, percentile = fields
    name = cve_id(cve)
    members: CveMembers = {
        "epss": {
            "score": _share(score),
            "percentile": _share(percentile),
            "modelVersion": model,
            "scoreDate": date,
        }
    }
    return Record("cve", name, members, stamp, record_id=name)


def _share(value: Any) -> float:
    share = float(require(value, "a score"))
    if not 0 <= share <= 1:
        raise RecordRefused("has a score that is no probability")
    return share


EPSS = make_format("epss", lambda body: _is_csv(body) or _is_page(body), _parse)

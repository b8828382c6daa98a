"""Makes the record of one observation of an indicator, for all sources of statistics.

The members are those of the specification (FININT).
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from svc_core.base import periods
from svc_core.formats.model import Record
from svc_core.formats.reading.codes import currency
from svc_core.formats.reading.values import country, number, text_member

STATUSES = {"A": "A", "E": "E", "P": "P", "F": "F", "I": "E"}  # SDMX, CL_OBS_STATUS: I is imputed
_NO_VALUE = frozenset({"", ".", "none", "nan"})  # of FRED, and of SDMX
_DEFAULTS: Mapping[str, Any] = {
    "area": {"countryCode": None, "code": None, "label": None},
    **dict.fromkeys(("name", "datasetId", "unit", "currency")),
    **dict.fromkeys(("unitMultiplier", "seasonalAdjustment", "releasedAt")),
}
"""Members that a series may leave out, with their defaults."""

# Units as agencies write them, in UCUM; a code that stands for none becomes an annotation.
_UNITS = {
    **dict.fromkeys(("PC", "PCT", "PT", "PERCENT", "PC_PA", "PA", "PC_A", "%"), "%"),
    **dict.fromkeys(("PURE_NUMB", "NUMBER", "NUM", "NUMB", "NR", "RATIO", "COEFF", "IX"), "1"),
    **dict.fromkeys(("INDEX", "IDX", "_Z", "1"), "1"),
    **dict.fromkeys(("PS", "PERS", "PERSONS"), "{person}"),
}


_text = lru_cache(maxsize=4_096)(text_member)  # the values of a series have the same names


@lru_cache(maxsize=4_096)
def area(code: object, label: object = None, iso: object = None) -> dict[str, Any]:
    """The area of a value; an aggregate such as the euro area has no country code."""
    code_text = _text(code, 100)
    return {"countryCode": country(iso or code), "code": code_text, "label": _text(label, 300)}


@lru_cache(maxsize=256)
def unit_members(unit: object) -> dict[str, str | None]:
    """The members `unit` (UCUM) and `currency` of a unit as an agency writes it."""
    name = _text(unit, 100) or ""
    ucum = _UNITS.get(name.upper())
    money = currency(name) if len(name) == 3 and not ucum else None
    bare = name.replace("}", ")").replace("{", "(")
    annotation = f"{{{bare}}}" if name and not money else None
    return {"unit": ucum or annotation, "currency": money}


def observation(
    members: Mapping[str, Any],
    period: periods.CalendarPeriod,
    value: object,
    *,
    status: object = None,
    vintage: Mapping[str, str | None] | None = None,
    is_kept: bool = False,
    is_withdrawn: bool = False,
    **record: Any,
) -> Record:
    """The record of one value of a series, whose own members are `members`.

    They are `provider` and `indicatorCode`, and those of `_DEFAULTS` that are known. A value that
    is missing is null and has the status `M`. A vintage that `is_kept` is a row beside the other
    vintages of its period; any other only says when the value was read.
    """
    quantity = None if str(value).strip().lower() in _NO_VALUE else number(value)
    row = {**_DEFAULTS, **members}
    identity = (row["provider"], row["datasetId"], row["indicatorCode"], row["area"]["code"])
    version = (vintage["start"],) if vintage and is_kept else ()
    row |= {
        "name": _text(row["name"], 500) or row["indicatorCode"] or row["datasetId"] or "",
        "frequency": period.frequency,
        "period": period.text,
        "periodStart": period.start.isoformat(),
        "periodEnd": period.end.isoformat(),
        "value": quantity,
        "status": "M" if quantity is None else STATUSES.get(str(status)),
        "vintage": vintage,
    }
    key = "|".join(part or "" for part in (*identity, period.frequency, period.text, *version))
    return Record("indicator", key, row, is_withdrawn=is_withdrawn, **record)

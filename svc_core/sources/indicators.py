"""One observation of an indicator, as every source of statistics says it (Spec: FININT)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from svc_core import periods
from svc_core.sources.codes import currency
from svc_core.sources.model import Record, Unusable
from svc_core.sources.values import country, number, text

STATUSES = {"A": "A", "E": "E", "P": "P", "F": "F", "I": "E"}  # SDMX, CL_OBS_STATUS: I is imputed
_NO_VALUE = frozenset({"", ".", "none", "nan"})  # of FRED, and of SDMX
NOWHERE = {"countryCode": None, "code": None, "label": None}

# Units as agencies write them, in UCUM; a code that stands for none becomes an annotation.
_UNITS = {
    **dict.fromkeys(("PC", "PCT", "PT", "PERCENT", "PC_PA", "PA", "PC_A", "%"), "%"),
    **dict.fromkeys(("PURE_NUMB", "NUMBER", "NUM", "NUMB", "NR", "RATIO", "COEFF", "IX"), "1"),
    **dict.fromkeys(("INDEX", "IDX", "_Z", "1"), "1"),
    **dict.fromkeys(("PS", "PERS", "PERSONS"), "{person}"),
}


_text = lru_cache(maxsize=4_096)(text)  # the values of a series have the same names


@lru_cache(maxsize=4_096)
def area(code: object, label: object = None, iso: object = None) -> dict[str, Any]:
    """The area that a value is about; an aggregate such as the euro area is no country."""
    told = _text(code, 100)
    return {"countryCode": country(iso or code), "code": told, "label": _text(label, 300)}


@lru_cache(maxsize=256)
def measured(unit: object) -> dict[str, str | None]:
    """The members `unit` and `currency` of a unit as it is written."""
    told = _text(unit, 100)
    if told is None:
        return {"unit": None, "currency": None}
    known, money = _UNITS.get(told.upper()), currency(told) if len(told) == 3 else None
    free = known or (None if money else "{" + told.replace("}", ")").replace("{", "(") + "}")
    return {"unit": free, "currency": None if known else money}


def period(written: object, frequency: str | None = None) -> periods.Period:
    """The period of a value.

    Raises:
        Unusable: it is none.
    """
    try:
        return periods.parse(str(written), frequency)
    except ValueError as fault:
        raise Unusable("has a period that is none") from fault


def series(
    provider: str,
    code: str,
    name: object,
    *,
    dataset: str | None = None,
    area: Mapping[str, Any] = NOWHERE,
    unit: str | None = None,
    currency: str | None = None,
    multiplier: int | None = None,
    adjustment: str | None = None,
) -> dict[str, Any]:
    """The members that all values of a series have."""
    return {
        "provider": provider,
        "datasetId": dataset,
        "indicatorCode": code,
        "name": _text(name, 500) or code,
        "area": area,
        "unit": unit,
        "currency": currency,
        "unitMultiplier": multiplier,
        "seasonalAdjustment": adjustment,
    }


def observation(
    said: Mapping[str, Any],
    when: periods.Period,
    value: object,
    *,
    status: object = None,
    vintage: Mapping[str, str] | None = None,
    is_kept: bool = False,
    **record: Any,
) -> Record:
    """The record of one value of the series that these members are `said` of.

    A value that is missing is null and has the status `M`. A vintage that `is_kept` stands beside
    the others of its period; else it is only when the value was read.
    """
    found = None if str(value).strip().lower() in _NO_VALUE else number(value)
    known = (said["provider"], said["datasetId"] or "", said["indicatorCode"])
    parts = (*known, said["area"]["code"] or "", when.frequency, when.text)
    version = (vintage["start"],) if vintage and is_kept else ()
    return Record(
        "indicator",
        "|".join((*parts, *version)),
        {
            **said,
            "frequency": when.frequency,
            "period": when.text,
            "periodStart": when.start.isoformat(),
            "periodEnd": when.end.isoformat(),
            "value": found,
            "status": "M" if found is None else STATUSES.get(str(status)),
            "vintage": vintage,
            "releasedAt": None,
        },
        **record,
    )

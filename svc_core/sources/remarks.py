"""Remarks of OFAC: facts that a list in columns has no column for, parted by semicolons.

Each begins with its label, "alt." before it where there are several. What has no known label says
something in words, and is left out. A remark that was cut off at its end is read as far as it goes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.sources.parties import identifier, sanction
from svc_core.sources.values import countries_named, country_named

Notes = Mapping[str, list[str]]

_IDENTIFIERS: Mapping[str, str] = {
    "Passport": "passport", "National ID No.": "nationalId", "Cedula No.": "nationalId",
    "C.U.R.P.": "nationalId", "Identification Number": "nationalId", "Tax ID No.": "taxId",
    "NIT #": "taxId", "RUC #": "taxId", "R.F.C.": "taxId", "Registration ID": "registration",
    "Registration Number": "registration", "Company Number": "registration",
    "Vessel Registration Identification IMO": "imo", "MMSI": "mmsi",
    "Aircraft Tail Number": "aircraftTail", "D-U-N-S Number": "duns",
    "Aircraft Manufacturer's Serial Number (MSN)": "aircraftSerial",
}  # fmt: skip
_SCHEMES = {"Legal Entity Number": "lei", "ISIN": "isin", "SWIFT/BIC": "bic", "Website": "domain"}
_ALIASES = ("a.k.a.", "f.k.a.", "n.k.a.")
_REASONS = ("Additional Sanctions", "Secondary sanctions", "Executive Order", "CAATSA Section")
_LABELS = (
    *("DOB", "POB", "Gender", "nationality", "citizen", "Nationality of Registration"),
    *("Linked To:", "Organization Established Date", "Listing Date", *_ALIASES, *_REASONS),
    *(*_IDENTIFIERS, *_SCHEMES),
)

_NOTE = re.compile(f"(?:alt[.] )?({'|'.join(map(re.escape, _LABELS))}) (.+)")
_AFTER_NUMBER = re.compile(r" (?:\(|issued |expires )")
_LISTED = re.compile(r"\((?:(EO) )?(\w+)[^)]*\):? (.+)")
_DATE = re.compile(r"(?:circa )?(?:(?:(\d\d) )?([A-Z][a-z][a-z]) )?(\d{4})")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def notes(remarks: str | None) -> Notes:
    """What remarks say, by label."""
    found: dict[str, list[str]] = {}
    for told in (remarks or "").strip().removesuffix(".").split("; "):
        note = _NOTE.fullmatch(told)
        if note is not None:
            label = note[1]
            found.setdefault(label, []).append(
                told.removeprefix("alt. ") if label in _REASONS else note[2].strip()
            )
    return found


def of(told: Notes, *labels: str) -> list[str]:
    """What stands behind some labels."""
    return [one for label in labels if label in told for one in told[label]]


def members(told: Notes, flag: str | None = None) -> dict[str, Any]:
    """What remarks say of a party, as members of its row; `flag` is the country of a vessel."""
    registered = of(told, "Nationality of Registration")
    lands = [*of(told, "nationality", "citizen"), *registered, *filter(None, [flag])]
    established = next(dates(of(told, "Organization Established Date")), None)
    return {
        # Names in quotation marks: too common or too short to know somebody by.
        "weakAliases": list(dict.fromkeys(name.strip("' ") for name in of(told, *_ALIASES))),
        "jurisdiction": country_named(registered[0]) if registered else None,
        "countryCodes": countries_named(lands) or None,
        "birthDates": list(dates(of(told, "DOB"))) or None,
        "birthPlaces": of(told, "POB") or None,
        "gender": next((one.lower() for one in of(told, "Gender")), None),
        "validity": established and {"from": established, "to": None},
        "identifiers": _identifiers(told),
    }


def named(told: Notes) -> list[tuple[str, object]]:
    """Pairs of scheme and value."""
    known = ((_SCHEMES[label], values) for label, values in told.items() if label in _SCHEMES)
    return [(scheme, _number(value)[0]) for scheme, values in known for value in values]


def _identifiers(told: Notes) -> list[dict[str, Any]]:
    known = ((_IDENTIFIERS[label], told[label]) for label in told if label in _IDENTIFIERS)
    return [identifier(kind, *_number(value)) for kind, values in known for value in values]


def _number(told: str) -> tuple[str, str | None]:
    land = told.partition(" (")[2].partition(")")[0]
    return _AFTER_NUMBER.split(told, 1)[0], country_named(land) if land else None


def dates(told: list[str]) -> Iterator[str]:
    """Dates as exact as they are told, `1967-08-25`, `1967-08` or `1967`, and intervals of two."""
    for one in told:
        ends = [_date(end) for end in one.replace("-", " to ").split(" to ")]
        if all(ends):
            yield "/".join(map(str, ends))


def _date(told: str) -> str | None:
    parts = _DATE.fullmatch(told)
    if parts is None or (parts[2] and parts[2] not in _MONTHS):
        return None
    month = f"{_MONTHS.index(parts[2]) + 1:02}" if parts[2] else None
    return "-".join(part for part in (parts[3], month, parts[1]) if part)


def sanctions(program: str | None, told: Notes, list_name: str) -> list[dict[str, Any]]:
    """A listing under each program; a date of listing belongs to the program that it names."""
    reason = "; ".join(of(told, *_REASONS)) or None
    listed = dict(_listed(told))
    return [
        sanction(
            one.strip("[] ") or None,
            "Office of Foreign Assets Control",
            list_name,
            listed=next((date for mark, date in listed.items() if mark in one), None),
            reason=reason,
        )
        for one in (program or "").split("] [")
    ]


def _listed(told: Notes) -> Iterator[tuple[str, str | None]]:
    for one in of(told, "Listing Date"):
        parts = _LISTED.fullmatch(one)
        if parts is not None:
            yield (parts[1] or "") + parts[2], next(dates([parts[3]]), None)

"""Reads the remarks of OFAC lists: facts without a column, separated by semicolons.

Each remark begins with its label, or with "alt." and the label where there are several. A remark
without a known label is prose, and is left out. One that is cut off is read as far as it goes.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.formats.model import Members
from svc_core.formats.reading.entity_keys import identifier
from svc_core.formats.reading.values import countries_named, country_named

Notes = Mapping[str, list[str]]

_IDENTIFIERS = {
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

_NOTE = re.compile(f"(?:alt[.] )?(({'|'.join(map(re.escape, _LABELS))}) (.+))")
_AFTER_NUMBER = re.compile(r" (?:\(|issued |expires )")
_LISTING = re.compile(r"\((?:(EO) )?(\w++)[^)]*+\):? (.+)")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_DATE = re.compile(rf"(?:circa )?(?:(?:(\d\d) )?({'|'.join(_MONTHS)}) )?(\d{{4}})")


def parse_remarks(remarks: str | None) -> Notes:
    """The texts of remarks by their labels."""
    by_label: dict[str, list[str]] = {}
    for note in map(_NOTE.fullmatch, (remarks or "").strip().removesuffix(".").split("; ")):
        if note is not None:
            whole, label, rest = note.groups()
            by_label.setdefault(label, []).append(whole if label in _REASONS else rest.strip())
    return by_label


def notes_of(notes: Notes, *labels: str) -> list[str]:
    """The texts of the remarks with these labels."""
    return [text for label in labels if label in notes for text in notes[label]]


def party_members(notes: Notes, flag: str | None = None) -> dict[str, Any]:
    """The members of a party that remarks state; `flag` is the country of a vessel."""
    registrations = notes_of(notes, "Nationality of Registration")
    lands = [*notes_of(notes, "nationality", "citizen"), *registrations, flag]
    founding = next(remark_dates(notes_of(notes, "Organization Established Date")), None)
    return {
        # Names in quotation marks: too common or too short to know somebody by.
        "weakAliases": list(dict.fromkeys(name.strip("' ") for name in notes_of(notes, *_ALIASES))),
        "jurisdiction": next(map(country_named, registrations), None),
        "countryCodes": countries_named(lands) or None,
        "birthDates": list(remark_dates(notes_of(notes, "DOB"))) or None,
        "birthPlaces": notes_of(notes, "POB") or None,
        "gender": next(map(str.lower, notes_of(notes, "Gender")), None),
        "validity": founding and {"from": founding, "to": None},
        "identifiers": [identifier(*number) for number in _numbers(notes, _IDENTIFIERS)],
    }


def remark_designators(notes: Notes) -> list[tuple[str, object]]:
    """The designators in remarks, as pairs of scheme and value."""
    return [(scheme, value) for scheme, value, _ in _numbers(notes, _SCHEMES)]


def _numbers(notes: Notes, kinds: Mapping[str, str]) -> Iterator[tuple[str, str, str | None]]:
    """Yields kind, number and country of each remark with one of these labels."""
    for label in filter(kinds.__contains__, notes):
        for text in notes[label]:
            land = country_named(text.partition(" (")[2].partition(")")[0])
            yield kinds[label], _AFTER_NUMBER.split(text, 1)[0], land


def remark_dates(texts: list[str]) -> Iterator[str]:
    """Dates as exact as stated: `1967-08-25`, `1967-08`, `1967`, or an interval of two."""
    for text in texts:
        ends = [_date(end) for end in text.replace("-", " to ").split(" to ")]
        if all(ends):
            yield "/".join(map(str, ends))


def _date(text: str) -> str | None:
    parts = _DATE.fullmatch(text)
    if parts is None:
        return None
    day, month, year = parts.groups()
    return "-".join(filter(None, (year, month and f"{_MONTHS.index(month) + 1:02}", day)))


def remark_sanctions(program: str | None, notes: Notes, list_name: str) -> list[Members]:
    """A sanction listing for each program; a listing date belongs to the program that it names."""
    matches = map(_LISTING.fullmatch, notes_of(notes, "Listing Date"))
    listing_dates = [match.groups("") for match in matches if match]
    days = {
        f"{order}{number}": next(remark_dates([day]), None) for order, number, day in listing_dates
    }
    return [
        {
            "programId": code.strip("[] ") or None,
            "authority": "Office of Foreign Assets Control",
            "listName": list_name,
            "listedDate": next((day for mark, day in days.items() if mark in code), None),
            "reason": "; ".join(notes_of(notes, *_REASONS)) or None,
            "status": "active",
        }
        for code in (program or "").split("] [")
    ]

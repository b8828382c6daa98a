"""The lists of the US Treasury's OFAC as headerless CSV: names, other names and addresses.

Rule 1: the columns tell the files apart: SDN has 12, and so has the consolidated list; ALT has 5,
        ADD 6.
Rule 2: all of them tell of the entity of their `ent_num`; the lines of one entity are one record.
"""

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.model import About, DocumentRefused, Format, Given, Record, Rejection, Told
from svc_core.sources.parties import designators, identifier, keys
from svc_core.sources.relations import relation
from svc_core.sources.remarks import (
    dates,
    identifiers,
    named,
    notes,
    of,
    sanctions,
    weak_aliases,
)
from svc_core.sources.values import countries_named, designator, records, required, text

Row = Sequence[str | None]

PAGE = "https://sanctionssearch.ofac.treas.gov"
_PARTS = {12: "sdn", 5: "alt", 6: "add"}
_TYPES = {"individual": "person", "vessel": "vessel", "aircraft": "aircraft"}
_NO_VALUE = {"-0-", "-0", ""}
_DOS_END = "\x1a"  # the whole last line of some releases


def _recognise(body: Body) -> bool:
    if "-0-" not in body.head or not body.head[:1].isdecimal():
        return False
    first = next(csv.reader([body.first_line]))
    return len(first) in _PARTS and first[0].isdecimal()


def _parse(body: Body, given: Given) -> Told:
    rows = [row for row in body.rows() if row != [_DOS_END]]
    width = len(rows[0])
    part, asked = _PARTS[width], given.options.get("part")
    if asked not in {None, part}:
        raise DocumentRefused("option", f"The document has the columns of {part}, not of {asked}.")
    if len(rows[-1]) != width or body.text.count('"') % 2:
        raise DocumentRefused("truncated", "The document ends within a line.")
    list_name = "Consolidated List" if "cons" in given.name.lower() else "SDN List"
    yield About(title=f"OFAC {list_name}: {part}", home_url=PAGE)
    for row in rows:
        if len(row) != width:
            yield Rejection("has not the columns of its file", 1, ",".join(row)[:200])
    whole = [[_field(value) for value in row] for row in rows if len(row) == width]
    yield from _READERS[part](whole, list_name)


def _field(value: str) -> str | None:
    told = value.strip(f" {_DOS_END}")
    return None if told in _NO_VALUE else told


def _record(
    number: str | None, also_named: Iterable[tuple[str, object]] = (), **said: Any
) -> Record:
    uid = required(number if number and number.isdecimal() else None, "ent_num")
    known = [designator("ofac-uid", uid), *designators(also_named)]
    key = f"ofac-uid:{uid}"
    url = f"{PAGE}/Details.aspx?id={uid}"
    also = tuple(keys(known[1:]))
    return Record("entity", key, said | {"designators": known}, record_id=uid, also=also, url=url)


# -- SDN and the consolidated list -------------------------------------------------------------


def _entities(rows: Sequence[Row], list_name: str) -> Told:
    names = Counter(_plain(row[1]) for row in rows)
    ids = {name: row[0] for row in rows if names[name := _plain(row[1])] == 1}
    yield from records(rows, partial(_entity, ids, list_name), lambda row: row[0])


def _plain(name: str | None) -> str:
    return str(name).removesuffix(".").casefold()


def _entity(ids: Mapping[str, str | None], list_name: str, row: Row) -> Iterator[Record]:
    number, name, kind, program, title, call_sign, vessel, _, _, flag, _, remarks = row
    told = notes(remarks)
    registered = of(told, "Nationality of Registration")
    lands = [*of(told, "nationality", "citizen"), *registered, *filter(None, [flag])]
    established = next(dates(of(told, "Organization Established Date")), None)
    signs = [identifier("callSign", call_sign)] if call_sign else []
    made = _record(
        number,
        type=_TYPES.get(str(kind).lower(), "organization"),
        name=required(text(name, 1_000), "a name"),
        weakAliases=weak_aliases(told),
        description=text(title or vessel),
        jurisdiction=next(iter(countries_named(registered)), None),
        countryCodes=countries_named(lands) or None,
        birthDates=list(dates(of(told, "DOB"))) or None,
        birthPlaces=of(told, "POB") or None,
        gender=next((one.lower() for one in of(told, "Gender")), None),
        validity=established and {"from": established, "to": None},
        identifiers=identifiers(told) + signs,
        sanctions=sanctions(program, told, list_name),
        also_named=named(told),
    )
    yield made
    for other in sorted({str(ids.get(_plain(one))) for one in of(told, "Linked To:")} - {"None"}):
        ends, role = (made.key, f"ofac-uid:{other}"), {"role": "Linked To"}
        yield relation("associate", *ends, directed=False, attributes=role, record_id=number)


# -- ALT and ADD -------------------------------------------------------------------------------


def _grouped(
    make: Callable[[tuple[str | None, list[Row]]], Record], rows: Sequence[Row], _: str
) -> Told:
    groups: dict[str | None, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    yield from records(groups.items(), make, lambda group: group[0])


def _aliases(group: tuple[str | None, list[Row]]) -> Record:
    names: dict[bool, list[str]] = {False: [], True: []}
    for _, _, _, name, remarks in group[1]:
        names["weak" in str(remarks).lower()].append(required(text(name, 1_000), "a name"))
    return _record(group[0], aliases=names[False], weakAliases=names[True] or None)


def _addresses(group: tuple[str | None, list[Row]]) -> Record:
    lines = [", ".join(filter(None, row[2:5])) for row in group[1]]
    found = countries_named(row[4] or "" for row in group[1])
    return _record(group[0], addresses=list(filter(None, lines)), countryCodes=found)


_READERS: Mapping[str, Callable[[Sequence[Row], str], Told]] = {
    "sdn": _entities,
    "alt": partial(_grouped, _aliases),
    "add": partial(_grouped, _addresses),
}

OFAC = Format(
    id="ofac",
    title="OFAC sanctions lists",
    kind="snapshot",
    provider="ofac",
    brings=("entity", "relation"),
    recognise=_recognise,
    parse=_parse,
    options={"part": "sdn, alt or add, which the columns tell as well"},
    cadence_seconds=21_600,
    license="Public domain (US government)",
    attribution="US Department of the Treasury, OFAC",
)

"""Makes records of the parts of OFAC's lists, each for the entity of its `ent_num`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from svc_core.formats.model import Contents, Members, Record
from svc_core.formats.reading.entity_keys import entity, identifier, ranked_keys
from svc_core.formats.reading.relation_records import relation_record
from svc_core.formats.reading.values import countries_named, record_list, require, text_member
from svc_core.formats.sanctions import remarks as parts

Designator = tuple[str, object]
"""A designator as a pair of scheme and value."""

Row = Sequence[str | None]
"""The cells of a line, None for an empty one."""

PAGE = "https://sanctionssearch.ofac.treas.gov"
_TYPES = {"individual": "person", "vessel": "vessel", "aircraft": "aircraft"}


def _record(number: str | None, members: Members, names: Iterable[Designator] = ()) -> Record:
    uid = require(number if number and number.isdecimal() else None, "ent_num")
    url = f"{PAGE}/Details.aspx?id={uid}"
    return entity(ranked_keys([("ofac-uid", uid), *names]), members, record_id=uid, url=url)


# -- SDN and the consolidated list -------------------------------------------------------------


def ofac_entities(rows: Sequence[Row], list_name: str) -> Contents:
    """The listed entities; a link is kept where exactly one entity of the part has its name."""
    names = Counter(_plain(row[1]) for row in rows)
    ids = {name: row[0] for row in rows if names[name := _plain(row[1])] == 1}
    yield from record_list(rows, partial(_entity, ids, list_name), lambda row: row[0])


def _plain(name: str | None) -> str:
    return str(name).removesuffix(".").casefold()


def _entity(ids: Mapping[str, str | None], list_name: str, row: Row) -> Iterator[Record]:
    number, name, kind, program, title, call_sign, vessel, _, _, flag, _, remarks = row
    notes = parts.parse_remarks(remarks)
    members = parts.party_members(notes, flag) | {
        "type": _TYPES.get(str(kind).lower(), "organization"),
        "name": require(text_member(name, 1_000), "a name"),
        "description": text_member(title or vessel),
        "sanctions": parts.remark_sanctions(program, notes, list_name),
    }
    if call_sign:
        members["identifiers"].append(identifier("callSign", call_sign))
    yield _record(number, members, parts.remark_designators(notes))
    labels = parts.notes_of(notes, "Linked To:")
    for target in sorted({ids.get(_plain(label)) or "" for label in labels} - {""}):
        ends = (f"ofac-uid:{number}", f"ofac-uid:{target}")
        about = {"attributes": {"role": "Linked To"}}
        yield relation_record("associate", ends, about, is_directed=False, record_id=number)


# -- ALT and ADD -------------------------------------------------------------------------------


def _group_records(
    make: Callable[[str | None, list[Row]], Record], rows: Sequence[Row], _: str
) -> Contents:
    groups: dict[str | None, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    yield from record_list(groups.items(), lambda group: make(*group), lambda group: group[0])


def _aliases(number: str | None, rows: list[Row]) -> Record:
    names: dict[bool, list[str]] = {False: [], True: []}
    for _, _, _, name, remarks in rows:
        names["weak" in str(remarks).lower()].append(require(text_member(name, 1_000), "a name"))
    return _record(number, {"aliases": names[False], "weakAliases": names[True] or None})


def _addresses(number: str | None, rows: list[Row]) -> Record:
    lines = (", ".join(filter(None, row[2:5])) for row in rows)
    lands = countries_named(row[4] for row in rows)
    return _record(number, {"addresses": [*filter(None, lines)], "countryCodes": lands})


aliases = partial(_group_records, _aliases)
"""Makes records of aliases, of which remarks mark weak ones."""

addresses = partial(_group_records, _addresses)
"""Makes records of addresses."""

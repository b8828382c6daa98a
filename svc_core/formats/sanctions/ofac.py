"""Parses the sanctions lists of OFAC (US Treasury), headerless CSV: names, aliases, addresses.

Rule 1: the number of columns distinguishes the files: SDN and the consolidated list have 12, ALT
        (aliases) 5, ADD (addresses) 6.
Rule 2: all lines with one `ent_num` belong to one entity, and to one record of it.
"""

import csv
from collections.abc import Callable

from svc_core.formats.model import Contents, DocumentRefused, Metadata, Origin, Rejection
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.sanctions.ofac_rows import PAGE, addresses, aliases, ofac_entities

Part = tuple[str, Callable[..., Contents]]

_PARTS: dict[int, Part] = {12: ("sdn", ofac_entities), 5: ("alt", aliases), 6: ("add", addresses)}
_NO_VALUE = {"-0-", "-0", ""}
_DOS_END = "\x1a"  # the whole last line of some releases


def _recognise(body: Body) -> bool:
    first = next(csv.reader(body.first_line.splitlines()), [""])
    return "-0-" in body.head and len(first) in _PARTS and first[0].isdecimal()


def _parse(body: Body, origin: Origin) -> Contents:
    rows = [row for row in body.rows() if row != [_DOS_END]]
    width = len(rows[0])
    (part, rows_of), option = _PARTS[width], origin.options.get("part", "").lower()
    if option not in {"", part}:
        raise DocumentRefused("option", f"The document has the columns of {part}, not of {option}.")
    if len(rows[-1]) != width or body.text.count('"') % 2:
        raise DocumentRefused("truncated", "The document ends within a line.")
    list_name = "Consolidated List" if "cons" in origin.name.lower() else "SDN List"
    yield Metadata(title=f"OFAC {list_name}: {part}", home_url=PAGE)
    for row in (row for row in rows if len(row) != width):
        yield Rejection("has not the columns of its file", 1, ",".join(row)[:200])
    whole = [[_field(value) for value in row] for row in rows if len(row) == width]
    yield from rows_of(whole, list_name)


def _field(value: str) -> str | None:
    text = value.strip(f" {_DOS_END}")
    return None if text in _NO_VALUE else text


OFAC = make_format(
    "ofac", _recognise, _parse, options={"part": "sdn, alt or add, which the columns tell as well"}
)

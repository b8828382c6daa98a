"""`svc entities match`: screens the lines of a CSV file against all entities.

Rule 1: columns are known by their headings, in any order, whatever else there is beside them.
Rule 2: a line that cannot be used is told with its number, and the others go on.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from svc_core.operation.host import Progress
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.files import content
from svc_http.run.cli.operation_calls import call
from svc_http.run.cli.options import COMMON, Common

LINES_MAX = 5_000
CELL_CHARS = 1_000
FIELD_CHARS = 1_000_000
"""What the operation takes, and readers of documents; whose modules a command need not load."""

INPUT_BYTES_MAX = 64 * 1024 * 1024
"""Of one table: about a million lines."""

_HEADINGS = {
    "name": "name names fullname legalname caption entity entityname company companyname vendor"
    " organization organisation person title label",
    "designator": "designator designators identifier id lei cik isin wikidata",
    "country": "country countries countrycode countrycodes jurisdiction nationality citizenship",
    "type": "type entitytype schema kind",
    "birthDate": "birthdate birthday dateofbirth dob born",
}
_MEMBERS = {heading: name for name, variants in _HEADINGS.items() for heading in variants.split()}
_SCHEMES = ("lei", "cik", "isin", "wikidata")
"""Headings that are the scheme of what stands below."""


def match_command(
    file: Annotated[str, Parameter(help="CSV with a line of headings; - is stdin.")],
    *,
    limit: Annotated[int, Parameter(help="Matches of a line at most, the best.")] = 3,
    common: Common = COMMON,
) -> None:
    """Screen the lines of a CSV file: each with the entities it may be, a score and reasons.

    Headings are name or designator (scheme:value, or lei, cik, isin, wikidata), and country, type
    and birthDate where they are known. Nothing is stored or joined.
    """
    lines = list(_lines(content(file, INPUT_BYTES_MAX)))
    results: list[dict[str, Any]] = []
    with show.bar("entities match") as tell:
        for at in range(0, len(lines), LINES_MAX):
            results += _screen(common, lines[at : at + LINES_MAX], limit)
            tell(Progress(len(results), len(lines), "lines"))
    if common.json:
        show.as_json(results)
    else:
        show.print_lines(*(text for result in results for text in _words(result)))


def _screen(
    common: Common, lines: Sequence[tuple[int, dict[str, str], str | None]], limit: int
) -> Iterator[dict[str, Any]]:
    """What came of some lines, in their order."""
    queries = [cells for _, cells, fault in lines if fault is None]
    body = {"lines": queries, "limit": limit}
    answers = iter(call(common, "matchEntities", body=body) if queries else ())
    for number, cells, fault in lines:
        answer = {"matches": [], "error": fault} if fault is not None else next(answers)
        yield {"line": number, **cells, **answer}


def _words(result: dict[str, Any]) -> Iterator[str]:
    """A line for each match, or one that says that there is none."""
    query = result.get("name") or result.get("designator") or ""
    if not result["matches"]:
        yield f"{result['line']}\t{query}\t{result['error'] or 'no match'}"
    for match_ in result["matches"]:
        why = "; ".join(match_["reasons"])
        cells = f"{match_['score']:.2f}\t{match_['entityId']}\t{match_['name']}"
        yield f"{result['line']}\t{query}\t{cells}\t{why}"


def _lines(table: bytes) -> Iterator[tuple[int, dict[str, str], str | None]]:
    """The lines with their numbers and cells, and why one cannot be used.

    Raises:
        UsageError: it is no table with a name or a designator.
    """
    try:
        text = table.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UsageError(f"the table is not UTF-8: {fault.reason} at byte {fault.start}") from fault
    first = text.partition("\n")[0]
    csv.field_size_limit(FIELD_CHARS)  # of the whole process: whoever read before set it
    rows = csv.reader(io.StringIO(text), delimiter=max(",;\t", key=first.count))
    try:
        columns = [_column(heading) for heading in next(rows, [])]
        if not {"name", "designator"} & {name for name, _ in columns}:
            raise UsageError(
                "the first line names no column name or designator; begin it with: name"
            )
        for row in rows:
            if any(cell.strip() for cell in row):
                yield rows.line_num, *_cells(columns, row)
    except csv.Error as fault:
        raise UsageError(f"the table cannot be read at line {rows.line_num}: {fault}") from fault


def _column(heading: str) -> tuple[str | None, str]:
    """The member that a heading names, and what goes before its values."""
    plain = re.sub(r"[\W_]", "", heading).casefold()
    return _MEMBERS.get(plain), f"{plain}:" if plain in _SCHEMES else ""


def _cells(
    columns: Sequence[tuple[str | None, str]], row: Sequence[str]
) -> tuple[dict[str, str], str | None]:
    cells: dict[str, str] = {}
    for (name, before), cell in zip(columns, row, strict=False):
        value = cell.strip()
        if name is not None and value:
            cells.setdefault(name, value if value.startswith(before) else before + value)
    for name, value in cells.items():
        if len(value) > CELL_CHARS or "\0" in value:
            return {}, f"{name} has more than {CELL_CHARS} characters, or one of code 0"
    return cells, None

"""Tables at a terminal: they fit it, and what names a row can be copied from them."""

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import cell_len

from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_http.run.cli import show
from svc_http.run.cli.terminal_tables import Table

Svc = Callable[..., Any]

TABLES = [op for op in (*OPERATIONS, *LOCAL_OPERATIONS) if op.columns]
ID = re.compile("[a-z]{3}_[0-9a-f]{24}")
LONG = "運河 with a long name \N{EM DASH} and more " * 9
WIDTHS = (120, 80, 60, 40)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes stdout a terminal of a width."""

    def wide(columns: int) -> None:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", str(columns))

    return wide


def _invented(path: str, text: str, number: int) -> Any:
    """A cell of a column: what its name says it may be, as long as it may get."""
    name = path.rpartition(".")[2]
    if name == "id" or name.endswith("Id"):
        return f"{'obs' if name == 'id' else 'wsp'}_{number:024x}"
    if name.endswith(("At", "From", "To", "until")):
        return "2026-03-04T05:06:07.123456Z"
    return number if name in {"seq", "version", "created", "updated"} else text


def _row(operation: Any, text: str, number: int) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for path in (*operation.columns, *operation.notes):
        *within, last = path.split(".")
        place = row
        for name in within:
            place = place.setdefault(name, {})
        place[last] = _invented(path, text, number)
    return row


@pytest.mark.parametrize("operation", TABLES, ids=lambda op: f"{op.group}-{op.verb}")
def test_a_table_fits_the_terminal_and_every_id_can_be_copied(
    operation: Any, terminal: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        _row(operation, text, n) for n, text in enumerate(("x", LONG, "https://a.b/" + "c" * 99))
    ]
    anchor = next((n for n in operation.columns if n.rpartition(".")[2] == "id"), None)
    for width in WIDTHS:
        terminal(width)
        show.print_answer(rows, operation.group, operation.columns, operation.notes)
        lines = capsys.readouterr().out.splitlines()
        is_table = width >= show.TABLE_MIN
        rows_of_cells = [line for line in lines if is_table and not line.startswith("    ")]
        assert [line for line in rows_of_cells if cell_len(line) > width] == []
        for number in range(len(rows) if anchor else 0):
            assert sum(f"obs_{number:024x}" in line for line in lines) == 1


def test_a_row_is_a_line_and_what_is_wrong_with_it_stands_below() -> None:
    rows = [[f"src_{n:024x}", "Name " * 9, "ok", "https://a.example/" + "x" * n] for n in range(42)]
    notes = [["Refused: nobody answers."] if n == 7 else [] for n in range(42)]
    table = Table(("id", "name", "status", "location"), rows, notes)
    lines = list(table.lines(80))
    assert len(lines) == 1 + 42 + 1
    assert lines[9] == "    Refused: nobody answers."
    assert "…" in lines[1]
    pipe_output = list(table.lines(None))
    assert len(pipe_output) == 44
    assert all(row[3] in line for row, line in zip(rows[8:], pipe_output[10:], strict=True))


def test_what_is_cut_says_so() -> None:
    rows = [["k" * 30, "disinformation", "/x" * 30], ["k", "a b " * 9, "x"]]
    _, first, second = Table(("id", "topics", "place"), rows, [[], []]).lines(60)
    assert first.split()[0] == "k" * 30
    assert first.count("…") == 2
    assert "a b a b…" in second


def test_columns_without_room_are_left_out_from_the_end_and_named() -> None:
    row = ["2026-03-04T05:06:07Z", "opened", "x" * 30, "y" * 30, "clm_" + "0" * 24]
    table = Table(("at", "kind", "one thing", "other", "id"), [row], [[]], anchor=4)
    heading, line, _, report = table.lines(80)
    assert heading.split() == ["at", "kind", "id"]
    assert line.endswith(row[-1])
    assert report == "Not shown at this width: one thing, other. --json has everything."

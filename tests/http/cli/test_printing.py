"""What stored texts may do to the terminal that they are printed on: nothing."""

import io
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_http.run.cli import exit_codes, show
from tests.sampling import examples

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HOSTILE = st.text(
    st.sampled_from("a\x1b[2J]0;\x07\x00\x9b\x7f\u202e\u202d\u2066\u2069\u200f\u061c\u2028 é\n\t")
)
ROWS = st.lists(st.fixed_dictionaries({"id": HOSTILE, "title": HOSTILE, "note": HOSTILE}))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


WAYS: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "table": lambda rows: show.print_table(rows, ("id", "title"), "none", ("note",)),
    "outline": lambda rows: show.outline({"rows": rows, "first": rows[:1]}),
    "json": show.as_json,
    "lines": lambda rows: show.print_lines(*(row["title"] for row in rows)),
    "text": lambda rows: show.print_text("".join(row["title"] for row in rows)),
    "error": lambda rows: exit_codes.tell(str([*rows, *(row["note"] for row in rows)]), 1),
    "rows": lambda rows: [exit_codes.tell(row["title"], 1) for row in rows],
}


@pytest.mark.parametrize("way", WAYS)
@examples(30)
@given(rows=ROWS)
def test_no_stored_text_steers_the_terminal(way: str, rows: list[dict[str, Any]]) -> None:
    terminal, before = Terminal(), (sys.stdout, sys.stderr)
    sys.stdout = sys.stderr = terminal
    try:
        WAYS[way](rows)
    finally:
        sys.stdout, sys.stderr = before
    assert STEERING.search(terminal.getvalue()) is None
    if way == "json":
        assert json.loads(terminal.getvalue()) == rows


def test_a_text_that_goes_to_a_program_is_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    show.print_text("a\u200fb\n")
    assert capsys.readouterr().out == "a\u200fb\n"

"""Tables at a terminal: they fit it, and what names a row can be copied from them."""

import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.operation.host import Progress
from svc_core.operation.inputs import inputs_of
from svc_http import system
from svc_http.run.cli import show
from svc_http.run.cli.command_derivation import commanded
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


@pytest.mark.parametrize("operation", TABLES, ids=lambda op: f"{op.group}-{op.verb}")
def test_what_a_row_is_called_stands_before_what_is_left_out(operation: Any) -> None:
    names = {"title", "name", "label", "headline", "question"}
    places = [place for place, column in enumerate(operation.columns) if column in names]
    assert not places or places[0] <= 2


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


def test_rows_that_look_alike_say_what_tells_them_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def shown(*aliases: list[str], columns: tuple[str, ...] = ("id", "name")) -> list[str]:
        rows = [{"id": f"e{n}", "name": "APT29", "aliases": a} for n, a in enumerate(aliases)]
        show.print_table(rows, columns, "")
        return capsys.readouterr().out.splitlines()[1:]

    apart = ["e0  APT29", "    aliases: Dukes", "e1  APT29", "    aliases: -"]
    assert shown(["Dukes"], []) == apart
    assert shown([], []) == ["e0  APT29", "e1  APT29"]
    assert shown(["Dukes"], [], columns=("id", "status")) == ["e0  -", "e1  -"]
    assert shown(["Dukes"], [], columns=("aliases", "name")) == ["Dukes    APT29", "-        APT29"]


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


# -- times, further rows and outlines ----------------------------------------------------------

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
MOMENTS = [
    ("2026-03-04T11:59:31.000001Z", "0 min ago"),
    ("2026-03-04T11:20:00.000000Z", "40 min ago"),
    ("2026-03-04T00:30:00Z", "11 h ago"),
    ("2026-03-04T14:00:00.000000Z", "in 2 h"),
    ("2026-03-03T12:00:00.000000Z", "2026-03-03T12:00Z"),
    ("2027-03-03T05:06:07.123456Z", "2027-03-03T05:06Z"),
]


@pytest.mark.parametrize(("instant", "words"), MOMENTS)
def test_a_time_is_told_to_the_minute_and_at_a_terminal_by_how_long_ago(
    instant: str, words: str, terminal: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    monkeypatch.setattr(system, "now", lambda: NOW)
    rows = [{"id": "x", "at": instant, "text": f"about {instant}"}]
    show.print_table(rows, ("id", "at", "text"), "")
    assert capsys.readouterr().out.splitlines()[1] == f"x   {instant[:16]}Z  about {instant}"
    terminal(80)
    show.print_table(rows, ("id", "at", "text"), "")
    assert capsys.readouterr().out.splitlines()[1] == f"x   {words}  about {instant}"


FOLD = {
    "subject": {"id": "sbj_1", "label": "Kestrel", "opened": {"by": "x"}},
    "claims": {
        "seat": {
            "contested": True,
            "candidates": [
                {
                    "id": "clm_1",
                    "rank": 2,
                    "value": "Victoria",
                    "best": True,
                    "erased": False,
                    "support": [{"author": "system", "recordedAt": "2026-03-04T05:06:07.123456Z"}],
                },
                {"rank": 1, "value": "Singapore", "best": False},
            ],
        }
    },
    "nodes": [{"id": "ent_1", "label": "Acme"}, {"id": "ent_2", "label": "Bolt"}],
    "version": "2026-03-04T05:06:07.123456Z",
    "edges": [{"id": "rel_1", "sourceId": "ent_1", "targetId": "ent_2", "type": "owns"}],
}


def test_rows_within_a_resource_are_lines_that_a_person_reads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show.outline(FOLD)
    assert (
        capsys.readouterr().out
        == """\
version  2026-03-04T05:06:07.123456Z
subject  Kestrel: id sbj_1, opened by x
claims
  seat  contested
    candidates  2
      - Victoria: id clm_1, rank 2, best
        support  1
          - author system, recorded at 2026-03-04T05:06Z
      - Singapore: rank 1
nodes    2
  - Acme: id ent_1
  - Bolt: id ent_2
edges    1
  - Acme → Bolt: id rel_1, type owns
"""
    )


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_of_an_outline_fit_the_terminal(
    width: int, terminal: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal(width)
    show.outline({"rows": [{"title": "many words " * 20, "id": "obs_" + "0" * 24}]})
    assert max(map(len, capsys.readouterr().out.splitlines())) <= width


def test_a_list_says_that_there_is_more_and_how_to_get_it(svc: Svc) -> None:
    assert svc("workspaces", "create", "--name", "desk").code == 0
    for name in ("a", "b", "c"):
        assert svc("projects", "create", "--name", name).code == 0
    part = svc("projects", "list", "--limit", 2)
    assert part.err == "There are more: add --limit 20\n"
    assert len(part.out.splitlines()) == 3
    assert svc("projects", "list", "--limit", 2, "--json").err == ""
    assert svc("projects", "list").err == ""


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_table_of_the_demo_fits_a_terminal(
    width: int, demo: Any, svc: Svc, terminal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SERVER", demo.addresses["admin"])
    shown = 0
    for operation in commanded(TABLES):
        is_typed = any(item.required for item in inputs_of(operation.request))
        if is_typed or operation.unit.kind != "read" or operation.media[0].format != "json":
            continue
        terminal(width)
        ran = svc(operation.group, operation.verb)
        lines = ran.out.splitlines()
        assert ran.code == 0, ran
        assert [line for line in lines if cell_len(line) > width] == [], operation.id
        shown += len(lines) > 1
    assert shown > 20


def test_the_doctor_cuts_no_cure_at_a_terminal(
    svc: Svc, terminal: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_ENV", "production")
    checks = svc("doctor", "--json").json["checks"]
    terminal(80)
    out = svc("doctor").out
    assert max(map(cell_len, out.splitlines())) <= 80
    (cure,) = (check["detail"] for check in checks if check["name"] == "secret")
    assert re.sub("[0-9a-f]{64}", "...", cure) in re.sub(
        "[0-9a-f]{64}", "...", " ".join(out.split())
    )


def test_how_far_work_is_claims_no_end_that_nobody_knows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with show.bar("db check") as tell:
        tell(Progress(3, 0, "acts"))
    err = capsys.readouterr().err
    assert "/100" not in err

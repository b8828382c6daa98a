"""`svc entities match`: tables of names in, explained matches out."""

import csv
import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.reading import document_body
from svc_core.intel.entities import bulk_screening
from svc_core.intel.linking.references import id_of
from svc_http.run.cli import match_commands as matching
from svc_http.run.cli.match_commands import CELL_CHARS, FIELD_CHARS, LINES_MAX

Svc = Callable[..., Any]
EXAMPLE, SAMPLE = id_of("cik:0000000007"), id_of("cik:0000000008")


@pytest.fixture
def stocked_svc(svc: Svc, cwd: Path) -> Svc:
    """A store with two companies."""
    titles = {"0": (7, "EXM", "Quillwright Software Inc"), "1": (8, "SMP", "Kestrelmoor Ltd")}
    report = {
        at: {"cik_str": cik, "ticker": ticker, "title": title}
        for at, (cik, ticker, title) in titles.items()
    }
    (cwd / "tickers.json").write_text(json.dumps(report))
    svc("keys", "create", "--name", "a")
    assert svc("feeds", "add", "tickers.json").code == 0
    assert svc("feeds", "pull", "--all", "--force").code == 0
    return svc


def test_lines_are_matched_in_their_order_whatever_the_columns(stocked_svc: Svc, cwd: Path) -> None:
    (cwd / "a.csv").write_bytes(
        "\ufeffDOB;Note;Full Name;Type;Country;CIK\n"
        ";x;Software Quilwright;Company;;\n"
        "\n"
        ";;;;;8\n"
        "19-1;;Jane;;;\n"
        f";;{'x' * (CELL_CHARS + 1)};;;\n"
        ";;Nobody Whatsoever;;;\n".encode()
    )
    report = stocked_svc("entities", "match", "a.csv", "--json").json
    assert [row["line"] for row in report] == [2, 4, 5, 6, 7]
    assert [[row["entityId"] for row in row["matches"]] for row in report] == [
        [EXAMPLE], [SAMPLE], [], [], [],
    ]  # fmt: skip
    assert [bool(row["error"]) for row in report] == [False, False, True, True, False]
    (best,) = report[0]["matches"]
    assert 0.75 < best["score"] < 1
    assert (best["features"].keys(), len(best["reasons"])) == ({"name"}, 1)
    assert (report[0]["name"], report[1]["designator"]) == ("Software Quilwright", "cik:8")


def test_a_person_reads_a_line_for_each(stocked_svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    table = b"name\nQuillwright Software\nNobody Whatsoever\n"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(table)))
    report = stocked_svc("entities", "match", "-")
    first, second = report.out.splitlines()
    assert EXAMPLE in first
    assert "1.00" in first
    assert second == "3\tNobody Whatsoever\tno match"


def test_the_bounds_are_those_of_the_operation_and_of_documents() -> None:
    assert (LINES_MAX, CELL_CHARS) == (bulk_screening.LINES_MAX, bulk_screening.CELL_CHARS)
    assert document_body.FIELD_CHARS == FIELD_CHARS


def test_many_lines_are_asked_in_parts(
    stocked_svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "LINES_MAX", 2)
    (cwd / "a.csv").write_text("name,dob\n" + "Kestrelmoor,\n" * 3 + ",\n" + ",x\n")
    report = stocked_svc("entities", "match", "a.csv", "--json", "--limit", "1").json
    assert [len(row["matches"]) for row in report] == [1, 1, 1, 0]


REFUSAL = [
    (b"colour\nred\n", "names no column"),
    (b"", "names no column"),
    (b"name\n\xff\n", "not UTF-8"),
    (b'name\n"' + b"x" * (FIELD_CHARS + 1) + b'"\n', "line 2"),
]


def test_what_is_no_table_is_refused(svc: Svc, cwd: Path) -> None:
    for table, reason in REFUSAL:
        (cwd / "a.csv").write_bytes(table)
        refusal = svc("entities", "match", "a.csv")
        assert (refusal.code, reason in refusal.err) == (2, True), reason


def test_a_long_cell_is_told_on_its_line_whatever_was_read_before(
    stocked_svc: Svc, cwd: Path
) -> None:
    csv.field_size_limit(131_072)  # as a process begins
    (cwd / "a.csv").write_bytes(b"name\n" + b"x" * 200_000 + b"\n")
    (report,) = stocked_svc("entities", "match", "a.csv", "--json").json
    assert "1000 characters" in report["error"]

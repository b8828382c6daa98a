"""`svc entities match`: tables of names in, explained matches out."""

import csv
import json
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.reading.body import FIELD_CHARS
from svc_core.intel.entities.screening import CELL_CHARS
from svc_core.intel.linking.references import id_of
from svc_http.run.cli import matching

Svc = Callable[..., Any]
EXAMPLE, SAMPLE = id_of("cik:0000000007"), id_of("cik:0000000008")


@pytest.fixture
def known(svc: Svc, here: Path) -> Svc:
    """A store with two companies."""
    titles = {"0": (7, "EXM", "Quillwright Software Inc"), "1": (8, "SMP", "Kestrelmoor Ltd")}
    told = {
        at: {"cik_str": cik, "ticker": ticker, "title": title}
        for at, (cik, ticker, title) in titles.items()
    }
    (here / "tickers.json").write_text(json.dumps(told))
    svc("keys", "create", "--name", "a")
    assert svc("feeds", "add", "tickers.json").code == 0
    assert svc("feeds", "pull", "--all", "--force").code == 0
    return svc


def test_lines_are_matched_in_their_order_whatever_the_columns(known: Svc, here: Path) -> None:
    (here / "a.csv").write_bytes(
        "\ufeffDOB;Note;Full Name;Type;Country;CIK\n"
        ";x;Software Quilwright;Company;;\n"
        "\n"
        ";;;;;8\n"
        "19-1;;Jane;;;\n"
        f";;{'x' * (CELL_CHARS + 1)};;;\n"
        ";;Nobody Whatsoever;;;\n".encode()
    )
    told = known("entities", "match", "a.csv", "--json").json
    assert [one["line"] for one in told] == [2, 4, 5, 6, 7]
    assert [[each["entityId"] for each in one["matches"]] for one in told] == [
        [EXAMPLE], [SAMPLE], [], [], [],
    ]  # fmt: skip
    assert [bool(one["error"]) for one in told] == [False, False, True, True, False]
    (best,) = told[0]["matches"]
    assert 0.75 < best["score"] < 1
    assert (best["features"].keys(), len(best["reasons"])) == ({"name"}, 1)
    assert (told[0]["name"], told[1]["designator"]) == ("Software Quilwright", "cik:8")


def test_a_person_reads_a_line_for_each(known: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    table = b"name\nQuillwright Software\nNobody Whatsoever\n"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(table)))
    told = known("entities", "match", "-")
    first, second = told.out.splitlines()
    assert EXAMPLE in first
    assert "1.00" in first
    assert second == "3\tNobody Whatsoever\tno match"


def test_many_lines_are_asked_in_parts(
    known: Svc, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "LINES_MAX", 2)
    (here / "a.csv").write_text("name,dob\n" + "Kestrelmoor,\n" * 3 + ",\n" + ",x\n")
    told = known("entities", "match", "a.csv", "--json", "--limit", "1").json
    assert [len(one["matches"]) for one in told] == [1, 1, 1, 0]


REFUSED = [
    (b"colour\nred\n", "names no column"),
    (b"", "names no column"),
    (b"name\n\xff\n", "not UTF-8"),
    (b'name\n"' + b"x" * (FIELD_CHARS + 1) + b'"\n', "line 2"),
]


@pytest.mark.parametrize(("table", "reason"), REFUSED)
def test_what_is_no_table_is_refused(known: Svc, here: Path, table: bytes, reason: str) -> None:
    (here / "a.csv").write_bytes(table)
    refused = known("entities", "match", "a.csv")
    assert refused.code == 2
    assert reason in refused.err


def test_a_long_cell_is_told_on_its_line_whatever_was_read_before(known: Svc, here: Path) -> None:
    csv.field_size_limit(131_072)  # as a process begins
    (here / "a.csv").write_bytes(b"name\n" + b"x" * 200_000 + b"\n")
    (told,) = known("entities", "match", "a.csv", "--json").json
    assert "1000 characters" in told["error"]

"""The public face is what its golden files say, and a change of it is seen in a short diff."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden import documents
from tests.golden.__main__ import main
from tests.golden.compare import COMMAND, FILES, LINES_MAX, difference, stored, write
from tests.golden.parts import PARTS
from tests.golden.pretty import changes, pretty

BYTES_MAX = 3_000_000
"""Of all golden files: they are read in reviews, and every clone has them."""


@pytest.mark.parametrize("part", PARTS)
def test_the_public_face_is_what_its_golden_files_say(part: str) -> None:
    if changes := difference(stored(part), PARTS[part]()):
        pytest.fail(changes, pytrace=False)


# -- the files ---------------------------------------------------------------------------------


def test_golden_files_are_few_lines_of_text_that_a_part_makes() -> None:
    files = [path for path in FILES.rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in files]

    assert {path.name for path in FILES.iterdir()} == {*PARTS}
    assert sum(map(len, texts)) < BYTES_MAX
    assert [path for path, text in zip(files, texts, strict=True) if b"\r" in text] == []
    assert [path for path, text in zip(files, texts, strict=True) if text[-1:] != b"\n"] == []


# -- what differs ------------------------------------------------------------------------------

BEFORE = {"a/one.txt": "1\n2\n3\n", "a/two.txt": "same\n"}
CASES: list[tuple[dict[str, str], list[str]]] = [
    ({"a/one.txt": "1\ntwo\n3\n"}, ["--- a/one.txt", "+++ a/one.txt", "-2", "+two"]),
    ({"a/one.txt": "1\n3\n"}, ["-2"]),
    ({"a/one.txt": "1\n2\n3\n4\n"}, ["+4"]),
    ({"a/one.txt": "0\n1\n2\n3\n"}, ["+0"]),
    ({"a/one.txt": "1\n2\n2\n3\n"}, ["+2"]),
    ({"a/one.txt": "1\n2\n3"}, ["a/one.txt"]),
    ({"a/new.txt": "4\n"}, ["--- nothing", "+++ a/new.txt"]),
]


@pytest.mark.parametrize(("after", "lines"), CASES)
def test_a_change_is_shown_with_the_command_that_accepts_it(
    after: dict[str, str], lines: list[str]
) -> None:
    text = difference(BEFORE, BEFORE | after)

    assert [line for line in lines if line not in text] == []
    assert COMMAND in text
    assert "same" not in text


def test_a_change_is_shown_with_its_place_in_the_file() -> None:
    lines = [f"{number}\n" for number in range(1, 1_001)]
    after = [*lines[:499], "other\n", *lines[500:]]

    text = difference({"a/one.txt": "".join(lines)}, {"a/one.txt": "".join(after)})

    assert "@@ line 497 @@\n 497\n 498\n 499\n-500\n+other\n 501\n 502\n 503\n" in text


def test_of_a_long_line_the_place_is_shown_where_it_changed() -> None:
    old, new = (f"{'x' * 5_000}{word}{'y' * 5_000}\n" for word in ("old", "new"))

    text_lines = difference({"a/one.txt": old}, {"a/one.txt": new}).splitlines()

    (removal,) = [line for line in text_lines if line.startswith("-...")]
    (addition,) = [line for line in text_lines if line.startswith("+...")]
    assert "xoldy" in removal
    assert "xnewy" in addition
    assert max(map(len, text_lines)) < 300


def test_a_file_that_is_gone_is_shown() -> None:
    text = difference(BEFORE, {"a/two.txt": "same\n"})

    assert "--- a/one.txt\n+++ nothing" in text


def test_nothing_is_shown_where_nothing_differs() -> None:
    assert difference(BEFORE, dict(BEFORE)) == ""


def test_what_is_shown_is_short_however_much_differs() -> None:
    after = {f"a/{number}.txt": "x" * 10_000 + "\n" for number in range(500)}
    before = dict.fromkeys(after, "y" * 10000 + "\n" * 300)

    text = difference(before, after)

    assert text.count("\n") < LINES_MAX + 10
    assert len(text) < 20_000
    assert "500: a/0.txt, " in text


def test_what_was_written_is_what_is_kept(tmp_path: Path) -> None:
    first, second = {"a/b/one.txt": "ü\n", "a/two.txt": "2\n"}, {"a/two.txt": "3\n"}

    assert write("a", first, tmp_path) == ["a/b/one.txt", "a/two.txt"]
    assert write("a", first, tmp_path) == []
    assert stored("a", tmp_path) == first
    assert write("a", second, tmp_path) == ["a/b/one.txt", "a/two.txt"]
    assert stored("a", tmp_path) == second


def test_a_word_that_is_not_known_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--wirte"]) == 2
    assert "--write" in capsys.readouterr().err


# -- JSON as lines -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        None, 1.5, "ü\n", [], {}, [[]], {"b": 1, "a": [1, {"c": "d" * 100}]},
        ["x" * 60, "y" * 60], {"long": {str(number): number for number in range(50)}},
    ],
)  # fmt: skip
def test_pretty_json_is_the_same_value_in_the_same_order(value: Any) -> None:
    assert json.dumps(json.loads(pretty(value))) == json.dumps(value)


def test_a_member_more_is_a_line_more() -> None:
    value = {"name": "n" * 90, "other": {"one": 1}}

    assert pretty(value).splitlines() == [
        "{",
        f' "name": "{"n" * 90}",',
        ' "other": {"one": 1}',
        "}",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": {"$ref": "#/x/b"}, "a": {"$ref": "#/x/a"}}, {"each at #/x": ["b", "a"]}),
        ([{"h": {"a": {"$ref": "#/x/a"}}}], [{"h": {"each at #/x": ["a"]}}]),
        *(
            (path, path)
            for path in (
                {"a": {"$ref": "#/x/b"}},
                {"a": {"$ref": "#/x/a"}, "b": {"$ref": "#/y/b"}},
                {"a": {"$ref": "#/x/a"}, "b": 1},
                {"a": {"$ref": "#/x/a", "also": 1}},
                {},
            )
        ),
    ],
)
def test_only_references_by_the_same_name_are_told_by_their_names(
    value: Any, expected: Any
) -> None:
    assert documents._fold(value) == expected


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": "1"}, ['/a: 1 -> "1"']),
        ({"a": {"b/c": [1, 2]}}, {"a": {"b/c": [1, 3]}}, ["/a/b~1c/1: 2 -> 3"]),
        ([1], [1, 2], ["/: [1] -> [1, 2]"]),
        ({"a": 1}, {"b": 1}, ["/a: 1 -> nothing", "/b: nothing -> 1"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ["/: another order, b a"]),
    ],
)
def test_changes_name_the_place_and_both_values(before: Any, after: Any, lines: list[str]) -> None:
    assert list(changes(before, after)) == lines

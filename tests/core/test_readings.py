"""Every reader of short texts gives what is stored of it."""

import json
from typing import Any

import pytest

from tests.core import readings
from tests.themes import each

CASES = [
    (reader, sentence, row[:-1], row[-1])
    for reader in readings.READERS
    for sentence, rows in readings.stored(reader).items()
    for row in rows
]


@each(CASES)
def test_a_text_is_read_as_it_is_stored(
    reader: str, sentence: str, arguments: readings.Row, expected: Any
) -> None:
    actual = readings.reading(reader, *arguments)
    assert actual == expected
    assert json.dumps(actual) == json.dumps(expected)


@pytest.mark.parametrize("reader", ["documents", "instants", "intervals", "periods"])
def test_a_reader_of_strangers_texts_refuses_some(reader: str) -> None:
    rows = [row for rows in readings.stored(reader).values() for row in rows]
    assert any(isinstance(row[-1], dict) and "refused" in row[-1] for row in rows)


@pytest.mark.parametrize("reader", ["links", "speech", "stops"])
def test_what_is_read_is_not_changed_by_being_read_again(reader: str) -> None:
    for text, *rest, expected in (row for rows in readings.stored(reader).values() for row in rows):
        assert readings.reading(reader, expected, *rest) == expected, text


def test_every_file_is_of_a_reader() -> None:
    assert sorted(readings.READERS) == sorted(path.stem for path in readings.FILES.glob("*.json"))

"""What a declaration keeps beside a row."""

from attrs import evolve

from svc_core.operation.ports import DEGREE, LATITUDE, LONGITUDE, NO_NUMBER
from svc_core.testing.sample import NOTES, Note


def test_numbers_and_a_place_are_kept_in_whole_numbers() -> None:
    note = Note("a", "", weight=3, longitude=-0.5, latitude=51.25)
    assert NOTES.number_names == ("weight", LONGITUDE, LATITUDE)
    assert NOTES.record(note).numbers == {
        "weight": 3,
        LONGITUDE: -DEGREE // 2,
        LATITUDE: 51 * DEGREE + DEGREE // 4,
    }
    assert set(NOTES.record(Note("b", "")).numbers.values()) == {NO_NUMBER}


def test_numbers_need_no_place() -> None:
    assert evolve(NOTES, place=None).record(Note("a", "", weight=3)).numbers == {"weight": 3}
    assert evolve(NOTES, place=None, numbers={}).record(Note("a", "", weight=3)).numbers == {}

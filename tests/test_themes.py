"""A row of a theme hides nothing: whatever fails in it is told, by promise and case."""

from types import SimpleNamespace

import pytest

from tests.themes import Theme, each

FIRST, TWO = SimpleNamespace(id="one", number=1), SimpleNamespace(id="two", number=2)
THREE = SimpleNamespace(id="three", number=3)


def make_theme():
    theme, calls = Theme([FIRST, TWO, THREE], "subject"), []

    @theme.of(lambda subject: subject.number < 3, factor=[1, 0, -1])
    def a_product_is_positive(subject, factor):
        calls.append(factor)
        assert subject.number * factor > 0

    @theme.of(lambda subject: subject.number == 1)
    def it_is_even(subject, place):
        calls.append(place)
        pytest.fail("it is not")

    @theme.of(lambda subject: subject.number == 1)
    def it_is_a_number(subject):
        calls.append("number")

    return theme, calls


def resource(subject):
    fixtures = {"subject": subject, "place": "here"}
    return SimpleNamespace(getfixturevalue=fixtures.__getitem__)


def test_every_fault_of_a_row_is_told_by_its_promise_and_case():
    theme, calls = make_theme()
    with pytest.raises(BaseExceptionGroup) as group:
        theme.keep(resource(FIRST))
    assert calls == [1, 0, -1, "here", "number"]
    assert [fault.__notes__[-1] for fault in group.value.exceptions] == [
        "a_product_is_positive 0",
        "a_product_is_positive -1",
        "it_is_even",
    ]
    assert all(note in str(group.value) for note in ("one", "positive 0", "positive -1", "even"))


def test_a_row_is_made_of_the_subjects_of_which_something_is_promised():
    theme, calls = make_theme()

    @theme.rows
    def row(subject):
        pass

    (mark,) = row.pytestmark
    assert mark.args == ("subject", [FIRST, TWO])
    assert mark.kwargs["ids"] == ["one", "two"]
    with pytest.raises(BaseExceptionGroup):
        theme.keep(resource(TWO))
    assert calls == [1, 0, -1]  # nothing that is promised of another


def test_every_case_of_a_promise_is_tried_and_every_fault_told_by_its_case():
    calls = []

    @each([(3, 2), (1, 2), (0, 2), (5, 4)])
    def test_it_is_larger(left, right):
        calls.append(left)
        assert left > right

    with pytest.raises(BaseExceptionGroup, match=r"test_it_is_larger: \(1, 2\); \(0, 2\)"):
        test_it_is_larger()
    assert calls == [3, 1, 0, 5]


def test_a_promise_about_no_case_is_none():
    with pytest.raises(AssertionError, match="no case"):
        each(case for case in ())

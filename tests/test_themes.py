"""A row of a theme hides nothing: whatever fails in it is told, by promise and case."""

from types import SimpleNamespace

import pytest

from tests.themes import Theme

ONE, TWO = SimpleNamespace(id="one", number=1), SimpleNamespace(id="two", number=2)
THREE = SimpleNamespace(id="three", number=3)


def made():
    theme, tried = Theme([ONE, TWO, THREE], "subject"), []

    @theme.of(lambda subject: subject.number < 3, factor=[1, 0, -1])
    def a_product_is_positive(subject, factor):
        tried.append(factor)
        assert subject.number * factor > 0

    @theme.of(lambda subject: subject.number == 1)
    def it_is_even(subject, place):
        tried.append(place)
        pytest.fail("it is not")

    @theme.of(lambda subject: subject.number == 1)
    def it_is_a_number(subject):
        tried.append("number")

    return theme, tried


def asked(subject):
    fixtures = {"subject": subject, "place": "here"}
    return SimpleNamespace(getfixturevalue=fixtures.__getitem__)


def test_every_fault_of_a_row_is_told_by_its_promise_and_case():
    theme, tried = made()
    with pytest.raises(BaseExceptionGroup) as caught:
        theme.keep(asked(ONE))
    assert tried == [1, 0, -1, "here", "number"]
    assert [fault.__notes__[-1] for fault in caught.value.exceptions] == [
        "a_product_is_positive 0",
        "a_product_is_positive -1",
        "it_is_even",
    ]
    assert all(note in str(caught.value) for note in ("one", "positive 0", "positive -1", "even"))


def test_a_row_is_made_of_the_subjects_of_which_something_is_promised():
    theme, tried = made()

    @theme.rows
    def row(subject):
        pass

    (mark,) = row.pytestmark
    assert mark.args == ("subject", [ONE, TWO])
    assert mark.kwargs["ids"] == ["one", "two"]
    with pytest.raises(BaseExceptionGroup):
        theme.keep(asked(TWO))
    assert tried == [1, 0, -1]  # nothing that is promised of another

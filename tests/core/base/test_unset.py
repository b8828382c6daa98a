"""Not sent, null and empty stay three things."""

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import unset
from svc_core.base.unset import UNSET, Unset

VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.integers())


@pytest.mark.parametrize("ask", [bool, lambda value: not value, lambda value: value or 1])
def test_unset_is_neither_true_nor_false(ask):
    with pytest.raises(TypeError, match="is UNSET"):
        ask(UNSET)


@pytest.mark.parametrize("value", [None, [], "", 0, False])
def test_null_and_empty_are_given(value):
    assert unset.or_default(value, "default") is value


def test_what_was_not_sent_takes_the_default():
    assert unset.or_default(UNSET, None) is None


@given(VALUES, VALUES)
def test_a_default_never_replaces_what_was_sent(value, default):
    assert unset.or_default(value, default) is value
    assert unset.or_default(UNSET, default) is default


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_there_is_one_unset(again):
    assert again(UNSET) is UNSET
    assert list(Unset) == [UNSET]


def test_it_shows_as_it_is_written():
    assert repr([UNSET]) == "[UNSET]"

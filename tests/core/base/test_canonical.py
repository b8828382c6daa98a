"""Equal values have equal bytes, and they are those of RFC 8785."""

import enum
import json
import math
from collections import OrderedDict
from hashlib import sha256

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import canonical
from svc_core.base.canonical import CanonicalError

INTEGERS = st.integers(-canonical.INTEGER_MAX, canonical.INTEGER_MAX)
TEXT = st.text() | st.text('\x00\x1f"\\/\x7f\u2028é€\ufb33\U0001f600')
PLAIN = st.none() | st.booleans() | INTEGERS | TEXT
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def graphs(leaves):
    return st.recursive(
        leaves, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=12
    )


class Colour(str, enum.Enum):  # noqa: UP042 - the kind of text that formats as something else
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        ("", '""'),
        ([], "[]"),
        ({}, "{}"),
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        ([1, 1.0, True], "[1,1,true]"),
        ((1, (2,)), "[1,[2]]"),
        ({"b": 1, "a": [None, {"d": False, "c": "x"}]}, '{"a":[null,{"c":"x","d":false}],"b":1}'),
        ({"\U0001f600": 1, "\ufb33": 2}, '{"\U0001f600":1,"\ufb33":2}'),
        ({"é": "\U0001f600", "a": 1}, '{"a":1,"é":"\U0001f600"}'),
        ('\b\t\n\f\r"\\/\x00\x1f\x7f\u2028', '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u001f\x7f\u2028"'),
        ([Colour.RED, Level.HIGH], '["red",3]'),
        ({Colour.RED: 1}, '{"red":1}'),
        (OrderedDict(b=1, a=2), '{"a":2,"b":1}'),
        (canonical.INTEGER_MAX, "9007199254740991"),
        (-canonical.INTEGER_MAX, "-9007199254740991"),
    ],
)
def test_values_have_their_canonical_text(value, text):
    assert canonical.dumps(value) == text.encode()
    assert canonical.dumps([value, "é"]) == f'[{text},"é"]'.encode()


LOOP: list[object] = []
LOOP += [LOOP, LOOP]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "NaN and the infinities"),
        ([math.inf], "NaN and the infinities"),
        ({"a": -math.inf}, "NaN and the infinities"),
        (2**53, "beyond 2\\^53-1"),
        ([-(2**53)], "beyond 2\\^53-1"),
        ("\ud800", "surrogate"),
        ({"a": ["\udfff"]}, "surrogate"),
        ({"\ud800": 1}, "surrogate"),
        ({"\ud800": 1.5}, "surrogate"),
        ({1: 2}, "A key is text in JSON, not int"),
        ({"a": 1, 2: 3}, "A key is text"),
        ({None: 1}, "not NoneType"),
        (b"bytes", "no type for bytes"),
        ([{"a": {1, 2}}], "no type for set"),
        (object(), "no type for object"),
        (LOOP, "more than 64 levels"),
    ],
)
def test_what_has_no_canonical_form_is_refused(value, reason):
    with pytest.raises(CanonicalError, match=reason):
        canonical.dumps(value)


@pytest.mark.parametrize("leaf", [1, 1.5])
@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}])
def test_64_levels_are_written_and_65_are_not(leaf, wrap):
    value = leaf
    for _ in range(canonical.DEPTH_MAX):
        value = wrap(value)
    assert json.loads(canonical.dumps(value)) == value
    with pytest.raises(CanonicalError, match="64 levels"):
        canonical.dumps(wrap(value))


@given(graphs(PLAIN))
def test_the_fast_path_writes_the_bytes_of_the_exact_one(value):
    assert canonical.dumps(value) == canonical.dumps_exactly(value) == rfc8785.dumps(value)


@given(graphs(PLAIN | FLOATS))
def test_another_implementation_writes_the_same_bytes(value):
    assert canonical.dumps(value) == canonical.dumps_exactly(value) == rfc8785.dumps(value)


@given(FLOATS)
def test_a_number_keeps_its_value(value):
    assert float(canonical.dumps(value)) == value


@given(graphs(PLAIN | st.floats(-1e15, 1e15)))
def test_canonical_bytes_are_a_fixed_point(value):
    once = canonical.dumps(value)
    assert canonical.dumps(json.loads(once)) == once


@given(st.dictionaries(TEXT, PLAIN), st.randoms(use_true_random=False))
def test_the_order_of_members_does_not_matter(value, random):
    members = list(value.items())
    random.shuffle(members)
    assert canonical.dumps(dict(members)) == canonical.dumps(value)


@given(graphs(PLAIN | st.floats() | st.integers() | st.text(st.characters(categories=None))))
def test_both_paths_refuse_the_same_values(value):
    try:
        expected = canonical.dumps_exactly(value)
    except CanonicalError:
        with pytest.raises(CanonicalError):
            canonical.dumps(value)
    else:
        assert canonical.dumps(value) == expected


def test_the_digest_is_that_of_the_bytes():
    value = {"b": [1, "é"], "a": None}
    bytes_ = '{"a":null,"b":[1,"é"]}'.encode()
    assert canonical.canonical_digest(value) == sha256(bytes_).digest()
    assert canonical.hex_digest(value) == sha256(bytes_).hexdigest()

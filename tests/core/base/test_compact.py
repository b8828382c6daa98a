"""Compact JSON is what `json.dumps` writes without spaces."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import compact

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)  # fmt: skip


@given(JSON, st.booleans(), st.booleans())
def test_the_text_is_that_of_the_standard_library(
    value: object, ascii_only: bool, sort_keys: bool
) -> None:
    encode = compact.compact_encoder(ascii_only=ascii_only, sort_keys=sort_keys)
    assert encode(value) == json.dumps(
        value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=(",", ":")
    )


def test_options_say_how_it_is_written() -> None:
    make = compact.compact_encoder
    value = {"b": ["é", 1, 2.5, None, True], "a": {}}
    assert make(ascii_only=True, sort_keys=True)(value) == (
        '{"a":{},"b":["\\u00e9",1,2.5,null,true]}'
    )
    assert make()(value) == '{"b":["é",1,2.5,null,true],"a":{}}'
    assert make(default=str)({"x": complex(1)}) == '{"x":"(1+0j)"}'


def test_what_has_no_json_form_is_refused() -> None:
    make = compact.compact_encoder
    with pytest.raises(TypeError):
        make()({"x": object()})
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            make()([number])

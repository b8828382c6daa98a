"""Compact JSON is what `json.dumps` writes, with or without the C encoder."""

import json
from json import encoder as json_encoder
from typing import Any

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


@pytest.fixture(params=["C", "Python"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "Python":
        monkeypatch.setattr(json_encoder, "c_make_encoder", None)
    return compact.compact_encoder


@given(JSON, st.booleans(), st.booleans())
def test_the_text_is_that_of_the_standard_library(
    value: object, ascii_only: bool, sort_keys: bool
) -> None:
    encode = compact.compact_encoder(ascii_only=ascii_only, sort_keys=sort_keys)
    assert encode(value) == json.dumps(
        value, ensure_ascii=ascii_only, sort_keys=sort_keys, separators=(",", ":")
    )


def test_both_ways_write_the_same(make: Any) -> None:
    value = {"b": ["é", 1, 2.5, None, True], "a": {}}
    assert make(ascii_only=True, sort_keys=True)(value) == (
        '{"a":{},"b":["\\u00e9",1,2.5,null,true]}'
    )
    assert make()(value) == '{"b":["é",1,2.5,null,true],"a":{}}'
    assert make(default=str)({"x": complex(1)}) == '{"x":"(1+0j)"}'


def test_what_has_no_json_form_is_refused(make: Any) -> None:
    with pytest.raises(TypeError):
        make()({"x": object()})
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            make()([number])

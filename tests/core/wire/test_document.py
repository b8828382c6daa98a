"""Untrusted bytes become JSON values, or are refused for one stated reason."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.wire.document import DEPTH_MAX, NUMBER_MAX

REFUSED = [
    ("malformed", b"}" * 100 + b"[" * 100),
    # Not UTF-8.
    ("encoding", b"\xff\xfe[\x001\x00]\x00"),
    ("encoding", "[1]".encode("utf-32")),
    ("encoding", b'"\xc0\x80"'),
    ("encoding", b'"\xe9"'),
    ("encoding", b'"\xed\xa0\x80"'),
    ("encoding", b'"\xf4\x90\x80\x80"'),
    ("number", b"1" * 5_000),
    ("number", b"-" + b"1" * 5_000),
    # Deeper than anything the service takes.
    ("too-deep", b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1)),
    ("too-deep", b"[" * 100_000),
    ("too-deep", b'{"a":' * 100_000),
    ("too-deep", b'["]]]",' * 100_000),
    ("too-deep", b'["\\"]",' * 100),
]
"""What no text of `tests/data/readings` can hold, or none of a reasonable length."""


@pytest.mark.parametrize(("kind", "body"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_is_no_text_or_a_very_long_one_is_refused_for_its_rule(kind: str, body: bytes) -> None:
    with pytest.raises(wire.JsonError) as caught:
        wire.decode_json(body)
    assert caught.value.kind == kind


BEYOND = "lies beyond ±9007199254740991, so send it as a string"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[1,\n 2", "The body is not JSON at line 2, column 3"),
        (b"NaN", "NaN is not JSON"),
        (b"\xff", "The body is not UTF-8"),
        (b'{"a":1,"b":2,"b":3,"a":4}', '(body): the member "b" is sent more than once'),
        (rb'{"\ud800":1,"\ud800":2}', r'(body): the member "\ud800" is sent more than once'),
        (b'[{"a":{"b":1,"b":1}}]', '/0/a: the member "b" is sent more than once'),
        (rb'"\u0000"', "(body): holds U+0000 or an unpaired surrogate"),
        (rb'{"a":["x","\ud800"]}', "/a/1: holds U+0000 or an unpaired surrogate"),
        (rb'[{"a":[1]},"\ud800"]', "/1: holds U+0000 or an unpaired surrogate"),
        (rb'{"a":{"b\ud800":1}}', "/a/b?: holds U+0000 or an unpaired surrogate"),
        (b"1e400", f"(body): {BEYOND}"),
        (b'{"a/b":[1,{"c":9007199254740992}],"d":1e400}', f"/a~1b/1/c: {BEYOND}"),
        (b'{"a":1e400,"b":NaN}', "NaN is not JSON"),
        (b'{"a":1e400', "The body is not JSON at line 1, column 11"),
        (b"[" * 65, "The body nests deeper than 64 levels"),
    ],
)
def test_the_reason_names_the_fault_and_can_be_sent(body: bytes, message: str) -> None:
    with pytest.raises(wire.JsonError, match=r".") as caught:
        wire.decode_json(body)
    assert str(caught.value) == message
    assert str(caught.value).encode()


def test_the_name_of_a_repeated_member_is_cut() -> None:
    name = json.dumps("x" * 10_000)
    with pytest.raises(wire.JsonError) as caught:
        wire.decode_json(f"{{{name}:1,{name}:2}}".encode())
    assert len(str(caught.value)) < 200


def test_the_deepest_allowed_value_is_read() -> None:
    body = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    assert json.dumps(wire.decode_json(body)).encode() == body


@pytest.mark.parametrize("text", ["[[[[", '"[[[["', r'"\"[{"', '["]"]'])
def test_brackets_inside_strings_do_not_nest(text: str) -> None:
    value = [text] * (DEPTH_MAX + 1)
    assert wire.decode_json(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 65 + b'"' + rb"\"" * 400_000,
        b"[],".join([b"["] + [b""] * 300_000),
        b'"' * 800_000 + b"[" * 65,
        b"\\" * 800_000 + b"[" * 65,
    ],
    ids=["endless string", "many arrays", "many quotes", "many backslashes"],
)
def test_a_hostile_megabyte_is_judged_in_linear_time(body: bytes) -> None:
    start = time.process_time()
    with pytest.raises(wire.JsonError):
        wire.decode_json(body)
    # Linear work takes some 50 ms here; quadratic work would take hours.
    assert time.process_time() - start < 5


storable = st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",)), max_size=8)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-NUMBER_MAX, NUMBER_MAX)
    | st.floats(-1e15, 1e15)
    | storable,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(storable, inner, max_size=4),
    max_leaves=20,
)


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_what_python_writes_is_read_back(
    value: wire.Json, ascii_: bool, indent: int | None
) -> None:
    body = json.dumps(value, ensure_ascii=ascii_, indent=indent).encode()
    assert wire.decode_json(body) == value


@given(st.binary(max_size=40))
@example(b'{"\\ud800":[')
def test_any_bytes_give_a_value_or_a_stated_refusal(body: bytes) -> None:
    try:
        value = wire.decode_json(body)
    except wire.JsonError:
        return
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()

"""Untrusted bytes become JSON values, or are refused for one stated reason."""

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.wire.document import DEPTH_MAX, NUMBER_MAX

ACCEPTED = [
    (b"null", None),
    (b"true", True),
    (b"false", False),
    (b" \t\r\n1 \n", 1),
    (b'""', ""),
    (b"[]", []),
    (b"{}", {}),
    (b'{"":0}', {"": 0}),
    (b'{"a":{"a":1},"b":[{"a":2}]}', {"a": {"a": 1}, "b": [{"a": 2}]}),
    (b"\xef\xbb\xbf[1]", [1]),
    (b"-0", 0),
    (b"0.5e1", 5.0),
    (b"1E-2", 0.01),
    (b"1e-400", 0.0),
    (str(NUMBER_MAX).encode(), NUMBER_MAX),
    (str(-NUMBER_MAX).encode(), -NUMBER_MAX),
    (b"9007199254740991.0", float(NUMBER_MAX)),
    ('"é😀\u2028"'.encode(), "é😀\u2028"),
    (rb'"\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\"', 'é😀/\b\f\n\r\t"\\'),
    (rb'"\\u0000"', "\\u0000"),
    (rb'"\\ud800"', "\\ud800"),
    (b'"\x7f"', "\x7f"),
    ('"\ufeff"'.encode(), "\ufeff"),
    # Names that only look alike are two members: nothing is normalised.
    ('{"\u00e9":1,"e\u0301":2}'.encode(), {"\u00e9": 1, "e\u0301": 2}),
    (b"1.000000000000000005", 1.0),
    (b"123.456e2", 12345.6),
    (rb'"\uD834\uDD1E\u0041"', "\U0001d11eA"),
    (rb'"\uFFFF\uFDD0"', "\uffff\ufdd0"),
    (rb'{"\u000c":"\u001f"}', {"\f": "\x1f"}),
]

REFUSED = [
    # Not JSON at all.
    ("malformed", b""),
    ("malformed", b" "),
    ("malformed", b"[1] 2"),
    ("malformed", b"[1,]"),
    ("malformed", b'{"a":1,}'),
    ("malformed", b"{a:1}"),
    ("malformed", b"{'a':1}"),
    ("malformed", b'{"a" 1}'),
    ("malformed", b"[1 2]"),
    ("malformed", b"// a\n1"),
    ("malformed", b"[1]/* a */"),
    ("malformed", b"01"),
    ("malformed", b"+1"),
    ("malformed", b".5"),
    ("malformed", b"1."),
    ("malformed", b"1e"),
    ("malformed", b"0x10"),
    ("malformed", b"NaN"),
    ("malformed", b"[Infinity]"),
    ("malformed", b"-Infinity"),
    ("malformed", b"True"),
    ("malformed", b"nul"),
    ("malformed", b'"a'),
    ("malformed", b'"\\'),
    ("malformed", b'"\\x"'),
    ("malformed", b'"\\u12"'),
    ("malformed", b'"a\nb"'),
    ("malformed", b'"\x00"'),
    ("malformed", b"\x00"),
    ("malformed", b"\xef\xbb\xbf"),
    ("malformed", b"\xef\xbb\xbf\xef\xbb\xbf1"),
    ("malformed", b"\xc2\xa01"),
    ("malformed", b"["),
    ("malformed", b"]["),
    ("malformed", b"}" * 100 + b"[" * 100),
    ("malformed", "[1]".encode("utf-16-le")),
    # Signs, points and exponents out of place.
    *(
        ("malformed", f"[{number}]".encode())
        for number in (
            "-",
            "--1",
            "-01",
            "-2.",
            "-.5",
            "0e",
            "0e+",
            "1e+-2",
            "1eE2",
            "1.2.3",
            "1-2",
            "1 000",
            "0b1",
            "1_000",
            "\uff11",
            "-NaN",
            "1+1",
            "0x",
            "1ea",
            "Inf",
            "-x",
            "5\u200b",
        )
    ),
    # Commas and colons out of place.
    *(
        ("malformed", text.encode())
        for text in (
            "[,]",
            "[,1]",
            "[1,,2]",
            "[1:2]",
            "[1;2]",
            "{,}",
            '{"a"}',
            '{"a":}',
            "{:1}",
            '{"a"::1}',
            '{"a":1,,"b":2}',
            '{"a",1}',
            "{1:1}",
            "{null:1}",
            '{"a":1 "b":2}',
            '{"a":1}}',
            '{"a":1}#',
            "[1]]",
            "[1}",
            '{"a":1]',
            "[1",
            '{"a":1',
            '{"a',
            "{[]:1}",
            "[][]",
            "1,",
            ",1",
            "{}{}",
        )
    ),
    # Strings and words that are none, and spaces that JSON does not know.
    *(
        ("malformed", text.encode())
        for text in (
            '"\\a"',
            '"\\u00A"',
            '"\\U0041"',
            '"\\u004g"',
            '"\\\t"',
            '"a\tb"',
            '"\x1f"',
            "a",
            "'a'",
            '["a]',
            '["a"b"]',
            r'["\"]',
            "\u201ca\u201d",
            "tru",
            "truth",
            "nulll",
            "[TRUE]",
            "undefined",
            "<null>",
            "[\f]",
            "[\v1]",
            "\u20601",
            "[1\u00a0]",
            "#1\n2",
            "/**/",
            "{}//",
            "@",
        )
    ),
    # The same member twice, however it is spelled.
    ("duplicate", b'{"a":1,"a":1}'),
    ("duplicate", b'[{"x":{"a":1,"b":2,"a":3}}]'),
    ("duplicate", rb'{"a":1,"\u0061":2}'),
    ("duplicate", rb'{"\ud800":1,"\ud800":2}'),
    # Not UTF-8, or nothing that every store can keep.
    ("encoding", b"\xff\xfe[\x001\x00]\x00"),
    ("encoding", "[1]".encode("utf-32")),
    ("encoding", b'"\xc0\x80"'),
    ("encoding", b'"\xe9"'),
    ("encoding", b'"\xed\xa0\x80"'),
    ("encoding", b'"\xf4\x90\x80\x80"'),
    ("encoding", rb'"\u0000"'),
    ("encoding", rb'{"a\u0000":1}'),
    ("encoding", rb'[[["a\u0000"]]]'),
    ("encoding", rb'"\ud800"'),
    ("encoding", rb'"\udc00\ud800"'),
    ("encoding", rb'{"\udfff":1}'),
    ("encoding", rb'"\\\ud800"'),
    # Numbers that a double does not hold.
    ("number", str(NUMBER_MAX + 1).encode()),
    ("number", str(-NUMBER_MAX - 1).encode()),
    ("number", b"9007199254740992.0"),
    ("number", b"1e20"),
    ("number", b"[-1e400]"),
    ("number", b"1" * 5_000),
    ("number", b"-" + b"1" * 5_000),
    # Deeper than anything the service takes.
    ("too-deep", b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1)),
    ("too-deep", b"[" * 100_000),
    ("too-deep", b'{"a":' * 100_000),
    ("too-deep", b'["]]]",' * 100_000),
    ("too-deep", b'["\\"]",' * 100),
]


@pytest.mark.parametrize(("body", "value"), ACCEPTED)
def test_what_rfc_8259_allows_is_read(body: bytes, value: wire.Json) -> None:
    read = wire.decode_json(body)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(("kind", "body"), REFUSED, ids=lambda value: repr(value)[:40])
def test_what_breaks_a_rule_is_refused_for_that_rule(kind: str, body: bytes) -> None:
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

"""Lines: their bytes, their grammar, and what may be sealed in them."""

import json
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.ledger import records
from svc_core.ledger.records import decode, encode_line, head_text, payload_bytes, split_line

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
LINES = [line.encode() for line in VECTORS["lines"]]
VECTOR_ROWS = list(zip(LINES, VECTORS["heads"], VECTORS["seals"], strict=True))

BIG = 2.0**53
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | TEXTS | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(("line", "head", "seal"), VECTOR_ROWS)
def test_a_line_comes_apart_and_together_again(line, head, seal):
    parts = split_line(line)
    record = decode(line)
    assert (parts.head.decode(), parts.seal.decode()) == (head, seal)
    members = (*record[:10], record.payload_hash, record.prev, record.ledger)
    assert head_text(*members).encode() == parts.head
    assert payload_bytes(record.payload) == parts.payload
    assert encode_line(parts.head, parts.payload, record.seal) == line
    assert records.HEAD.fullmatch(parts.head)


@pytest.mark.parametrize("line", LINES)
def test_a_line_is_rfc_8785_from_end_to_end(line):
    assert rfc8785.dumps(json.loads(line)) == line


@pytest.mark.parametrize("line", LINES)
def test_a_record_has_the_members_of_its_head(line):
    record, head = decode(line), json.loads(line)["head"]
    names = {
        "seq": record.seq,
        "id": record.id,
        "kind": record.kind,
        "op": record.op,
        "subject": record.subject,
        "target": record.target,
        "recordedAt": record.recorded_at,
        "validFrom": record.valid_from,
        "validTo": record.valid_to,
        "author": record.author,
        "payloadHash": record.payload_hash,
        "prev": record.prev,
        "ledger": record.ledger,
        "v": 1,
    }
    assert names == head
    assert record.payload == json.loads(line)["payload"]


def test_an_erased_payload_leaves_head_and_seal():
    parts = split_line(LINES[3])
    line = encode_line(parts.head, None, parts.seal.decode())
    assert split_line(line) == parts._replace(payload=b"null")
    assert decode(line) == decode(LINES[3])._replace(payload=None)


LINE = LINES[3]
DAMAGES = {
    "nothing": b"",
    "no head": LINE.replace(b'{"head":', b'{"heat":'),
    "no payload": LINE.replace(b',"payload":', b',"pay_load":'),
    "an empty payload": LINE.replace(split_line(LINE).payload, b""),
    "no seal": LINE.replace(b',"seal":', b',"real":'),
    "an upper case seal": LINE[:-66] + LINE[-66:-2].upper() + LINE[-2:],
    "a cut end": LINE[:-1],
    "a line feed": LINE + b"\n",
    "another end": LINE[:-2] + b'")',
    "only its tail": LINE[-80:],
    "too many bytes": LINE.replace(b'"Zug"', b'"%s"' % (b"Z" * records.LINE_BYTES_MAX)),
    "a head with a space": LINE.replace(b'"seq":3', b'"seq": 3'),
    "a number with a zero": LINE.replace(b'"seq":3', b'"seq":03'),
    "a month of its own": LINE.replace(b"2026-01-05T", b"2026-13-05T"),
    "a kind of its own": LINE.replace(b'"kind":"claim"', b'"kind":"clame"'),
    "a head that is not ASCII": LINE.replace(b"key_analyst1", "key_änalyst1".encode()),
    "a payload that is no object": LINE.replace(split_line(LINE).payload, b"[]"),
    "a payload that is no JSON": LINE.replace(split_line(LINE).payload, b"{]"),
    "a payload with NaN": LINE.replace(b":70", b":NaN"),
    "a payload that is no UTF-8": LINE.replace(b"Zug", b"Z\xffg"),
    "a payload without end": LINE.replace(split_line(LINE).payload, b"[" * 30_000),
}


@pytest.mark.parametrize("line", DAMAGES.values(), ids=DAMAGES)
def test_what_is_no_line_is_not_decoded(line):
    assert line != LINE
    with pytest.raises(ValueError, match=r"."):
        decode(line)


def tower(levels, leaf=None):
    value = leaf
    for _ in range(levels - 1):
        value = [value]
    return {"value": value}


BAD_PAYLOADS = [
    # payload, code
    ({"text": "x" * 60_000}, "RECORD_TOO_LARGE"),
    (tower(16, leaf=[]), "RECORD_TOO_LARGE"),
    (tower(65), "RECORD_TOO_LARGE"),
    ({"value": {"inner": [BIG]}}, "NUMBER_PRECISION"),
    ({"value": -1e20}, "NUMBER_PRECISION"),
    ({"value": (1e16,)}, "NUMBER_PRECISION"),
    ({"value": 2**53}, "NUMBER_PRECISION"),
    ({"value": float("nan")}, "NUMBER_PRECISION"),
    ({"value": "\ud800"}, "VALIDATION_FAILED"),
    ({"value": {1: 2}}, "VALIDATION_FAILED"),
]


@pytest.mark.parametrize(("payload", "code"), BAD_PAYLOADS, ids=range(len(BAD_PAYLOADS)))
def test_a_payload_that_would_not_come_back_is_refused(payload, code):
    with pytest.raises(Problem) as refusal:
        payload_bytes(payload)
    assert refusal.value.type.code == code
    assert refusal.value.detail.startswith(("(body): ", "/"))


GOOD_PAYLOADS = [
    {"text": "x" * (60_000 - len('{"text":""}'))},
    tower(15, leaf=[]),
    {"text": "[[[[[[[[[[[[[[[[[[[[[["},
    {"text": "90071992547409921234", "value": 1e21},
    {"value": 2**53 - 1, "other": BIG - 1},
    {"value": [[1], {"a": 2}] * 9},
]


@pytest.mark.parametrize("payload", GOOD_PAYLOADS, ids=range(len(GOOD_PAYLOADS)))
def test_a_payload_at_the_limits_is_kept(payload):
    assert payload_bytes(payload) == rfc8785.dumps(payload)


@pytest.mark.parametrize("case", VECTORS["jcs"], ids=lambda case: case["text"])
def test_payloads_keep_to_the_vectors(case):
    value = json.loads(case["text"])
    payload = value if isinstance(value, dict) else {"a": value}
    if case["hex"] is None:
        with pytest.raises(Problem):
            payload_bytes(payload)
    else:
        content = bytes.fromhex(case["hex"])
        expected = content if payload is value else b'{"a":%b}' % content
        assert payload_bytes(payload) == expected


def floats_in(value):
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from floats_in(item)


def is_wide(number):
    return 2**53 <= abs(number) < 1e21


@given(st.dictionaries(TEXTS, JSON, max_size=5))
def test_reading_and_writing_an_accepted_payload_gives_the_same_bytes(payload):
    if any(is_wide(number) for number in floats_in(payload)):
        with pytest.raises(Problem):
            payload_bytes(payload)
        return
    content = payload_bytes(payload)
    assert payload_bytes(json.loads(content)) == content


@given(st.integers(0, len(LINE) - 1), st.integers(1, 255))
def test_an_altered_line_is_refused_or_another_record(at, flip):
    mutant = LINE[:at] + bytes([LINE[at] ^ flip]) + LINE[at + 1 :]
    try:
        record = decode(mutant)
    except ValueError:
        return
    assert record != decode(LINE)

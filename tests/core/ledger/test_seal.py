"""Sealing: the vectors again, record time, and what one append promises."""

import json
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log import record_seals as seal
from svc_core.ledger.log import tree
from svc_core.ledger.log.record_seals import TreeHead, next_time, seal_batch
from svc_core.ledger.records import HEAD, Draft, decode, split_line

VECTORS = json.loads(Path("tests/data/ledger/vectors.json").read_text("utf-8"))
RECORDS = [decode(line.encode()) for line in VECTORS["lines"]]
EMPTY = TreeHead.empty(VECTORS["ledger"])
NOW = "2026-01-05T09:00:00.000000Z"

DRAFT = Draft(
    kind="claim",
    op="assert",
    subject="sbj_a9b3c182b699604db136482f",
    target=None,
    valid_from=None,
    valid_to=None,
    author="key_analyst1",
    payload={"predicate": "status", "value": "open", "salt": "5R3v_y-BjxU0sxsRWEweog"},
)


def draft_of(record):
    opens = record.kind == "subject" and record.op == "assert"
    return Draft(
        kind=record.kind,
        op=record.op,
        subject=None if opens else record.subject,
        target=record.target,
        valid_from=record.valid_from,
        valid_to=record.valid_to,
        author=record.author,
        payload=record.payload,
    )


def test_the_vectors_are_sealed_byte_for_byte():
    head, lines = EMPTY, []
    for time, batch in groupby(RECORDS, key=lambda record: record.recorded_at):
        batch_ = seal_batch(head, [draft_of(record) for record in batch], time)
        head = batch_.head
        lines += batch_.lines
        assert [hash_.hex() for hash_ in head.frontier] == VECTORS["frontiers"][head.size]
        assert head.root.hex() == VECTORS["roots"][head.size]
    assert [line.decode() for line in lines] == VECTORS["lines"]


def test_hashes_are_those_of_the_vectors():
    assert seal.genesis(VECTORS["ledger"]) == VECTORS["genesis"]
    for head, expected in zip(VECTORS["heads"], VECTORS["seals"], strict=True):
        assert seal.seal_of(head.encode()) == expected
    for line, record, expected in zip(
        VECTORS["lines"], RECORDS, VECTORS["payloadHashes"], strict=True
    ):
        assert (
            seal.payload_hash(split_line(line.encode()).payload) == expected == record.payload_hash
        )
        assert seal.record_id(record.kind, expected) == record.id


def test_an_empty_ledger_has_its_genesis_for_a_seal():
    assert EMPTY.seal == VECTORS["genesis"]
    assert EMPTY.root.hex() == VECTORS["emptyRoot"]
    assert EMPTY.tag == f"0-{VECTORS['genesis'][:16]}"
    assert EMPTY.recorded_at is None


def test_the_tag_names_size_and_seal():
    head = seal_batch(EMPTY, [DRAFT, evolve(DRAFT, kind="observation")], NOW).head
    assert head.tag == f"2-{head.seal[:16]}"


TIMES = [
    # last record time, clock, record time
    (None, NOW, NOW),
    ("2026-01-05T08:59:59.999999Z", NOW, NOW),
    (NOW, NOW, "2026-01-05T09:00:00.000001Z"),
    ("2026-12-31T23:59:59.999999Z", NOW, "2027-01-01T00:00:00.000000Z"),
    ("2026-01-05T09:00:00.000001Z", "0001-01-01T00:00:00.000000Z", "2026-01-05T09:00:00.000002Z"),
]


@pytest.mark.parametrize(("last", "now", "expected"), TIMES)
def test_record_time_is_later_than_all_before(last, now, expected):
    assert next_time(evolve(EMPTY, recorded_at=last), now) == expected


def test_an_append_of_nothing_changes_nothing():
    assert seal_batch(EMPTY, [], NOW) == ((), (), (), (), EMPTY)


UNFIT = {
    "an author with a quote": evolve(DRAFT, author='a","id":"x'),
    "an author with a space": evolve(DRAFT, author="a b"),
    "no author": evolve(DRAFT, author=""),
    "a long author": evolve(DRAFT, author="a" * 129),
    "a claim without a subject": evolve(DRAFT, subject=None),
    "a subject of another form": evolve(DRAFT, subject="sbj_1"),
    "a target of another form": evolve(DRAFT, target="clm_1"),
    "an instant of another form": evolve(DRAFT, valid_from="2026-01-05T09:00:00Z"),
    "an end of another form": evolve(DRAFT, valid_to="tomorrow"),
    "an unknown operation": evolve(DRAFT, op="forget"),
}


@pytest.mark.parametrize("draft", UNFIT.values(), ids=UNFIT)
def test_no_head_outside_the_grammar_is_sealed(draft):
    with pytest.raises(ValueError, match=r"^Draft 1 does not make a head of the grammar\.$"):
        seal_batch(EMPTY, [DRAFT, draft], NOW)


def test_an_unfit_draft_is_named_by_its_place_in_the_batch():
    head = seal_batch(EMPTY, [DRAFT], NOW).head
    with pytest.raises(ValueError, match="Draft 0 "):
        seal_batch(head, [evolve(DRAFT, subject="sbj_1")], NOW)


NO_HEADS = [
    b"",
    b"{}",
    b"[]",
    b"\xff",
    EMPTY.encode().replace(b'"size":0', b'"size":1'),
    EMPTY.encode().replace(b'"size":0', b'"size":"0"'),
    EMPTY.encode()
    .replace(b'"frontier":[],', b'"frontier":["00"],')
    .replace(b'"size":0', b'"size":1'),
]


@pytest.mark.parametrize("data", NO_HEADS)
def test_bytes_that_are_no_head_are_refused(data):
    with pytest.raises(ValueError, match=r"."):
        TreeHead.decode(data)


SALTS = st.integers(0, 2**96).map(lambda number: f"{number:022d}")
INSTANTS = st.none() | st.datetimes().map(lambda at: f"{at.isoformat(timespec='microseconds')}Z")
DRAFTS = st.builds(
    lambda salt, kind, start, end, author: Draft(
        kind, "assert", DRAFT.subject, None, start, end, author, {"salt": salt}
    ),
    SALTS,
    st.sampled_from(["designator", "observation", "claim"]),
    INSTANTS,
    INSTANTS,
    st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1).filter(
        lambda name: not set(name) & {'"', "\\"}
    ),
)


@given(st.lists(st.lists(DRAFTS, min_size=1, max_size=5), max_size=4))
def test_every_batch_continues_chain_tree_and_time(batches):
    head, records, lines, seals = EMPTY, [], [], []
    for drafts in batches:
        batch = seal_batch(head, drafts, NOW)
        assert {record.recorded_at for record in batch.records} == {batch.head.recorded_at}
        assert batch.head.recorded_at > (head.recorded_at or "")
        records += batch.records
        lines += batch.lines
        seals += batch.seals
        head = TreeHead.decode(batch.head.encode())
        assert head == batch.head
    assert [record.seq for record in records] == list(range(head.size))
    assert [decode(line) for line in lines] == records
    assert all(HEAD.fullmatch(split_line(line).head) for line in lines)
    assert head.root == tree.root(tree.extend((), 0, seals))
    chain = [EMPTY.seal, *(record.seal for record in records)]
    assert [record.prev for record in records] == chain[:-1]
    assert head.seal == chain[-1]
    for line, leaf in zip(lines, seals, strict=True):
        assert sha256(b"\x00" + split_line(line).head).digest() == leaf


@given(st.lists(DRAFTS, min_size=1, max_size=8), st.integers(0, 8))
def test_the_tree_does_not_depend_on_how_records_were_batched(drafts, at):
    whole = seal_batch(EMPTY, drafts, NOW)
    # One record time for both parts, as if they had been one batch: the seals cover it.
    first = seal_batch(EMPTY, drafts[:at], NOW).head
    again = seal_batch(evolve(first, recorded_at=None), drafts[at:], NOW)
    assert again.head.frontier == whole.head.frontier

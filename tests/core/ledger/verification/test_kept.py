"""Verdicts that were given once: each says the same of the same lines, in the same words."""

from collections.abc import Iterator
from typing import Any

import pytest

from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, parse
from svc_core.ledger.log.seal import TreeHead, seal_of
from svc_core.ledger.records import LINE_BYTES_MAX, encode_line, split
from svc_core.ledger.verify.verify import verify

OTHER = "led_ffffffffffffffffffffffff"
HELD = ({}, {"level": "integrity"})


def resealed(line: bytes, old: bytes, new: bytes) -> bytes:
    parts = split(line)
    head = parts.head.replace(old, new, 1)
    return encode_line(head, parts.payload, seal_of(head))


def edits(line: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """What may stand in the place of a line."""
    seal = split(line).seal
    yield "head", [line.replace(b'"author":"', b'"author":"x')]
    yield "head beyond the grammar", [line.replace(b'"author":"', b'"author":" ')]
    yield "seal", [line.replace(seal, bytes(reversed(seal)))]
    yield "seal without digits", [line.replace(seal, b"x" * 64)]
    yield "payload", [line.replace(b'"salt":"0', b'"salt":"1')]
    yield "payload gone", [encode_line(split(line).head, None, seal.decode())]
    yield "head sealed again", [resealed(line, b'"author":"', b'"author":"x')]
    yield "time sealed again", [resealed(line, b'"recordedAt":"2026', b'"recordedAt":"2025')]
    yield "ledger sealed again", [resealed(line, b"led_0123456789abcdef01234567", OTHER.encode())]
    prev = b'"prev":"' + split(line).head.partition(b'"prev":"')[2][:64]
    yield "chain sealed again", [resealed(line, prev, b'"prev":"' + b"0" * 64)]
    yield "number sealed again", [resealed(line, b'"seq":', b'"seq":7')]
    yield "white space", [line.replace(b'"v":1', b'"v": 1')]
    yield "form and content", [line.replace(b'"author":"', b'"author":"x') + b"\r"]
    yield "gone", []
    yield "twice", [line, line]
    yield "fork", [line, resealed(line, b'"author":"', b'"author":"x')]
    yield "empty", [b""]
    yield "no line", [b"rubbish"]
    yield "too long", [b" " * LINE_BYTES_MAX + line]


def following(lines: list[bytes]) -> Iterator[tuple[str, list[bytes]]]:
    """A line that was sealed again, and the next one changed to follow it."""
    for name, old, new in (
        ("number", b'"seq":4,', b'"seq":9,'),
        ("author", b'"author":"', b'"author":"x'),
    ):
        line = resealed(lines[4], old, new)
        told, seal = split(lines[4]).seal, split(line).seal
        for how, after in (
            ("altered", lines[5].replace(b'"prev":"' + told, b'"prev":"' + seal)),
            ("sealed again", resealed(lines[5], b'"prev":"' + told, b'"prev":"' + seal)),
        ):
            yield f"{name} sealed again, the next {how}", [*lines[:4], line, after, *lines[6:]]


def cases(make_log: Any) -> Iterator[tuple[str, list[bytes], dict[str, Any]]]:
    log = make_log(9)
    lines = list(log.lines)
    anchors = {"anchors": [log.anchor]}
    for at in (0, 4, 8):
        for name, made in edits(lines[at]):
            edited = [*lines[:at], *made, *lines[at + 1 :]]
            yield f"{name} at {at}", edited, {}
            yield f"{name} at {at}, held", edited, anchors
    for name, made in following(lines):
        yield name, made, {}
        yield f"{name}, held", made, anchors
    head = log.heads[5]
    yield "intact", lines, {}
    yield "intact, held", lines, anchors
    yield "nothing", [], {}
    yield "nothing, held", [], anchors
    yield "the end cut off", lines[:6], anchors
    yield "a part", lines[5:], {"start": head}
    yield "a part of nothing", [], {"start": head}
    yield "a part that does not follow", lines[6:], {"start": head}
    yield "a part of another history", lines[5:], {"start": make_log(9, offset=50).heads[5]}
    yield "a part of another ledger", lines[5:], {"start": TreeHead.empty(OTHER)}
    yield (
        "a part, held by what it does not continue",
        lines[5:],
        {
            "start": head,
            "anchors": [(5, bytes(32)), log.anchor],
        },
    )
    yield "another ledger", lines, {"ledger": OTHER}
    yield "swapped", [*lines[:3], lines[5], lines[4], lines[3], *lines[6:]], {}
    yield "some later, some never", [*lines[:2], *lines[5:], lines[3]], {}
    yield "twice, long after", [*lines, lines[2]], anchors
    yield "its place taken by rubbish", [*lines[:2], b"?", *lines[3:], lines[2]], {}
    yield "two roots of one size", lines, {"anchors": [(9, bytes(32)), log.anchor]}
    yield "another root", lines, {"anchors": [(7, bytes(32)), log.root(5)]}
    yield "two faults", [lines[0], b"", *lines[2:7], lines[8]], anchors
    yield "all altered", [line.replace(b'"author":"', b'"author":"x') for line in lines], anchors


@pytest.mark.parametrize("held", HELD, ids=["strict", "integrity"])
def test_a_verdict_is_the_kept_one_word_for_word(
    make_log: Any, told_whole: Any, kept: Any, held: dict[str, Any]
) -> None:
    told = [
        f"{name}\n{told_whole(verify(lines, **given, **held))}"
        for name, lines, given in cases(make_log)
    ]
    kept(f"verdicts-{held.get('level', 'all')}.txt", "\n".join(told))


def test_a_verdict_on_what_others_hold_is_the_kept_one(
    vectors: Any, told_whole: Any, kept: Any
) -> None:
    lines = [line.encode() for line in vectors["lines"]]
    vkey, signed = vectors["logKey"]["vkey"], vectors["checkpoints"]["8"]
    receipt = vectors["receipt"]["text"]
    notes = {
        "nothing": "",
        "no UTF-8": b"\xff",
        "no size": signed.replace("\n8\n", "\n08\n"),
        "another size": signed.replace("\n8\n", "\n7\n"),
        "no signature": signed.partition("\n\n")[0] + "\n",
        "no end": signed[:-1],
        "of another signer": sign(
            Checkpoint.parse(parse(signed).text), Ed25519Signer.from_seed(b"f" * 32)
        ),
        "it": signed,
    }
    told = [
        f"checkpoint: {name}\n{told_whole(verify(lines, checkpoints=[text], vkey=vkey))}"
        for name, text in notes.items()
    ]
    for name, text in {
        "no proof": "c2sp.org/tlog-proof",
        "another record": receipt.replace("\nindex 3\n", "\nindex 2\n"),
        "beyond": receipt.replace("\nindex 3\n", "\nindex 99\n"),
        "it": receipt,
    }.items():
        told.append(f"receipt: {name}\n{told_whole(verify(lines, receipts=[text], vkey=vkey))}")
    kept("verdicts-evidence.txt", "\n".join(told))

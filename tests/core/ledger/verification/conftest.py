"""Logs to verify, made by sealing, and the outcome in short."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft, encode_line, split_line
from svc_core.ledger.verify.outcome import VerificationOutcome

LEDGER = "led_0123456789abcdef01234567"
OTHER_LEDGER = "led_ffffffffffffffffffffffff"


@frozen
class Log:
    """Sealed lines with the tree head after each; `heads[n]` is the one over n lines."""

    lines: tuple[bytes, ...]
    heads: tuple[TreeHead, ...]

    @property
    def anchor(self) -> tuple[int, bytes]:
        """The root over all lines."""
        return len(self.lines), self.heads[-1].root

    def root(self, size: int) -> tuple[int, bytes]:
        return size, self.heads[size].root


def _draft(number: int, ids: Sequence[str], subject: str | None) -> Draft:
    """Every kind and operation in turn; the text makes lines of different length."""
    salt = f"{number:022d}"
    day = f"2020-01-{number % 27 + 1:02d}T00:00:00.000000Z"
    if subject is None:
        payload: dict[str, Any] = {"label": f"Müller {number}", "salt": salt, "type": "person"}
        return Draft("subject", "assert", None, None, None, None, "key_a", payload)
    turn = number % 5
    if turn == 1:
        payload = {"salt": salt, "scheme": "name", "value": "x" * (number % 40)}
        return Draft("designator", "assert", subject, None, day, None, "key_a", payload)
    if turn == 2 and ids[-1].startswith("clm"):
        payload = {"evidence": [], "method": "call", "salt": salt, "state": "verified"}
        return Draft("claim", "verify", subject, ids[-1], None, None, "usr_b~{}", payload)
    payload = {"confidence": number % 101, "predicate": "seat", "salt": salt, "value": "Zürich 😀"}
    target = ids[-1] if turn == 3 and ids[-1].startswith("clm") else None
    op: Any = "amend" if target else "assert"
    return Draft("claim", op, subject, target, None, day, "key_" + "c" * (number % 9), payload)


def grow(count: int, ledger: str = LEDGER, offset: int = 0) -> Log:
    """A log of `count` records of one subject, in batches of one to three."""
    head = TreeHead.empty(ledger)
    lines: list[bytes] = []
    heads = [head]
    ids: list[str] = []
    while len(lines) < count:
        number = len(lines) + offset
        drafts = [_draft(number, ids or [""], ids[0] if ids else None)]
        minute = f"2026-01-05T{number // 60 % 24:02d}:{number % 60:02d}:00.000000Z"
        batch = seal_batch(head, drafts, minute)
        head = batch.head
        lines += batch.lines
        heads.append(head)
        ids += [record.id for record in batch.records]
    return Log(tuple(lines), tuple(heads))


def erase(log: Log, number: int) -> Log:
    """The log after record `number` was erased: its payload is null and a record says so."""
    head = log.heads[-1]
    line = json.loads(log.lines[number])["head"]
    payload = {"reason": "request", "salt": "e" * 22}
    draft = Draft(line["kind"], "erase", line["subject"], line["id"], None, None, "key_a", payload)
    batch = seal_batch(head, [draft], "2027-01-01T00:00:00.000000Z")
    lines = list(log.lines)
    lines[number] = nulled(lines[number])
    return Log((*lines, *batch.lines), (*log.heads, batch.head))


def nulled(line: bytes) -> bytes:
    """The line without its payload."""
    parts = split_line(line)
    return encode_line(parts.head, None, parts.seal.decode())


def faults_told(outcome: VerificationOutcome) -> list[tuple[str, int | None]]:
    """The codes and lines of the faults."""
    return [(fault.code, fault.line) for fault in outcome.faults]


@pytest.fixture(scope="session")
def make_log() -> Callable[..., Log]:
    return grow


@pytest.fixture(scope="session")
def make_erased() -> Callable[[Log, int], Log]:
    return erase


@pytest.fixture(scope="session")
def without_payload() -> Callable[[bytes], bytes]:
    return nulled


@pytest.fixture(scope="session")
def faults_of() -> Callable[[VerificationOutcome], list[tuple[str, int | None]]]:
    return faults_told


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    path = Path(__file__).parents[3] / "data" / "ledger" / "vectors.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content

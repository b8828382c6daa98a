"""Verifying an export of the ledger: beside the hashes it cannot do without, and a naive verifier.

Prints each rate with its goal and exits 3 when one was missed:

- the hashes alone: SHA-256 of head, payload and tree node of each line, cut beforehand;
- the naive verifier: `json.loads`, `rfc8785.dumps` of head and payload and their SHA-256, line by
  line, without a tree;
- memory: a million lines (with `--quick` 50,000), written to a temporary folder and read in blocks;
  what is counted is the growth of the process's peak.

Needs `rfc8785`.
"""

import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import rfc8785
from outcome import close_run, is_quick

from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft, split_line
from svc_core.ledger.verify.log_verification import line_chunks, verify_export, verify_log

BLOCK_BYTES = 1 << 18
LINES = 16_384
SHARE_OF_HASHES = 0.40
TIMES_NAIVE = 10.0
MEMORY_MB = 50.0


def sealed_lines(count: int) -> Iterator[tuple[bytes, ...]]:
    """A ledger's lines, 512 at a time: one subject in a hundred records, each tenth an outcome."""
    head = TreeHead.empty("led_0123456789abcdef01234567")
    subject = target = ""
    for start in range(0, count, 512):
        drafts = []
        for number in range(start, min(start + 512, count)):
            salt = f"{number:022d}"
            if not subject:
                payload = {"label": "Example Shipping AG", "salt": salt, "type": "organization"}
                drafts.append(Draft("subject", "assert", None, None, None, None, "key_a", payload))
                break
            is_verdict = number % 10 == 0 and target
            payload = {
                "confidence": 70,
                "evidence": ["obs_30b8bebfd75d9bad322112f4"],
                "predicate": "headquarters",
                "salt": salt,
                "value": {"city": "Zürich", "country": "CH"},
            }
            drafts.append(
                Draft("claim", "verify", subject, target, None, None, "key_analyst2", payload)
                if is_verdict
                else Draft("claim", "assert", subject, None, None, None, "key_analyst1", payload)
            )
        batch = seal_batch(head, drafts, "2026-01-05T09:00:00.000000Z")
        head = batch.head
        subject = subject or batch.records[0].id
        target = batch.records[-1].id if len(batch.records) > 1 else ""
        yield batch.lines


def hashes(lines: list[bytes]) -> float:
    """Seconds for the three hashes of each line."""
    parts = [split_line(line) for line in lines]
    heads = [b"\0" + part.head for part in parts]
    payloads = [part.payload for part in parts]
    nodes = [b"\1" + bytes(64)] * len(lines)
    began = perf_counter()
    for row in (heads, payloads, nodes):
        _ = [sha256(content).digest() for content in row]
    return perf_counter() - began


def naive(lines: list[bytes]) -> float:
    """Seconds for a verifier as one would write it first."""
    began = perf_counter()
    prev = ""
    for number, line in enumerate(lines):
        record = json.loads(line)
        head = record["head"]
        content = rfc8785.dumps(record["payload"])
        assert sha256(content).hexdigest() == head["payloadHash"]
        assert sha256(b"\0" + rfc8785.dumps(head)).hexdigest() == record["seal"]
        assert head["seq"] == number
        assert not prev or head["prev"] == prev
        prev = record["seal"]
    return perf_counter() - began


def verify_rate(lines: list[bytes], level: str) -> float:
    began = perf_counter()
    outcome = verify_log(lines, level=level)
    took = perf_counter() - began
    assert outcome.ok
    return took


def blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            yield block


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stream(path: Path, level: str, count: int) -> tuple[float, float]:
    """Seconds, and megabytes that the process grew by."""
    before, began = peak_mb(), perf_counter()
    outcome = verify_export(lambda: blocks(path), level=level)
    took = perf_counter() - began
    assert outcome.ok
    assert outcome.size == count
    return took, peak_mb() - before


def row(name: str, rate: float, goal: float, *, at_most: bool = False) -> bool:
    is_met = rate <= goal if at_most else rate >= goal
    sign = "<=" if at_most else ">="
    print(f"{name:<58}{rate:>9.2f}  {sign} {goal:<6} {'PASS' if is_met else 'FAIL'}")
    return is_met


def main() -> int:
    quick = is_quick()
    count, rounds = (50_000, 3) if quick else (1_000_000, 7)
    verdicts, memory = [], list[float]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "export.ndjson"
        with path.open("wb") as file:
            count_written = 0
            for lines in sealed_lines(count * 2):
                prefix = lines[: count - count_written]
                file.write(b"".join(line + b"\n" for line in prefix))
                count_written += len(prefix)
                if count_written == count:
                    break
        # The peak of a process never falls, so that the large file comes first.
        warm = next(line_chunks(blocks(path)))
        verify_rate(warm, "integrity"), verify_rate(warm, "strict")
        for level in ("integrity", "strict"):
            took, growth = stream(path, level, count)
            print(f"{count} lines, {path.stat().st_size >> 20} MiB, {level}: {count / took:,.0f}/s")
            memory.append(growth)
            verdicts.append(
                row(f"memory for {count} lines, {level}, MB", growth, MEMORY_MB, at_most=True)
            )
        sample = [line for chunk in line_chunks(blocks(path)) for line in chunk][:LINES]
    times = [
        (
            hashes(sample),
            verify_rate(sample, "integrity"),
            verify_rate(sample, "strict"),
            naive(sample),
        )
        for _ in range(rounds)
    ]
    limit, fast, strict, slow = map(min, zip(*times, strict=True))
    for name, took in (("hashes", limit), ("integrity", fast), ("strict", strict), ("naive", slow)):
        print(f"{name:<12}{LINES / took:>12,.0f} lines/s")
    verdicts.append(
        row("integrity, share of the rate of its hashes", limit / fast, SHARE_OF_HASHES)
    )
    verdicts.append(row("integrity, times as fast as the naive verifier", slow / fast, TIMES_NAIVE))
    figure = (
        f"{limit / fast:.2f}; {slow / fast:.1f} times; {max(memory):.0f} MB for {count:,} lines"
    )
    return close_run(all(verdicts), figure)


if __name__ == "__main__":
    sys.exit(main())

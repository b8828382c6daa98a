"""Sealing, reading and growing the ledger: records a second of CPU time, in one process.

Needs `pymerkle`. Prints one row a case: name, rate, goal, PASS or FAIL; exits 3 on a miss. The best
round counts, because other work on the machine slows a round and never speeds one up. The tree and
its rival append the same entries, the heads, in the same batches; both hash the leaves.
"""

import gc
import sys
from collections import deque
from hashlib import sha256
from time import process_time

import pymerkle
from outcome import close_run, is_quick

from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.log.tree import Frontier, extend, root
from svc_core.ledger.records import Draft, decode, split_line

LINE_BYTES = 829
BATCH = 100  # what one append may carry
NOW = "2026-01-05T09:00:00.000000Z"
EMPTY = TreeHead.empty("led_0123456789abcdef01234567")


def draft(number: int) -> Draft:
    """A claim with a sentence, a source and a value of its own; its line has `LINE_BYTES`."""
    payload = {
        "confidence": 70,
        "evidence": ["obs_30b8bebfd75d9bad322112f4"],
        "predicate": "headquarters",
        "salt": f"5R3v_y-BjxU0s-{number:08d}",
        "source": {"publisher": "Example Gazette", "url": "https://news.example/a/1?x=1"},
        "statement": "The seat is Zug, by the register.",
        "value": {"city": "Zug", "country": "CH"},
    }
    subject = "sbj_a9b3c182b699604db136482f"
    start = "2019-01-01T00:00:00.000000Z"
    return Draft("claim", "assert", subject, None, start, None, "key_analyst1", payload)


def append(drafts: list[Draft]) -> list[bytes]:
    """Seal all, `BATCH` at a time."""
    head, lines = EMPTY, []
    for at in range(0, len(drafts), BATCH):
        batch = seal_batch(head, drafts[at : at + BATCH], NOW)
        head = batch.head
        lines += batch.lines
    return lines


def grow(entries: list[bytes]) -> bytes:
    frontier: Frontier = ()
    for at in range(0, len(entries), BATCH):
        leaves = [sha256(b"\x00" + entry).digest() for entry in entries[at : at + BATCH]]
        frontier = extend(frontier, at, leaves)
    return root(frontier)


def grow_peer(entries: list[bytes]) -> bytes:
    tree = pymerkle.InmemoryTree(algorithm="sha256")
    for at in range(0, len(entries), BATCH):
        tree.append_entries(entries[at : at + BATCH])
    return tree.get_root()


def best_rates(calls, count, rounds):
    """The best rate of each call, taken in turns."""
    best = [0.0] * len(calls)
    for _ in range(rounds):
        for at, call in enumerate(calls):
            began = process_time()
            call()
            best[at] = max(best[at], count / (process_time() - began))
    return best


def main() -> int:
    rounds, count, leaves = (40, 1_000, 10_000) if is_quick() else (150, 2_000, 20_000)
    drafts = [draft(number) for number in range(leaves)]
    lines = append(drafts)
    typical = sum(map(len, lines)) / leaves
    assert abs(typical - LINE_BYTES) < 9, typical
    entries = [split_line(line).head for line in lines]
    assert grow(entries) == grow_peer(entries)
    # What waits for its turn is no load of the code under test: the collector need not walk it.
    gc.freeze()
    sample = drafts[:count], lines[:count]
    calls = (lambda: append(sample[0]), lambda: deque(map(decode, sample[1]), maxlen=0))
    seal_rate, decode_rate = best_rates(calls, count, rounds)
    grow_rate, peer = best_rates((lambda: grow(entries), lambda: grow_peer(entries)), leaves, 7)
    rows = [
        ("append: canonical bytes, 2 hashes, frontier, a second", seal_rate, 100_000),
        ("decode a line, a second", decode_rate, 110_000),
        ("tree with leaf hash, times pymerkle", grow_rate / peer, 5),
    ]
    print(f"{typical:.0f} bytes a line; tree {grow_rate:,.0f}/s, pymerkle {peer:,.0f}/s")
    for name, value, goal in rows:
        print(f"{name:<56}{value:>12,.1f}{goal:>10,}")
    figure = f"{seal_rate:,.0f} and {decode_rate:,.0f} a second; {grow_rate / peer:.1f} times"
    return close_run(all(rate >= goal for _, rate, goal in rows), figure)


if __name__ == "__main__":
    sys.exit(main())

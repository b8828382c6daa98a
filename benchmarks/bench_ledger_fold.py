"""Folding a subject of the ledger: records a second as subjects grow from 20 to 20,000 records.

The records are of every kind and operation: half of them claims, with verdicts, amendments and
retractions on earlier ones. Beside it runs the least that any reading of as many records does: one
frozen object for each. The peers that keep statements of the same kind need packages of their own:
where `followthemoney` is installed, its entity is built of as many statements.

    python benchmarks/bench_ledger_fold.py [--quick]

Prints records a second, at best of several runs, and how the time for one record grows. Exit code
3 when a goal is missed.
"""

import gc
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from random import Random
from typing import Any

from outcome import close_run, is_quick

from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.view import encode
from svc_core.ledger.records import SealedRecord

RATE_GOAL = 250_000
"""Records a second at every size, from records in memory to the view."""
GROWTH_GOAL = 2.0
"""How much longer one record may take among the most than among 200: caches, not the algorithm."""

SUBJECT = "sbj_" + "0" * 24
AT = "2022-01-01T00:00:00.000000Z"
SALT = "s" * 22
PREFIX = {"subject": "sbj", "designator": "dsg", "observation": "obs", "claim": "clm"}


def records(count: int) -> list[SealedRecord]:
    """One subject of `count` records."""
    random, rows, claims = Random(7), [], []
    for seq in range(count):
        at = f"2026-01-01T00:{seq // 60_000:02d}:{seq // 1_000 % 60:02d}.{seq % 1_000:06d}Z"
        kind, op, target, members = content(random, seq, at, claims, count)
        id_ = f"{PREFIX[kind]}_{seq:024x}"
        if kind == "claim" and op in {"assert", "amend"}:
            claims.append(id_)
        start = None if op == "verify" or random.random() < 0.5 else year(random, 10)
        end = None if start is None or random.random() < 0.6 else year(random, 20)
        digest = f"{seq:064x}"
        rows.append(
            SealedRecord(
                seq, id_, kind, op, SUBJECT, target, at, start, end, f"key_{seq % 4}",
                {**members, "salt": SALT}, digest, digest, "led_" + "0" * 24, digest,
            )
        )  # fmt: skip
    return rows


def year(random: Random, first: int) -> str:
    """A new year within ten."""
    return f"20{random.randrange(first, first + 10)}-01-01T00:00:00.000000Z"


def content(random: Random, seq: int, at: str, claims: list[str], count: int) -> Any:
    """Kind, operation, target and payload of one record."""
    part = random.random()
    if seq == 0:
        return "subject", "assert", None, {"type": "organization", "label": "A"}
    if part < 0.15:
        return "designator", "assert", None, {"scheme": "name", "value": f"Name {seq}"}
    if part < 0.30:
        source = {"url": "https://a.example/1", "retrievedAt": at, "contentSha256": "0" * 64}
        members = {
            "observedAt": at,
            "text": "A text. " * 5,
            "visibility": "public",
            "source": source,
        }
        return "observation", "assert", None, members
    word = f"v{random.randrange(max(4, count // 20))}"
    value = {"subject": word} if seq % 4 == 0 else word
    predicate = random.choice(("headquarters", "owner", "uses", "targets", "status"))
    members = {"predicate": predicate, "value": value, "confidence": seq % 101, "evidence": []}
    if part < 0.80 or not claims:
        return "claim", "assert", None, members
    target = random.choice(claims)
    if part < 0.88:
        state = random.choice(("corroborated", "verified", "disputed", "refuted"))
        return "claim", "verify", target, {"state": state, "method": "reading", "evidence": []}
    if part < 0.94:
        return "claim", "amend", target, members
    return "claim", "retract", target, {"reason": "other"}


def best(work: Callable[[], object], seconds: float) -> float:
    """CPU seconds of the fastest run among as many as fit."""
    fastest, until = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < until:
        gc.collect()
        start = time.process_time()
        work()
        fastest = min(fastest, time.process_time() - start)
    return fastest


def repeat(work: Callable[[], object], times: int) -> Callable[[], None]:
    """The work, so many times over, so that the clock can tell."""

    def repeat_work() -> None:
        for _ in range(times):
            work()

    return repeat_work


def statements(count: int) -> Callable[[], object] | None:
    """What the peer does with as many statements; None where it is not installed."""
    if find_spec("followthemoney") is None:
        return None
    peer = import_module("followthemoney")
    dataset = import_module("followthemoney.dataset").UndefinedDataset

    def build() -> object:
        peers = [
            peer.Statement(f"e{n % 4}", "name", "Company", f"Name {n}", "default", canonical_id="e")
            for n in range(count)
        ]
        return peer.StatementEntity.from_statements(dataset, peers).to_dict()

    return build


def measure(size: int, seconds: float) -> list[float]:
    """Records a second of a subject: folded, folded into bytes, and merely copied."""
    rows, times = records(size), max(1, 2_000 // size)
    works = (
        lambda: fold_records(rows, SUBJECT, valid_time=AT),
        lambda: encode(fold_records(rows, SUBJECT, valid_time=AT)),
        lambda: [record._replace(seq=0) for record in rows],
    )
    return [size * times / best(repeat(work, times), seconds) for work in works]


def main() -> int:
    """Measure, print, judge."""
    quick = is_quick()
    seconds, sizes = (0.5, (20, 200, 2_000)) if quick else (3.0, (20, 200, 2_000, 20_000))
    rates = {}
    print(f"{'records':>8} {'fold/s':>10} {'with bytes/s':>13} {'objects/s':>10}")
    for size in sizes:
        rates[size] = measure(size, seconds)
        fold_, whole, plain = rates[size]
        print(f"{size:>8} {fold_:>10,.0f} {whole:>13,.0f} {plain:>10,.0f}")
    peer = statements(2_000)
    if peer is not None:
        print(f"followthemoney: {2_000 / best(peer, seconds):,.0f} statements/s")
    slowest = min(rate[0] for rate in rates.values())
    growth = rates[200][0] / rates[sizes[-1]][0]
    figure = f"{slowest:,.0f} a second; one of {sizes[-1]:,} {growth:.2f} of 200"
    return close_run(slowest >= RATE_GOAL and growth <= GROWTH_GOAL, figure)


if __name__ == "__main__":
    sys.exit(main())

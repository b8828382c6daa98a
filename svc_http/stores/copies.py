"""Copies a store into another one, part by part, and verifies the copy.

Rule 1: after copying, all rows are read back from the target and compared with the source by count
        and digest; nobody sees the copy before the comparison has succeeded.
Rule 2: memory use is bounded by one batch of rows, plus one counter per tenant and part.
"""

from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any

import attrs
from attrs import field, frozen

from svc_core.ledger.log.record_seals import TreeHead
from svc_core.ledger.verify.anchors import gather
from svc_core.ledger.verify.sweep import Sweep
from svc_core.operation.host import Progress, ProgressListener
from svc_core.operation.ports import Collection
from svc_http.stores.contents import (
    LEDGERS,
    LINES,
    CopySource,
    CopyTarget,
    Part,
    Row,
    part_name,
    parts_of,
)
from svc_http.stores.errors import CopyRefused

PartOwner = tuple[str, str]
"""The name of a part and the tenant that owns rows of it; in the feed, the scope."""


@frozen(eq=False)
class Tally:
    """The number of rows per part and owner, and a digest over all rows of each part."""

    counts: Counter[PartOwner] = field(factory=Counter)
    digests: dict[str, Any] = field(factory=lambda: defaultdict(sha256))

    def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Process the next rows of a part."""
        name = part_name(part)
        self.counts.update((name, row[0]) for row in rows)
        self.digests[name].update("".join(map(repr, rows)).encode())

    def differing_parts(self, other: "Tally") -> list[str]:
        """The names of the parts whose rows differ from those of another store."""
        names = dict.fromkeys((*self.digests, *other.digests))
        return [n for n in names if self.digests[n].digest() != other.digests[n].digest()]


@frozen
class CopyReport:
    """The result of a verified copy: the tallies of both sides, and the head of every ledger whose
    seals were recomputed, by tenant."""

    source: Tally
    target: Tally
    ledgers: dict[str, TreeHead]


async def copy_store(
    source: CopySource,
    target: CopyTarget,
    collections: Iterable[Collection[Any]],
    *,
    with_seals: bool,
    tell: ProgressListener,
) -> CopyReport:
    """Copy all rows of the source to the target, then compare both sides.

    `with_seals` also recomputes the seals of every ledger from the lines of the target and compares
    the root of their Merkle tree with the stored head. `tell` receives the progress.

    Raises:
        CopyRefused: the sides differ, or the lines of a ledger do not match its head.
    """
    parts = parts_of(collections)
    total = 2 * sum([await source.count(part) for part in parts])
    source_tally, target_tally, checker = Tally(), Tally(), _Seals()
    done = 0
    async for part, rows in _walk(source, parts):
        await target.add(part, rows)
        source_tally.add(part, rows)
        done += len(rows)
        tell(Progress(done, total, f"{part_name(part)} copied"))
    async for part, rows in _walk(target, parts):
        target_tally.add(part, rows)
        if with_seals:
            checker.add(part, rows)
        done += len(rows)
        tell(Progress(done, total, f"{part_name(part)} compared"))
    names = source_tally.differing_parts(target_tally)
    if names:
        raise CopyRefused(
            f"the copy was given up: {_difference(source_tally, target_tally, names)}"
        )
    return CopyReport(source_tally, target_tally, checker.heads())


async def _walk(
    store: CopySource, parts: Iterable[Part]
) -> AsyncIterator[tuple[Part, Sequence[Row]]]:
    for part in parts:
        async for rows in store.rows(part):
            yield part, rows


def _difference(source: Tally, target: Tally, names: Sequence[str]) -> str:
    for part, tenant in source.counts | target.counts:
        place, owner = (part, tenant), tenant or "the system"
        source_count, target_count = source.counts[place], target.counts[place]
        if source_count != target_count:
            return (
                f"{part} of {owner} are {source_count} in the source and {target_count} in the copy"
            )
    return f"the rows of {', '.join(names)} are as many, and say something else"


class _Seals:
    """Recomputes the seals of all ledgers while their rows stream by; heads come before lines."""

    def __init__(self) -> None:
        self._ledgers: dict[str, tuple[TreeHead, Sweep]] = {}

    def add(self, part: Part, rows: Sequence[Row]) -> None:
        """Process the next rows of a part."""
        if part == LEDGERS:
            for tenant, _, state in rows:
                self._ledgers[tenant] = _start_sweep(tenant, state)
        elif part == LINES:
            for tenant, lines in groupby(rows, key=itemgetter(0)):
                self._ledgers[tenant][1].feed([row[-1] for row in lines])

    def heads(self) -> dict[str, TreeHead]:
        """The verified head of every ledger, by tenant.

        Raises:
            CopyRefused: the lines of a ledger do not produce its head.
        """
        for tenant, (head, sweep) in self._ledgers.items():
            outcome = sweep.finish()
            if outcome is None or outcome.head != attrs.evolve(head, host=None):
                raise _damage_error(tenant)
        return {tenant: head for tenant, (head, _) in self._ledgers.items()}


def _start_sweep(tenant: str, state: bytes) -> tuple[TreeHead, Sweep]:
    try:
        head = TreeHead.decode(state)
    except ValueError as error:
        raise _damage_error(tenant) from error
    anchors = [(head.size, head.root)]
    return head, Sweep(gather(level="integrity", ledger=head.ledger, anchors=anchors))


def _damage_error(tenant: str) -> CopyRefused:
    return CopyRefused(
        f"the ledger of {tenant} is not what was sealed, in the source as in the copy, which was "
        f"given up; see what is wrong: svc ledger export FILE --workspace {tenant}, then svc "
        "ledger verify FILE"
    )

"""Makes ledger lines, tree nodes and heads for stores under test.

Stores keep them as opaque bytes, so these lines are neither JSON nor correctly hashed.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from svc_core.operation.ports import LEDGER_LEVELS, LedgerHead, LedgerNode, SealedLine
from svc_core.testing.clock import START


class Growth(NamedTuple):
    """One append to a ledger: its lines, the tree nodes that they complete, the head after them.

    `expect` is the size of the ledger before it.
    """

    lines: tuple[SealedLine, ...]
    nodes: tuple[LedgerNode, ...]
    head: LedgerHead
    expect: int


def record_time(microseconds: int) -> str:
    """The record time of a line, so many microseconds after `clock.START`."""
    return f"{START + timedelta(microseconds=microseconds):%Y-%m-%dT%H:%M:%S.%fZ}"


def a_line(
    seq: int,
    id_: str,
    subject: str = "s",
    *,
    opens: bool = False,
    keys: tuple[str, ...] = (),
    time: int = 0,
    target: str = "",
) -> SealedLine:
    """A sealed line whose bytes hold its identifier and target, and are neither JSON nor text."""
    seal = f"{seq}/{id_}".encode().ljust(32, b"\x00")
    line = b'\xff{ "id" : ' + id_.encode() + b"}\r\x00 "
    line += f'"target":"{target}","payload":'.encode() if target else b""
    return SealedLine(seq, id_, subject, opens, record_time(time), keys, seal, line)


def growth(expect: int, lines: Iterable[SealedLine]) -> Growth:
    """The append of `lines` to a ledger that has `expect` lines."""
    batch = tuple(lines)
    size = expect + len(batch)
    nodes = tuple(
        LedgerNode(level, number, f"{level}:{number}".encode().ljust(32, b"\x01"))
        for level in LEDGER_LEVELS[1:]
        for number in range(expect >> level, size >> level)
    )
    return Growth(batch, nodes, LedgerHead(size, f"state {size}".encode()), expect)


def plain_growth(expect: int, *ids: str, time: int = 0) -> Growth:
    """The append of one line for each identifier, all about one subject."""
    return growth(expect, (a_line(expect + index, id_, time=time) for index, id_ in enumerate(ids)))

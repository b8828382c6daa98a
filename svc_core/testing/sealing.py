"""Sealed lines for stores under test, which never look into one."""

from collections.abc import Iterable
from datetime import timedelta
from typing import NamedTuple

from svc_core.operation.ports import LEDGER_LEVELS, LedgerHead, LedgerNode, SealedLine
from svc_core.testing.clock import START


class Growth(NamedTuple):
    """One append: its lines, the nodes that they complete, the head after them."""

    lines: tuple[SealedLine, ...]
    nodes: tuple[LedgerNode, ...]
    head: LedgerHead
    expect: int


def at(microseconds: int) -> str:
    """A record time, so long after the beginning."""
    return f"{START + timedelta(microseconds=microseconds):%Y-%m-%dT%H:%M:%S.%fZ}"


def a_line(
    seq: int,
    id_: str,
    subject: str = "s",
    *,
    opens: bool = False,
    keys: tuple[str, ...] = (),
    time: int = 0,
) -> SealedLine:
    """A line whose bytes are neither JSON nor text, and tell who it is."""
    seal = f"{seq}/{id_}".encode().ljust(32, b"\x00")
    line = b'\xff{ "id" : ' + id_.encode() + b"}\r\x00 "
    return SealedLine(seq, id_, subject, opens, at(time), keys, seal, line)


def growth(expect: int, lines: Iterable[SealedLine]) -> Growth:
    """The append of these lines to a ledger of size `expect`."""
    added = tuple(lines)
    size = expect + len(added)
    nodes = tuple(
        LedgerNode(level, number, f"{level}:{number}".encode().ljust(32, b"\x01"))
        for level in LEDGER_LEVELS[1:]
        for number in range(expect >> level, size >> level)
    )
    return Growth(added, nodes, LedgerHead(size, f"state {size}".encode()), expect)


def plain(expect: int, *ids: str, time: int = 0) -> Growth:
    """The append of lines with these identifiers, all about one subject."""
    return growth(expect, (a_line(expect + at_, id_, time=time) for at_, id_ in enumerate(ids)))

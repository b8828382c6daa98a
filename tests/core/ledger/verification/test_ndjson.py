"""An export is cut into its lines, with bounded memory whatever it holds."""

import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.records import LINE_BYTES_MAX
from svc_core.ledger.verify.log_verification import line_chunks, verify_export
from svc_core.ledger.verify.sweep import RUN_LINES_MAX

MEGABYTE = 1 << 20


def _cut(blocks: list[bytes]) -> list[bytes]:
    return [line for chunk in line_chunks(blocks) for line in chunk]


@given(st.lists(st.sampled_from([b"", b"a", b"\n", b"bc\nd", b"\n\n", b"e\n"]), max_size=30))
def test_lines_do_not_depend_on_how_the_export_is_read(blocks: list[bytes]) -> None:
    export = b"".join(blocks)

    expected = export.split(b"\n")

    assert _cut(blocks) == (expected if expected[-1] else expected[:-1])
    assert _cut([export]) == _cut(blocks)
    assert _cut([bytes([byte]) for byte in export]) == _cut(blocks)


def test_few_lines_are_handed_on_at_a_time() -> None:
    small = list(line_chunks([b"x\n" * 2_000]))
    large = list(line_chunks([b"x" * 60_000 + b"\n"] * 200))

    assert [len(chunk) for chunk in small] == [RUN_LINES_MAX] * 3 + [2_000 - 3 * RUN_LINES_MAX]
    assert sum(map(len, large)) == 200
    # 4 MiB and one block.
    assert {len(chunk) for chunk in large[:-1]} == {70}


def test_lines_of_small_blocks_are_handed_on_together() -> None:
    counts = [len(chunk) for chunk in line_chunks([b"x\n"] * 1_000)]
    runs = list(line_chunks([b"x" * MEGABYTE] * 6))

    assert counts == [512, 488]
    assert [len(chunk) for chunk in runs] == [1]


@pytest.mark.parametrize(
    ("block", "count"),
    [
        (b"x" * MEGABYTE, 100),
        (b"\xff\x00" * (MEGABYTE // 2), 100),
        (b"[" * MEGABYTE, 100),
        ((b"[" * 60_000 + b"\n") * 17, 10),
        (b"\n" * 1_000, 2),
    ],
)
def test_whatever_is_in_a_file_is_judged_in_little_memory(block: bytes, count: int) -> None:
    tracemalloc.start()
    outcome = verify_export(lambda: (block for _ in range(count)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert not outcome.ok
    assert outcome.first_fault is not None
    assert outcome.first_fault.line == 1
    assert peak < 48 * MEGABYTE


def test_a_line_that_is_too_long_does_not_hide_the_others(make_log: Any, faults_of: Any) -> None:
    lines = make_log(4).lines

    def export() -> Iterator[bytes]:
        yield lines[0] + b"\n"
        for _ in range(3):
            yield b"x" * MEGABYTE
        yield b"\n" + b"\n".join(lines[1:])

    assert faults_of(verify_export(export)) == [("MALFORMED", 2)]
    assert len(_cut(list(export()))[1]) == LINE_BYTES_MAX + 1

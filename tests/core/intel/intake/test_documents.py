"""Whether a document that has come is taken in, and how it is known again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest

from svc_core.formats.model import DocumentRefused, Metadata, Record
from svc_core.formats.table import FORMATS, Document
from svc_core.intel.intake import document_checks as admission
from svc_core.testing.clock import START

Make = Callable[..., Any]


def document_of(format_: str, records: int = 0, hours: int | None = None) -> Document:
    about = Metadata(stamp=None if hours is None else START + timedelta(hours=hours))
    return Document(FORMATS[format_], about, (Record("cve", "CVE-2024-1", {}),) * records, ())


@pytest.mark.parametrize(("before", "now", "is_outdated"), [
    (1, 0, True), (1, 1, False), (1, 2, False), (None, 0, False), (1, None, False),
])  # fmt: skip
def test_a_snapshot_is_outdated_by_its_own_stamp_alone(
    make_source: Make, before: int | None, now: int | None, is_outdated: bool
) -> None:
    stamp = document_of("kev", hours=before).metadata.stamp
    source = make_source(START, stamp=stamp)
    assert admission.is_outdated(source, document_of("kev", hours=now)) is is_outdated


@pytest.mark.parametrize(("records", "row_count", "whole"), [
    (8, 10, True), (7, 10, False), (0, 0, True), (0, 1, False), (20, 10, True),
])  # fmt: skip
def test_a_snapshot_that_lacks_over_a_fifth_is_refused(
    make_source: Make, records: int, row_count: int, whole: bool
) -> None:
    try:
        admission.check_size(make_source(START), document_of("kev", records), row_count)
        is_accepted = True
    except DocumentRefused:
        is_accepted = False
    assert is_accepted is whole


def test_a_document_is_known_by_its_bytes_and_a_delta_for_long(make_source: Make) -> None:
    first, *others = (
        admission.document_digest(b"%d" % at) for at in range(admission.DELTAS_KEPT + 1)
    )
    source = attrs.evolve(make_source(START), digest=first)
    assert admission.is_known(source, first)
    assert not admission.is_known(source, others[0])
    assert admission.with_delta(source, document_of("kev"), others[0]) is source
    for digest in (first, *others):
        source = admission.with_delta(source, document_of("ftm-delta"), digest)
    assert all(admission.is_known(source, other) for other in others)
    assert not admission.is_known(attrs.evolve(source, digest=None), first)


@pytest.mark.parametrize(("digest", "is_alike"), [
    (admission.document_digest(b"1"), True), ("1-0", False), ("0" * 64, False), (None, False),
])  # fmt: skip
def test_a_document_that_other_readers_read_is_read_again(
    make_source: Make, digest: str | None, is_alike: bool
) -> None:
    assert admission.is_read_alike(make_source(START, digest=digest)) is is_alike

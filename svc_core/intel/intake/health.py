"""The health of sources: a state for each, computed from the outcome of its runs.

Rule: a source that is fetched but has nothing new for `CONTENT_STALE` is `staleContent`; one that
cannot be fetched or read is `error`; an empty document is no error. A source that nobody reads any
more is `stale`, which is computed when it is shown and never stored.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import attrs

from svc_core import data
from svc_core.formats.model import Rejection
from svc_core.formats.table import Document
from svc_core.intel.folding.model import HealthError, HealthStatus, LastRun, Source, SourceHealth
from svc_core.intel.intake.publisher_names import publisher_name

CONTENT_STALE = timedelta(days=7)  # spared from flapping: weekly feeds are not broken
STALE_INTERVALS = 2  # one missed run may be a restart, two are nobody at work
BACKOFF_MAX = timedelta(hours=24)


def zones(source: Source) -> tuple[ZoneInfo | None, ZoneInfo | None]:
    """The time zone set for a source, and the zone of its country where that has just one."""
    zone, country_zone = source.timezone, _only_zones().get(source.country_code or "")
    return ((zone and ZoneInfo(zone)) or None, (country_zone and ZoneInfo(country_zone)) or None)


@cache
def _only_zones() -> Mapping[str, str]:
    return dict(line.split("\t") for line in data.table_lines("zones.tsv"))


def domain(location: str, home_url: str | None) -> str:
    """The publisher's host without `www.`; empty for a file without a home address."""
    for address in (home_url, location):
        host = urlsplit(address or "").hostname
        if host:
            return host.removeprefix("www.")
    return ""


def with_description(source: Source, document: Document) -> Source:
    """The source with what its document says of itself, where the operator set nothing else."""
    about, format_ = document.metadata, document.format
    is_first = source.format is None and source.every_seconds is None
    home = source.home_url or about.home_url
    host = domain(source.location, home)
    return attrs.evolve(
        source,
        name=source.name
        or publisher_name(about.title or "", host, source.location, home or "")
        or public_text(source.location, source.location),
        home_url=home,
        domain=host,
        format=format_.id,
        cadence_seconds=format_.cadence_seconds if is_first else source.cadence_seconds,
        language=source.language or about.language,
        stamp=about.stamp or source.stamp,
    )


def mark_partial(source: Source) -> Source:
    """The source while a document is being written in parts: `partial`, and without validators.

    If the run dies, the store holds part of a document, and the next run must not take the same
    document for a known one.
    """
    partial = attrs.evolve(source.health, status="partial")
    return attrs.evolve(source, etag=None, last_modified=None, digest=None, health=partial)


def after_success(
    source: Source,
    now: datetime,
    run: LastRun,
    rejections: Sequence[Rejection] = (),
    http_status: int | None = None,
) -> Source:
    """The source after a run that read its document."""
    before = source.health
    is_new = run.created + run.updated + run.deleted > 0
    content_at = now if is_new else before.last_content_at
    frozen_since = content_at or source.created_at
    status: HealthStatus = "partial" if run.rejected else "ok"
    if now - frozen_since > CONTENT_STALE:
        status = "staleContent"
    health = SourceHealth(
        status=status,
        last_attempt_at=now,
        last_success_at=now,
        last_content_at=content_at,
        items_last_run=run.created + run.updated + run.unchanged,
        rejected_last_run=run.rejected,
        rejections=tuple(rejections),
        http_status=http_status,
        next_attempt_at=now + timedelta(seconds=source.cadence_seconds),
    )
    return attrs.evolve(source, health=health, last_run=run)


def after_unchanged(source: Source, now: datetime, http_status: int | None = None) -> Source:
    """The source after a run that found the same document as before.

    What is known of that document stays: its rejected rows are still rejected.
    """
    count = sum(rejection.count for rejection in source.health.rejections)
    last = source.last_run or LastRun()
    rows = last.created + last.updated + last.unchanged
    run = LastRun(unchanged=rows, rejected=count)
    return after_success(source, now, run, source.health.rejections, http_status)


def after_failure(
    source: Source, now: datetime, code: str, message: str, status: int | None
) -> Source:
    """The source after a run that could not fetch or read its document; attempts grow rarer."""
    before = source.health
    failures = before.consecutive_failures + 1
    wait = timedelta(seconds=source.cadence_seconds) * 2 ** min(failures - 1, 10)
    health = attrs.evolve(
        before,
        status="error",
        last_attempt_at=now,
        consecutive_failures=failures,
        items_last_run=0,
        rejected_last_run=0,
        rejections=(),
        http_status=status,
        next_attempt_at=now + min(wait, BACKOFF_MAX),
        error=HealthError(code, message),
    )
    return attrs.evolve(source, health=health, last_run=LastRun())


def with_staleness(source: Source, now: datetime) -> Source:
    """The source with its status as of now: `stale` where it was due long ago and never read."""
    if source.is_disabled:
        idle = attrs.evolve(source.health, status="disabled", next_attempt_at=None)
        return attrs.evolve(source, health=idle)
    due = source.health.next_attempt_at
    grace = timedelta(seconds=source.cadence_seconds) * STALE_INTERVALS
    if source.health.status in {"error", "neverRun"} or due is None or now - due <= grace:
        return source
    return attrs.evolve(source, health=attrs.evolve(source.health, status="stale"))


# -- as it is shown to strangers ---------------------------------------------------------------

_SECRET = re.compile(".*(?:key|token|secret|password|signature|auth)|sig|appid", re.IGNORECASE)


def public_address(location: str) -> str | None:
    """The web address of a source without secrets in it; None for a file."""
    parts = urlsplit(location)
    if parts.scheme not in {"http", "https"}:
        return None
    pairs = [
        pair for pair in parts.query.split("&") if not _SECRET.fullmatch(pair.partition("=")[0])
    ]
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=host, query="&".join(pairs), fragment="").geturl()


def public_text(location: str, text: str) -> str:
    """A text about a source, with its location replaced by its public address.

    The path of a file becomes its name.
    """
    return text.replace(location, public_address(location) or location.rpartition("/")[2])


def public_name(source: Source) -> str:
    """The name of a source, without its private location."""
    return public_text(source.location, source.name or source.location)


def _resolutions(kind: str) -> Mapping[str, str]:
    return {
        code: text for subject, code, text in data.table_rows("resolutions.tsv") if subject == kind
    }


_BY_STATUS = _resolutions("status")
BY_ERROR = _resolutions("error")


def resolution(state: SourceHealth) -> str | None:
    """What an operator can do about a source's state; None where nothing is to be done."""
    if state.error is not None:
        return BY_ERROR.get(state.error.code, BY_ERROR["unreachable"])
    return _BY_STATUS.get(state.status)

"""Recognises the format of a document, parses it and checks that it is whole (decisions: D13).

Rule 1: the content decides the format. A document in another format than that of its source is
        refused: a format that changed is an error, not a new meaning.
Rule 2: a document is read to its end before anything of it counts. It is refused whole when it is
        cut off, or when its own count differs from the number of its records.
Rule 3: of two records of one document about one row, the one with the later stamp stays; with
        equal stamps, or without one, the last.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from types import MappingProxyType

from attrs import frozen

from svc_core.formats.companies.gleif import GLEIF
from svc_core.formats.companies.lei_cdf import LEI_CDF
from svc_core.formats.companies.sec_companyfacts import SEC_COMPANYFACTS
from svc_core.formats.companies.sec_submissions import SEC_SUBMISSIONS
from svc_core.formats.companies.sec_tickers import SEC_TICKERS
from svc_core.formats.cyber.csaf import CSAF
from svc_core.formats.cyber.cve import CVE
from svc_core.formats.cyber.epss import EPSS
from svc_core.formats.cyber.kev import KEV
from svc_core.formats.cyber.misp_event import MISP_EVENT
from svc_core.formats.cyber.misp_galaxy import MISP_GALAXY
from svc_core.formats.cyber.nvd import NVD
from svc_core.formats.cyber.stix_format import ATTACK, STIX
from svc_core.formats.feeds.news_formats import FEEDS
from svc_core.formats.hazards.acled import ACLED
from svc_core.formats.hazards.eonet import EONET
from svc_core.formats.hazards.gdacs import GDACS
from svc_core.formats.hazards.gdacs_rss import GDACS_RSS
from svc_core.formats.hazards.gdelt import GDELT_EVENTS
from svc_core.formats.hazards.gdelt_mentions import GDELT_MENTIONS
from svc_core.formats.hazards.reliefweb import RELIEFWEB
from svc_core.formats.hazards.ucdp import UCDP
from svc_core.formats.hazards.usgs import USGS
from svc_core.formats.markets.kalshi import KALSHI
from svc_core.formats.markets.manifold import MANIFOLD
from svc_core.formats.markets.polymarket import POLYMARKET
from svc_core.formats.model import (
    FAULTS,
    DocumentRefused,
    Metadata,
    Origin,
    Record,
    RecordRefused,
    Rejection,
)
from svc_core.formats.places.country_codes import COUNTRY_CODES
from svc_core.formats.places.country_facts import COUNTRIES
from svc_core.formats.places.geonames import GEONAMES
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import Format
from svc_core.formats.reading.values import SAMPLE_CHARS
from svc_core.formats.sanctions.ftm import FTM, FTM_DELTA
from svc_core.formats.sanctions.ofac import OFAC
from svc_core.formats.sanctions.un_sanctions import UN_SANCTIONS
from svc_core.formats.statistics.frankfurter import FRANKFURTER
from svc_core.formats.statistics.fred import FRED
from svc_core.formats.statistics.sdmx import SDMX
from svc_core.formats.statistics.worldbank import WORLD_BANK

_ECONOMY = (FRED, WORLD_BANK, SDMX, FRANKFURTER)
_COUNTRIES = (COUNTRIES, COUNTRY_CODES, GEONAMES)
_CYBER = (NVD, CVE, EPSS, CSAF, ATTACK, STIX, MISP_GALAXY, MISP_EVENT)
_EVENTS = (USGS, GDACS, EONET, RELIEFWEB, UCDP, ACLED, GDELT_EVENTS, GDELT_MENTIONS)
_COMPANIES = (SEC_TICKERS, SEC_COMPANYFACTS, SEC_SUBMISSIONS, GLEIF, LEI_CDF)
_MARKETS = (POLYMARKET, KALSHI, MANIFOLD)
_SANCTIONS = (OFAC, UN_SANCTIONS, FTM, FTM_DELTA)
TABLE: tuple[Format, ...] = (
    *(GDACS_RSS, *FEEDS, KEV, *_ECONOMY, *_COUNTRIES, *_CYBER),
    *(*_EVENTS, *_COMPANIES, *_MARKETS, *_SANCTIONS),
)
"""All formats, in the order in which they are tried: those with the clearest marks first."""

FORMATS: Mapping[str, Format] = MappingProxyType({format_.id: format_ for format_ in TABLE})

BYTES_MAX = max(format_.bytes_max for format_ in TABLE)
"""The largest document of any format: the bound while the format is not known yet."""

KEY_CHARS_MAX = 10_000  # twice the address of a page
REASONS_MAX = 20  # kept of one document, each with a count and one sample

# Documents that people send by mistake, by the names of their root elements.
_NEAR_MISSES = {
    "opml": ("opml", "This is OPML, a list of feeds: see svc sources import."),
    "html": ("html", "This is an HTML page, not data: the address may have moved."),
}


@frozen
class Document:
    """One whole document: its metadata, its records, and what had to be left out."""

    format: Format
    metadata: Metadata
    records: tuple[Record, ...]
    rejections: tuple[Rejection, ...]

    @property
    def rejection_count(self) -> int:
        """The number of records that could not be used."""
        return sum(rejection.count for rejection in self.rejections)


def recognise_format(body: Body) -> Format:
    """Finds the format of a document by its content.

    Raises:
        DocumentRefused: no format fits; the reason says what the document seems to be.
    """
    if not body.data.strip():
        raise DocumentRefused("empty", "The document is empty.")
    match = next((format_ for format_ in TABLE if format_.recognise(body)), None)
    if match is not None:
        return match
    refusal = _NEAR_MISSES.get(body.root.lower())
    if refusal is not None:
        raise DocumentRefused(*refusal)
    if body.head.startswith(("{", "[")):
        body.whole_json()
    raise DocumentRefused("unrecognised", "No format fits this document.")


def read_document(body: Body, format_: Format, origin: Origin) -> Document:
    """Parses a whole document of a format that is known.

    Raises:
        DocumentRefused: it is too large, not whole, or of another format, or an option is missing.
        MissingExtra: a library that this format needs is not installed.
    """
    check_options(format_, origin.options)
    if len(body.data) > format_.bytes_max:
        size = f"The document is larger than {format_.bytes_max} bytes."
        raise DocumentRefused("tooLarge", size)
    if not format_.recognise(body):
        actual = recognise_format(body)
        raise DocumentRefused(
            "anotherFormat", f"The document is {actual.id}, and its source is {format_.id}."
        )
    try:
        return assemble(format_, format_.parse(body, origin))
    except FAULTS as fault:
        if isinstance(fault, DocumentRefused):
            raise
        detail = str(fault) if isinstance(fault, RecordRefused) else type(fault).__name__
        reason = f"The document is not of the form of {format_.title}: {detail}."
        raise DocumentRefused("malformed", reason) from fault


def check_options(format_: Format, options: Mapping[str, str]) -> None:
    """Checks that a format takes these options, and that none is missing.

    Raises:
        DocumentRefused: `option`, for one that is unknown or missing.
    """
    unknown = sorted(set(options) - set(format_.options))
    missing = sorted(format_.required - set(options))
    if unknown:
        takes = ", ".join(format_.options) or "none"
        raise DocumentRefused("option", f"{format_.id} takes no {unknown[0]}; it takes: {takes}.")
    if missing:
        purpose = format_.options[missing[0]]
        raise DocumentRefused("option", f"{format_.id} needs --option {missing[0]}=: {purpose}.")


def assemble(format_: Format, contents: Iterator[Metadata | Record | Rejection]) -> Document:
    """Collects the contents of a document into one value, reading them to their end.

    Raises:
        DocumentRefused: it holds too many records, or another number than it states.
    """
    about, total = Metadata(), 0
    records: dict[tuple[str, str], Record] = {}
    reasons: Counter[str] = Counter()
    samples: dict[str, str] = {}
    for part in map(_check_key_length, contents):
        if isinstance(part, Record):
            total += 1
            name = (part.resource, part.key)
            if name not in records or not is_older(part.stamp, records[name].stamp):
                records[name] = part
        elif isinstance(part, Rejection):
            total += part.count
            reasons[part.reason] += part.count
            samples.setdefault(part.reason, part.sample)
        else:
            about = part
        if total > format_.records_max:
            raise DocumentRefused(
                "tooManyItems", f"The document holds more than {format_.records_max} records."
            )
    if about.records is not None and about.records != total:
        raise DocumentRefused(
            "wrongCount", f"The document says that it holds {about.records}, and holds {total}."
        )
    top_reasons = reasons.most_common(REASONS_MAX)
    rejections = tuple(Rejection(reason, count, samples[reason]) for reason, count in top_reasons)
    return Document(format_, about, tuple(records.values()), rejections)


def _check_key_length(part: Metadata | Record | Rejection) -> Metadata | Record | Rejection:
    """Turns a record whose key is too long for an index into a rejection."""
    if isinstance(part, Record) and any(
        len(key) > KEY_CHARS_MAX for key in (part.key, *part.other_keys)
    ):
        reason = f"has an id of more than {KEY_CHARS_MAX} characters"
        return Rejection(reason, 1, part.key[:SAMPLE_CHARS])
    return part


def is_older(left: datetime | None, right: datetime | None) -> bool:
    """Whether the left stamp is before the right one; a missing stamp is never older."""
    return left is not None and right is not None and left < right

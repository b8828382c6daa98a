"""Vulnerabilities with a CVE id: entities, with what their providers say of each.

A row holds vendors by name. Which entities they are, and what exploits the vulnerability, is looked
up when it is read, and so is whether a catalogue of exploited ones was read at all.
"""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.constraints import Doc, Example, Ge, Le, Pattern
from svc_core.linking.references import of_vendor
from svc_core.ports import BASE_V2, Collection
from svc_core.resources.entity import EntityCore, keys_of
from svc_core.resources.facts import Severity
from svc_core.resources.members import EntityId, Share, micros
from svc_core.retrieval.listing import Indexed
from svc_core.unset import UNSET, Maybe, Unset

SHARE_STEPS = 1_000_000  # a share is kept as a whole number of millionths

CveState = Literal["PUBLISHED", "REJECTED"]
CvssVersion = Literal["2.0", "3.0", "3.1", "4.0"]
CveId = Annotated[str, Pattern(r"CVE-[0-9]{4}-[0-9]{4,19}", "a CVE id")]
CvssScore = Annotated[float, Ge(0), Le(10)]


# -- parts of a CVE ----------------------------------------------------------------------------


@frozen
class Assigner:
    """Who assigned the CVE id."""

    short_name: Annotated[str | None, Doc("What cve.org calls it."), Example("apache")] = None
    org_id: Annotated[str | None, Doc("Its UUID there."), Example(None)] = None


@frozen
class Score:
    """How severe a provider finds a vulnerability, by CVSS."""

    version: Annotated[CvssVersion, Doc("Of CVSS."), Example("3.1")]
    vector: Annotated[
        str | None, Doc("As published."), Example("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H")
    ]
    base_score: Annotated[CvssScore | None, Doc("The number as published."), Example(10.0)]
    severity: Annotated[Severity | None, Doc("In a word."), Example("critical")]
    provider: Annotated[str | None, Doc("Who scores."), Example("nvd")]
    role: Annotated[str, Doc("`primary` or `secondary`."), Example("primary")]
    system: Annotated[Literal["CVSS"], Doc("The system.")] = "CVSS"
    computed_base_score: Annotated[Maybe[float], Doc("Where its vector comes to another.")] = UNSET


@frozen
class EpssReading:
    """How probable exploitation was on a day, by EPSS."""

    score: Annotated[Share, Doc("The probability within 30 days."), Example(0.94464)]
    percentile: Annotated[Share, Doc("The share of CVEs that score less."), Example(0.99995)]
    model_version: Annotated[str | None, Doc("Of the model."), Example("v2025.03.14")] = None
    score_date: Annotated[datetime | None, Doc("The day of the score.")] = None


@frozen
class Epss(EpssReading):
    """How probable exploitation is."""

    previous: Annotated[Maybe[EpssReading], Doc("The latest reading of an earlier day.")] = UNSET


@frozen
class Kev:
    """An entry of CISA's catalogue of known exploited vulnerabilities."""

    date_added: Annotated[date, Doc("Listed since."), Example("2021-12-10")]
    due_date: Annotated[date | None, Doc("By when agencies must act.")] = None
    required_action: Annotated[str | None, Doc("What they must do.")] = None
    known_ransomware_campaign_use: Annotated[str | None, Doc("`Known` or `Unknown`.")] = None
    name: Annotated[str | None, Doc("What the catalogue calls the vulnerability.")] = None
    vendor_project: Annotated[str | None, Doc("Whose product."), Example("Apache")] = None
    product: Annotated[str | None, Doc("Which product."), Example("Log4j2")] = None
    short_description: Annotated[str | None, Doc("In some words.")] = None


@frozen
class Ssvc:
    """A decision by the Stakeholder-Specific Vulnerability Categorization."""

    exploitation: Annotated[str | None, Doc("`none`, `poc` or `active`."), Example("active")]
    automatable: Annotated[str | None, Doc("`yes` or `no`."), Example("yes")]
    technical_impact: Annotated[str | None, Doc("`partial` or `total`."), Example("total")]
    provider: Annotated[str | None, Doc("Who decided."), Example("CISA-ADP")] = None
    at: Annotated[datetime | None, Doc("When.")] = None


@frozen
class Weakness:
    """A kind of fault, by the Common Weakness Enumeration."""

    id: Annotated[str, Doc("Its id."), Example("CWE-502")]
    name: Annotated[str | None, Doc("In words.")] = None


@frozen
class VersionRange:
    """Versions of a product, as the CVE record format tells of them."""

    version: Annotated[str | None, Doc("The version, or the first.")] = None
    status: Annotated[str | None, Doc("`affected`, `unaffected` or `unknown`.")] = None
    less_than: Annotated[str | None, Doc("The first version beyond.")] = None
    less_than_or_equal: Annotated[str | None, Doc("The last version.")] = None
    version_type: Annotated[str | None, Doc("How versions are compared.")] = None


@frozen
class Affected:
    """A product that is affected, or that is told not to be."""

    vendor: Annotated[str | None, Doc("Who makes it."), Example("Apache Software Foundation")]
    product: Annotated[str | None, Doc("What it is called."), Example("Apache Log4j2")]
    entity_id: Annotated[EntityId | None, Doc("The vendor, or its owner, at that time.")] = None
    cpes: Annotated[tuple[str, ...], Doc("Its CPE names.")] = ()
    versions: Annotated[tuple[VersionRange, ...], Doc("Its versions.")] = ()
    default_status: Annotated[str | None, Doc("Of versions that are not told.")] = None


@frozen
class Reference:
    """A page about a vulnerability."""

    url: Annotated[str, Doc("Its address."), Example("https://logging.apache.org/security.html")]
    tags: Annotated[tuple[str, ...], Doc("What it is, in the words of who names it.")] = ()


@frozen
class Exploiter:
    """What exploits a vulnerability."""

    entity_id: EntityId
    name: Annotated[str, Doc("What it is called."), Example("APT28")]


# -- the row -----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class CveFacet:
    """What is known of a vulnerability beside what every entity has."""

    cve_id: Annotated[CveId, Doc("Its id."), Example("CVE-2021-44228")]
    state: Annotated[CveState, Doc("A rejected one is no vulnerability.")] = "PUBLISHED"
    title: Annotated[str | None, Doc("In one line; null where untold.")] = None
    published_at: Annotated[datetime | None, Doc("When it was published.")] = None
    modified_at: Annotated[datetime | None, Doc("When its record last changed.")] = None
    assigner: Annotated[Assigner | None, Doc("Who assigned the id.")] = None
    scores: Annotated[tuple[Score, ...], Doc("Of all providers.")] = ()
    score: Annotated[
        Score | None, Doc("To go by: the assigner's, the NVD's, or another's; the newest version.")
    ] = None
    epss: Annotated[Epss | None, Doc("Null where none was read.")] = None
    kev: Annotated[Maybe[Kev | None], Doc("Null: unlisted; absent: no catalogue was read.")] = UNSET
    ssvc: Annotated[Ssvc | None, Doc("Null where nobody decided.")] = None
    weaknesses: Annotated[tuple[Weakness, ...], Doc("What kinds of faults it is.")] = ()
    affected: Annotated[tuple[Affected, ...], Doc("Products, each once.")] = ()
    references: Annotated[tuple[Reference, ...], Doc("Pages about it, each once.")] = ()
    exploited_by: Annotated[tuple[Exploiter, ...], Doc("Who and what exploits it.")] = ()

    @property
    def entry(self) -> Kev | None:
        """The entry of the catalogue; None where there is none, or no catalogue."""
        return None if isinstance(self.kev, Unset) else self.kev

    @property
    def vendors(self) -> Iterator[str]:
        """The vendors that are named, as they are written."""
        yield from (one.vendor for one in self.affected if one.vendor)
        if self.entry and self.entry.vendor_project:
            yield self.entry.vendor_project

    @property
    def products(self) -> Iterator[str]:
        """The products that are named, as they are written."""
        yield from (one.product for one in self.affected if one.product)
        if self.entry and self.entry.product:
            yield self.entry.product


@frozen(kw_only=True, slots=False)
class Cve(CveFacet, EntityCore):
    """One vulnerability, an entity with the members of its facet beside those of all entities."""


def folded(name: str) -> str:
    """A vendor or product as filters compare it: `palo_alto_networks` is Palo Alto Networks."""
    return " ".join(name.casefold().replace("_", " ").split())


def day_of(cve_id: str, published: datetime | None) -> date:
    """The day as of which its vendors are meant: of an unknown one the middle of the id's year."""
    return date(int(cve_id[4:8]), 7, 1) if published is None else published.date()


def makers(cve: Cve) -> Iterator[tuple[str, str]]:
    """References to those who made what is affected, as of its publication, with their names."""
    day = day_of(cve.cve_id, cve.published_at)
    for vendor in dict.fromkeys(cve.vendors):
        yield from ((reference, vendor) for reference in of_vendor(vendor, day))


def listing(cve: Cve) -> str:
    """How the catalogue has it: `known` with ransomware, `listed`, or `no`."""
    if cve.entry is None:
        return "no"
    return "known" if cve.entry.known_ransomware_campaign_use == "Known" else "listed"


def _of(part: str, name: str, steps: int = 0) -> Any:
    """Reads a member of a part that a row may lack; a number in so many steps of one."""

    def read(cve: Cve) -> Any:
        told = getattr(getattr(cve, part), name, None)
        return round(told * steps) if steps and told is not None else told

    return read


WORDS: Indexed[Cve] = Indexed(
    lambda cve: {
        "title": [cve.cve_id, cve.title or ""],
        "affected": [*cve.vendors, *cve.products],
        "description": [cve.description or ""],
    }
)

CVES: Collection[Cve] = Collection(
    name="cves",
    model=Cve,
    prefix="ent",
    order=lambda cve: micros(cve.updated_at),
    scope="global",
    keys={
        "state": lambda cve: cve.state,
        "cvss_version": _of("score", "version"),
        "severity": _of("score", "severity"),
        "kev": listing,
    },
    facets={
        "key": keys_of,
        "vendor": lambda cve: map(folded, cve.vendors),
        "product": lambda cve: map(folded, cve.products),
        "maker": lambda cve: [reference for reference, _ in makers(cve)],
        "cwe": lambda cve: [one.id for one in cve.weaknesses],
    },
    numbers={
        "published": lambda cve: None if cve.published_at is None else micros(cve.published_at),
        "modified": lambda cve: None if cve.modified_at is None else micros(cve.modified_at),
        "score": _of("score", "base_score", 10),
        "epss": _of("epss", "score", SHARE_STEPS),
        "percentile": _of("epss", "percentile", SHARE_STEPS),
    },
    ranked={
        "state": ("score", "epss"),
        "cvss_version": ("published", "modified", "score", "epss"),
        "severity": ("score", "epss"),
        "kev": ("published", "modified", "score"),
    },
    search=WORDS,
    kind="entity",
    base=BASE_V2,
    path="/entities",
)
"""Ordered by the last change. `key` finds a row by any id that it answers to."""

"""The members that parsers give vulnerabilities, as the fold reads them."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict


class ScoreMembers(TypedDict):
    """A CVSS score as its provider gives it."""

    system: str
    version: str
    vector: str | None
    baseScore: int | float | None
    severity: str | None
    provider: str | None
    role: str
    computedBaseScore: NotRequired[float | None]


class EpssMembers(TypedDict):
    """The chance of exploitation on one day."""

    score: float
    percentile: float
    modelVersion: str | None
    scoreDate: str | None


class WeaknessMembers(TypedDict):
    """A kind of weakness, by its CWE id."""

    id: str
    name: str | None


class LinkMembers(TypedDict):
    """A page about a vulnerability."""

    url: str
    tags: list[str]


class ProductMembers(TypedDict):
    """A product with its affected versions."""

    vendor: str | None
    product: str | None
    entityId: None
    cpes: list[Any]
    versions: list[dict[str, str | None]]
    defaultStatus: str | None


class CveMembers(TypedDict, total=False):
    """What a source says of a vulnerability; a member that is missing or null states nothing."""

    cveId: str
    designators: list[dict[str, Any]]
    state: str
    title: str | None
    description: str | None
    assigner: Mapping[str, str | None]
    scoredBy: str | None
    scores: list[ScoreMembers] | None
    ssvc: Mapping[str, Any] | None
    weaknesses: list[WeaknessMembers] | None
    affected: list[ProductMembers] | None
    references: list[LinkMembers] | None
    kev: Mapping[str, str | None]
    epss: EpssMembers
    publishedAt: str | None
    modifiedAt: str | None

"""Threat actors as they are listed: flat rows of what stands in `ENTITIES`."""

from typing import Annotated

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.entities.candidates import Candidate
from svc_core.intel.entities.model import ActorFacet, EntityCore
from svc_core.operation.members import EntityId
from svc_core.wire.constraints import Example


@frozen
class ActorLink:
    """A technique, a piece of software or a campaign of an actor."""

    attack_id: Annotated[str | None, Example("T1566")]
    """Its id in ATT&CK."""
    name: Annotated[str, Example("Phishing")]
    """What it is called."""
    entity_id: EntityId


Links = Maybe[tuple[ActorLink, ...]]


@frozen(kw_only=True, slots=False)
class ThreatActor(ActorFacet, EntityCore):  # whose aliases say who uses each
    """A threat actor, with the members of its facet beside those of all entities."""

    __schema_name__ = "Actor"

    techniques: Links = UNSET
    """With `include=techniques`: what it does."""
    software: Links = UNSET
    """With `include=software`: malware and tools it uses."""
    campaigns: Links = UNSET
    """With `include=campaigns`: what is attributed to it."""
    candidates: Maybe[tuple[Candidate, ...]] = UNSET
    """With `include=candidates`: who else it may be, the likest first."""

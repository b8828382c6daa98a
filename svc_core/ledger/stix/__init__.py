"""The ledger as STIX 2.1 (OASIS Standard, 10 June 2021)."""

from svc_core.ledger.stix.bundle import bundle, others
from svc_core.ledger.stix.issuer import EXTENSION_ID
from svc_core.stix.marking import AMBER, Tlp

__all__ = ["AMBER", "EXTENSION_ID", "Tlp", "bundle", "others"]

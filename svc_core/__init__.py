"""The rules and use cases of the service, without input or output of their own.

An embedder hands in storage, time and identifiers and runs a use case inside one unit of work;
with a store that never suspends, `drive.run` does it without an event loop. What may be relied on
is listed here, and in the packages `ledger`, `payments`, `testing` and `webhooks`; every other
module is private and may change with any version. A name is loaded when it is first used, so that
importing a leaf of this package costs no more than the leaf.
"""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from svc_core import ledger as ledger
    from svc_core import payments as payments
    from svc_core import webhooks as webhooks
    from svc_core.access import limits as limits
    from svc_core.access import quotas as quotas
    from svc_core.access.creation import KeyWish as KeyWish
    from svc_core.access.operations import create_key as create_key
    from svc_core.access.operations import create_workspace as create_workspace
    from svc_core.access.scopes import SCOPES as SCOPES
    from svc_core.base import canonical as canonical
    from svc_core.base import drive as drive
    from svc_core.base.seals import Keyring as Keyring
    from svc_core.base.unset import UNSET as UNSET
    from svc_core.base.unset import Maybe as Maybe
    from svc_core.catalog import COLLECTIONS as COLLECTIONS
    from svc_core.catalog import OPERATIONS as OPERATIONS
    from svc_core.contract import cursor as cursor
    from svc_core.contract import etag as etag
    from svc_core.contract import idempotency as idempotency
    from svc_core.contract import problem as problem
    from svc_core.contract.problem import Problem as Problem
    from svc_core.contract.problem import ProblemType as ProblemType
    from svc_core.formats.model import Origin as Origin
    from svc_core.formats.reading.document_body import Body as Body
    from svc_core.formats.table import read_document as read_document
    from svc_core.formats.table import recognise_format as recognise_format
    from svc_core.intel.intake.record_intake import take_document as take_document
    from svc_core.intel.intake.registry import SourceWish as SourceWish
    from svc_core.intel.intake.registry import register_source as register_source
    from svc_core.operation.caller import Actor as Actor
    from svc_core.operation.context import Context as Context
    from svc_core.operation.declaration import Operation as Operation
    from svc_core.operation.executor import Execution as Execution
    from svc_core.operation.parsing import Call as Call
    from svc_core.operation.parsing import Site as Site
    from svc_core.operation.parsing import prepare as prepare
    from svc_core.operation.ports import SYSTEM as SYSTEM
    from svc_core.operation.ports import Collection as Collection
    from svc_core.operation.ports import Ids as Ids
    from svc_core.operation.ports import Storage as Storage
    from svc_core.operation.ports import Transaction as Transaction
    from svc_core.operation.reply import Reply as Reply
    from svc_core.operation.units import Units as Units
    from svc_core.reports.composition import Window as Window
    from svc_core.reports.composition import compose as compose
    from svc_core.reports.composition import gather_material as gather_material
    from svc_core.reports.composition import publish_report as publish_report
    from svc_core.reports.model import FACETS as FACETS
    from svc_core.reports.profiles.model import PROFILES as PROFILES
    from svc_core.reports.profiles.model import Profile as Profile
    from svc_core.reports.profiles.model import ProfileInput as ProfileInput
    from svc_core.reports.profiles.operations import CreateProfile as CreateProfile
    from svc_core.reports.profiles.operations import ProfileRequest as ProfileRequest
    from svc_core.reports.profiles.operations import create_profile as create_profile
    from svc_core.reports.profiles.operations import get_profile as get_profile
else:
    globals().update(
        lazy_names(
            __name__,
            {
                "": "ledger payments webhooks",
                "access": "limits quotas",
                "access.creation": "KeyWish",
                "access.operations": "create_key create_workspace",
                "access.scopes": "SCOPES",
                "base": "canonical drive",
                "base.seals": "Keyring",
                "base.unset": "Maybe UNSET",
                "catalog": "COLLECTIONS OPERATIONS",
                "contract": "cursor etag idempotency problem",
                "contract.problem": "Problem ProblemType",
                "formats.model": "Origin",
                "formats.reading.document_body": "Body",
                "formats.table": "read_document recognise_format",
                "intel.intake.record_intake": "take_document",
                "intel.intake.registry": "SourceWish register_source",
                "operation.caller": "Actor",
                "operation.context": "Context",
                "operation.declaration": "Operation",
                "operation.executor": "Execution",
                "operation.parsing": "Call Site prepare",
                "operation.ports": "Collection Ids SYSTEM Storage Transaction",
                "operation.reply": "Reply",
                "operation.units": "Units",
                "reports.composition": "Window compose gather_material publish_report",
                "reports.model": "FACETS",
                "reports.profiles.model": "PROFILES Profile ProfileInput",
                "reports.profiles.operations": (
                    "CreateProfile ProfileRequest create_profile get_profile"
                ),
            },
        )
    )

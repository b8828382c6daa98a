"""Links that open the page of one report without a key, until they expire.

    https://api.example.com/reports/AQHq3...9Zk

Rule 1: the token seals workspace, report and expiry (AES-256-GCM), so that none of them can be
        read, changed or exchanged; it cannot serve as a cursor, nor a cursor as a token.
Rule 2: an expired link says so; any other that opens nothing is refused without a reason.
"""

from datetime import UTC, datetime
from typing import Final

import attrs
from attrs import frozen

from svc_core.base.seals import Keyring
from svc_core.contract import cursor, problem
from svc_core.contract.cursor import CursorError
from svc_core.contract.problem import Problem

PATH: Final = "/reports"
_PURPOSE: Final = "report address"


@frozen
class Opening:
    """What a link opens: a report of a workspace, until `ends_at`."""

    tenant: str
    report_id: str
    ends_at: datetime


def seal_report_link(keyring: Keyring, opening: Opening, nonce: bytes) -> str:
    """The token of a link, which expires on a whole second; `nonce` is 12 random bytes."""
    ends = int(opening.ends_at.timestamp())
    fields = [opening.tenant, opening.report_id, ends]
    return cursor.seal(_keys(keyring), fields, b"", nonce)


def open_report_link(keyring: Keyring, token: str, now: datetime) -> Opening:
    """What the link with this token opens now.

    Raises:
        Problem: LINK_EXPIRED after its end, FORBIDDEN where this service did not issue it.
    """
    try:
        tenant, report_id, ends = cursor.unseal(_keys(keyring), token, b"")
    except CursorError as fault:
        detail = "This address was not given out here, or was changed on its way."
        resolution = problem.LINK_EXPIRED.resolution
        raise Problem(problem.FORBIDDEN, detail, resolution=resolution) from fault
    opening = Opening(tenant, report_id, datetime.fromtimestamp(ends, UTC))
    if now >= opening.ends_at:
        raise Problem(problem.LINK_EXPIRED, f"It ended at {opening.ends_at:%Y-%m-%d %H:%M} UTC.")
    return opening


def _keys(keyring: Keyring) -> Keyring:
    return attrs.evolve(keyring, purpose=_PURPOSE)

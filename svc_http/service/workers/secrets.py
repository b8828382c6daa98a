"""Seals webhook secrets with the new master secret after a rotation.

Rule 1: it goes through bounded pages, one small transaction for each webhook, while requests are
        served. Each webhook is tried once, so it ends, also where a process with another master
        secret seals them anew at the same time.
Rule 2: a secret that cannot be opened is reported and left as it is: it opens again once its
        master secret is listed, and until then its events wait.
"""

from contextlib import suppress
from functools import partial
from typing import Final

from svc_core.base.seals import SealError
from svc_core.outbox.model import WEBHOOK_SECRETS
from svc_core.webhooks import webhook_secrets as keys
from svc_http.service.service_units import OnFailure, Service

PAGE_ROWS: Final = 100
"""Webhooks read at once."""

Key = tuple[str, str]
"""A webhook: its tenant and its id."""


async def renew_secrets(service: Service, on_failure: OnFailure, page_rows: int = PAGE_ROWS) -> int:
    """Seal again what an earlier master secret sealed; return the number of webhooks.

    `on_failure` is called once if some secrets cannot be opened with any listed master secret.
    """
    tried: set[Key] = set()
    count = 0
    while page := await _untried(service, tried, page_rows):
        for tenant, webhook_id in page:
            with suppress(SealError):
                await service.write(tenant, partial(keys.renew_seal, webhook_id=webhook_id))
                count += 1
        tried |= {*page}
    filters = keys.sealed_unlisted(service.keyring)
    if count < len(tried) or await service.storage.across(WEBHOOK_SECRETS, where=filters, limit=1):
        on_failure(SealError("Secrets of webhooks wait for a master secret that is not listed."))
    return count


async def _untried(service: Service, tried: set[Key], page_rows: int) -> list[Key]:
    """The next webhooks that were not tried yet; those that failed may come first in the index."""
    rows = await service.storage.across(
        WEBHOOK_SECRETS, where=keys.sealed_earlier(service.keyring), limit=len(tried) + page_rows
    )
    return [key for row in rows if (key := (row.tenant, row.document.id)) not in tried]

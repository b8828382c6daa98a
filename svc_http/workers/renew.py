"""Seals the secrets of webhooks anew after the master secret was changed.

Rule 1: it goes through bounded pages, one small transaction for each webhook, while requests are
        served. What was sealed anew is in no later page, so it ends.
Rule 2: a secret that cannot be opened is told and left as it is: it opens again once its master
        secret is listed, and until then its events wait.
"""

from functools import partial
from typing import Final

from svc_core.resources.webhook import WEBHOOK_SECRETS
from svc_core.vault import VaultError
from svc_core.webhooks import keys
from svc_http.runtime.service import Failed, Service

PAGE_ROWS: Final = 100
"""Webhooks looked up at once."""


async def renew_secrets(service: Service, failed: Failed, page_rows: int = PAGE_ROWS) -> int:
    """Seal with the present master secret whatever an earlier one sealed; how many webhooks.

    `failed` hears once that there are secrets which no listed master secret opens.
    """
    renewed = 0
    while page := await _renew_page(service, page_rows):
        renewed += page
    lost = (keys.under_earlier(service.keyring), keys.under_unknown(service.keyring))
    for where in lost:
        if await service.storage.across(WEBHOOK_SECRETS, where=where, limit=1):
            failed(VaultError("Secrets of webhooks wait for a master secret that is not listed."))
            break
    return renewed


async def _renew_page(service: Service, page_rows: int) -> int:
    """Seal anew what one page finds; nothing when it holds only what cannot be opened."""
    where = keys.under_earlier(service.keyring)
    found = await service.storage.across(WEBHOOK_SECRETS, where=where, limit=page_rows)
    renewed = 0
    for row in found:
        try:
            await service.write(row.tenant, partial(keys.renew, webhook_id=row.document.id))
        except VaultError:
            continue
        renewed += 1
    return renewed

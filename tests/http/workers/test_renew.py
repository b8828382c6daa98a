"""After a change of the master secret the secrets of every webhook are sealed anew."""

from typing import Any

import anyio
import attrs
import pytest

from svc_core.base.seals import Keyring
from svc_core.outbox.model import WEBHOOK_SECRETS
from svc_core.webhooks import webhook_secrets as keys
from svc_core.webhooks.operations import (
    WEBHOOK_ROWS,
    NewWebhook,
    WebhookRequest,
    delete_webhook,
)
from svc_http.service.workers.secrets import renew_secrets

pytestmark = pytest.mark.anyio

MASTERS = {1: b"k" * 32, 2: b"n" * 32, 9: b"x" * 32}
TENANTS = ["wsp_a", "wsp_b", "usr_c"]


async def add_webhooks(service: Any, number: int = 4) -> None:
    secret = "whsec_" + "U0VD" * 8
    body = NewWebhook("https://hooks.example.com/svc", secret=secret)
    for tenant in TENANTS:
        for _ in range(number):
            await service.write(tenant, lambda ctx: WEBHOOK_ROWS.create_row(ctx, body))


async def rows(service: Any) -> list[Any]:
    return list(await service.storage.across(WEBHOOK_SECRETS, limit=100))


async def signing_keys(service: Any) -> dict[str, tuple[bytes, ...]]:
    return {
        row.document.id: await service.read(
            row.tenant, lambda ctx, id_=row.document.id: keys.signing_keys(ctx, id_)
        )
        for row in await rows(service)
    }


def with_masters(service: Any, current: int, *older: int) -> Any:
    masters = {id_: MASTERS[id_] for id_ in (current, *older)}
    return attrs.evolve(service, keyring=Keyring(masters, current))


async def test_every_secret_of_every_tenant_is_sealed_anew_page_by_page(any_house: Any) -> None:
    failures: list[BaseException] = []
    service = any_house.service
    await add_webhooks(service)
    before = await signing_keys(service)
    assert await renew_secrets(service, failures.append) == 0
    after = with_masters(service, 2, 1)
    assert await signing_keys(after) == before
    assert await renew_secrets(after, failures.append, page_rows=5) == 12
    assert await renew_secrets(after, failures.append) == 0
    assert await signing_keys(with_masters(service, 2)) == before
    assert failures == []


@pytest.mark.parametrize("page_rows", [1, 100])
async def test_a_secret_that_cannot_be_opened_is_told_and_left_as_it_is(
    any_house: Any, page_rows: int
) -> None:
    failures: list[BaseException] = []
    await add_webhooks(with_masters(any_house.service, 9), 1)
    unreadable = await signing_keys(with_masters(any_house.service, 9))
    await add_webhooks(any_house.service, 1)
    after = with_masters(any_house.service, 2, 1)
    assert await renew_secrets(after, failures.append, page_rows) == 3
    (failure,) = failures
    assert "not listed" in str(failure)
    again = with_masters(any_house.service, 2, 9)
    assert {id_: (await signing_keys(again))[id_] for id_ in unreadable} == unreadable


async def test_a_secret_that_was_tampered_with_holds_up_nobody(any_house: Any) -> None:
    failures: list[BaseException] = []
    service = any_house.service
    await add_webhooks(service)
    first, second, *_ = await rows(service)
    secret = WEBHOOK_SECRETS.decode(second.document.raw)
    foreign_secret = attrs.evolve(secret, webhook_id=first.document.id)
    await service.write(
        first.tenant, lambda ctx: ctx.save(WEBHOOK_SECRETS, first.document.id, foreign_secret)
    )
    assert await renew_secrets(with_masters(service, 2, 1), failures.append, page_rows=5) == 11
    assert len(failures) == 1


async def test_a_webhook_that_was_deleted_meanwhile_is_passed_over(any_house: Any) -> None:
    service = any_house.service
    await add_webhooks(service, 1)
    row, *_ = await rows(service)
    request = WebhookRequest(row.document.id)

    async def unit(ctx: Any) -> None:
        await delete_webhook(ctx, request)
        await keys.renew_seal(ctx, row.document.id)

    await service.write(row.tenant, unit)
    assert len(await rows(service)) == 2


async def test_two_processes_with_different_master_secrets_both_come_to_an_end(
    any_house: Any,
) -> None:
    """During a rotation one seals with the new secret what the other seals with the old one."""
    service = any_house.service
    await add_webhooks(service)
    before = await signing_keys(service)
    failures: list[BaseException] = []
    ways = (with_masters(service, 1, 2), with_masters(service, 2, 1))
    async with anyio.create_task_group() as tasks:
        for way in ways * 2:
            tasks.start_soon(renew_secrets, way, failures.append, 1)
    assert await signing_keys(ways[0]) == await signing_keys(ways[1]) == before
    assert failures == []

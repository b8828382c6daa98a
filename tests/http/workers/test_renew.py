"""After a change of the master secret the secrets of every webhook are sealed anew."""

from typing import Any

import anyio
import attrs
import pytest

from svc_core.base.seals import Keyring
from svc_core.outbox.model import WEBHOOK_SECRETS
from svc_core.webhooks import keys
from svc_core.webhooks.operations import (
    CreateWebhook,
    NewWebhook,
    OneWebhook,
    create_webhook,
    delete_webhook,
)
from svc_http.service.workers.secrets import renew_secrets

pytestmark = pytest.mark.anyio

MASTERS = {1: b"k" * 32, 2: b"n" * 32, 9: b"x" * 32}
TENANTS = ["wsp_a", "wsp_b", "usr_c"]


async def add_webhooks(service: Any, number: int = 4) -> None:
    secret = "whsec_" + "U0VD" * 8
    request = CreateWebhook(NewWebhook("https://hooks.example.com/svc", secret=secret))
    for tenant in TENANTS:
        for _ in range(number):
            await service.write(tenant, lambda ctx: create_webhook(ctx, request))


async def rows(service: Any) -> list[Any]:
    return list(await service.storage.across(WEBHOOK_SECRETS, limit=100))


async def opened(service: Any) -> dict[str, tuple[bytes, ...]]:
    return {
        row.document.id: await service.read(
            row.tenant, lambda ctx, id_=row.document.id: keys.signing_keys(ctx, id_)
        )
        for row in await rows(service)
    }


def turned(service: Any, current: int, *others: int) -> Any:
    listed = {id_: MASTERS[id_] for id_ in (current, *others)}
    return attrs.evolve(service, keyring=Keyring(listed, current))


async def test_every_secret_of_every_tenant_is_sealed_anew_page_by_page(any_house: Any) -> None:
    failures: list[BaseException] = []
    service = any_house.service
    await add_webhooks(service)
    before = await opened(service)
    assert await renew_secrets(service, failures.append) == 0
    after = turned(service, 2, 1)
    assert await opened(after) == before
    assert await renew_secrets(after, failures.append, page_rows=5) == 12
    assert await renew_secrets(after, failures.append) == 0
    assert await opened(turned(service, 2)) == before
    assert failures == []


@pytest.mark.parametrize("page_rows", [1, 100])
async def test_a_secret_that_cannot_be_opened_is_told_and_left_as_it_is(
    any_house: Any, page_rows: int
) -> None:
    failures: list[BaseException] = []
    await add_webhooks(turned(any_house.service, 9), 1)
    lost = await opened(turned(any_house.service, 9))
    await add_webhooks(any_house.service, 1)
    after = turned(any_house.service, 2, 1)
    assert await renew_secrets(after, failures.append, page_rows) == 3
    (failure,) = failures
    assert "not listed" in str(failure)
    again = turned(any_house.service, 2, 9)
    assert {id_: (await opened(again))[id_] for id_ in lost} == lost


async def test_a_secret_that_was_tampered_with_holds_up_nobody(any_house: Any) -> None:
    failures: list[BaseException] = []
    service = any_house.service
    await add_webhooks(service)
    first, second, *_ = await rows(service)
    moved = WEBHOOK_SECRETS.decode(second.document.raw)
    broken = attrs.evolve(moved, webhook_id=first.document.id)
    await service.write(
        first.tenant, lambda ctx: ctx.save(WEBHOOK_SECRETS, first.document.id, broken)
    )
    assert await renew_secrets(turned(service, 2, 1), failures.append, page_rows=5) == 11
    assert len(failures) == 1


async def test_a_webhook_that_was_deleted_meanwhile_is_passed_over(any_house: Any) -> None:
    service = any_house.service
    await add_webhooks(service, 1)
    row, *_ = await rows(service)
    request = OneWebhook(row.document.id)

    async def unit(ctx: Any) -> None:
        await delete_webhook(ctx, request)
        await keys.renew(ctx, row.document.id)

    await service.write(row.tenant, unit)
    assert len(await rows(service)) == 2


async def test_two_processes_with_different_master_secrets_both_come_to_an_end(
    any_house: Any,
) -> None:
    """During a rotation one seals with the new secret what the other seals with the old one."""
    service = any_house.service
    await add_webhooks(service)
    before = await opened(service)
    failures: list[BaseException] = []
    ways = (turned(service, 1, 2), turned(service, 2, 1))
    async with anyio.create_task_group() as tasks:
        for way in ways * 2:
            tasks.start_soon(renew_secrets, way, failures.append, 1)
    assert await opened(ways[0]) == await opened(ways[1]) == before
    assert failures == []

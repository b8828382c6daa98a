"""Fills a new store for the demo with sources, profiles, reports and ledger records.

It uses the same operations as real use: files are added as sources and taken in, profiles are
created, reports are made, records are appended. Nothing is written past the executor.
"""

import json
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path

import attrs
from attrs import field, frozen

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.one_use_links import LinkGrant, issue_link
from svc_core.access.operations import IssuedKey
from svc_core.access.people import create_credential
from svc_core.access.scopes import SCOPES
from svc_core.intel.folding.model import Source
from svc_core.intel.intake.operations import PullOutcome
from svc_core.intel.signals.model import SIGNALS
from svc_core.intel.signals.operations import DismissSignal, dismiss_signal
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.host import Progress, ProgressListener, silent
from svc_core.reports import publications
from svc_core.reports.composition import Window
from svc_core.reports.profiles import operations
from svc_core.reports.profiles.model import PROFILES as STORED
from svc_core.reports.profiles.model import SUBSCRIPTIONS, ProfileInput
from svc_core.reports.report_commands import OpenReport, open_report
from svc_core.reports.report_runs import make_report
from svc_core.search.vector_likeness import Embedder
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.run.demo.demo_feeds import DemoDocument, data_documents, demo_documents
from svc_http.run.demo.demo_profiles import PROFILES, PUBLIC
from svc_http.run.demo.subject import DemoSubject, append_demo_subject
from svc_http.service.service_units import Service
from svc_http.service.workers.source_pulls import add_source, pull_all

WORKSPACE = "demo"
PLAN = "elite"
KEY_LIFETIME = timedelta(hours=24)
WEEK = timedelta(days=7)


@frozen
class SeededDemo:
    """The contents of a filled demo store.

    `key` is the secret of a key with every scope, `report_id` a report that is worth reading,
    `subject` what the ledger tells of. `sign_in` is a link that signs in the demo's owner once, and
    `report_url` opens the report.
    """

    workspace_id: str
    plan: str
    key: str = field(repr=False)
    profiles: int
    sources: int
    items: int
    reports: int
    report_id: str
    subject: DemoSubject
    sign_in: str = field(repr=False)
    report_url: str = field(repr=False)


async def seed_demo(
    service: Service, fetcher: Fetcher, folder: Path, tell: ProgressListener = silent
) -> SeededDemo:
    """Fill the store; the documents are written to `folder`, which must stay while it is used.

    `tell` gets the number of documents that were read. The reports are made of words: a model that
    makes the vectors of every item would hold up the start, and has them soon after it.
    """
    lends = {
        kind: provider for kind, provider in service.host.providers.items() if kind is not Embedder
    }
    service = attrs.evolve(service, host=attrs.evolve(service.host, providers=lends))
    house = await service.system(lambda ctx: _open_house(ctx, service))
    tenant = house.key.tenant
    read = demo_documents(service.now())
    earlier = data_documents(service.now(), earlier=True)
    documents = (*read, *data_documents(service.now()))
    numbers = count(1)

    def count_document(outcome: PullOutcome) -> None:
        name = outcome.source.name if outcome.source else ""
        tell(Progress(next(numbers), len(earlier) + len(documents), name))

    was = await pull_all(
        service, await _add_sources(service, folder, earlier), fetcher, count_document
    )
    sources = await _add_sources(service, folder, documents)
    outcomes = (*was, *await pull_all(service, sources, fetcher, count_document))
    await _dismiss(service)
    # The last one made heads every list, and the first of the table is the richest.
    reports = [
        await _watch(service, tenant, wish, is_spoken=wish is PROFILES[0])
        for wish in reversed(PROFILES)
    ]
    subject = await append_demo_subject(service, house.key, read)
    opening = OpenReport(reports[-1])
    page = await service.read(tenant, lambda ctx: open_report(ctx, opening))
    return SeededDemo(
        workspace_id=tenant,
        plan=PLAN,
        key=house.secret,
        profiles=len(reports),
        sources=len(sources),
        items=sum(outcome.run.created for outcome in outcomes),
        reports=len(set(reports)),
        report_id=reports[-1],
        subject=subject,
        sign_in=await service.system(partial(_let_in, user_id=house.key.user_id or "")),
        report_url=json.loads(page.raw)["url"],
    )


async def _add_sources(
    service: Service, folder: Path, documents: Iterable[DemoDocument]
) -> list[Source]:
    """The sources of these documents, which are written to the folder."""
    sources = []
    for document in documents:
        path = folder / document.file_name
        path.write_bytes(document.body)
        sources.append(
            await add_source(
                service,
                str(path),
                name=document.name,
                topics=document.topics or None,
                options=document.options,
            )
        )
    return sources


async def _dismiss(service: Service) -> None:
    """Dismiss one signal, the oldest of the weakest type, as an operator does."""

    async def dismiss(ctx: Context) -> None:
        page = await ctx.tx.documents.scan(SIGNALS, where={"type": ("toneShift",)}, limit=100)
        for row in page.rows[-1:]:
            await dismiss_signal(ctx, DismissSignal(row.id))

    await service.system(dismiss)


async def _open_house(ctx: Context, service: Service) -> IssuedKey:
    home = await accounts.create_workspace(ctx, name=WORKSPACE, plan=PLAN, plans=service.plans)
    wish = KeyWish(
        name="demo",
        scopes=tuple(SCOPES),
        workspace_id=home.id,
        expires_at=ctx.now + KEY_LIFETIME,
    )
    return await accounts.create_key(ctx, wish, plans=service.plans)


async def _let_in(ctx: Context, user_id: str) -> str:
    """The address that signs in the owner of the demo, who is its operator."""
    await create_credential(ctx, user_id, WORKSPACE, is_operator=True)
    link = await issue_link(ctx, "sign-in", LinkGrant(user_id=user_id))
    return link.address(ctx.host.origin)


async def _watch(service: Service, tenant: str, wish: ProfileInput, *, is_spoken: bool) -> str:
    """Create a profile and make the report of its last week; the report's id."""
    request = operations.CreateProfile(wish)
    profile = await service.write(tenant, lambda ctx: operations.create_profile(ctx, request))
    profile_id = STORED.decode(profile.raw).id
    if is_spoken:
        await service.write(tenant, lambda ctx: _want_audio(ctx, profile_id))
    # The documents are up to a week old, and a first report covers two days of a daily profile.
    now = service.now()
    window = Window(now, now - WEEK, "published")
    row = await make_report(service, tenant, profile_id, window)
    if wish in PUBLIC:
        chosen = publications.ChosenProfile(profile_id)
        await publications.publish_profile(service.context(Actor(tenant)), chosen)
    return row.id


async def _want_audio(ctx: Context, profile_id: str) -> None:
    """Have the reports of a profile spoken; the voice comes later, in the background."""
    rows = await ctx.tx.documents.scan(SUBSCRIPTIONS, where={"profile_id": (profile_id,)}, limit=1)
    for document in rows.rows:
        before = SUBSCRIPTIONS.decode(document.raw)
        delivery = attrs.evolve(before.delivery, include_audio=True)
        after = attrs.evolve(before, delivery=delivery, updated_at=ctx.now)
        await ctx.save(SUBSCRIPTIONS, before.id, after)

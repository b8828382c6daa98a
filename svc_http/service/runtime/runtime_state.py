"""The state of a running service: settings, storage, clock, gate, log, counters, workers.

Whoever starts a service makes one; endpoints and workers receive it, and nothing is global.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import attrs
from attrs import define, field, frozen

from svc_core.access.address import AddressRules, parse_trusted
from svc_core.access.lockout import MemoryLockouts
from svc_core.access.passkeys import PasskeyJudge
from svc_core.access.plans import PlanTable
from svc_core.access.quotas import MemoryCounters
from svc_core.agent.agent_ports import Backend, Tools
from svc_core.agent.rule_backend import RuleBackend
from svc_core.base.clock_jumps import ClockJumps
from svc_core.base.seals import SealError
from svc_core.catalog.tools import CatalogueTools
from svc_core.knowledge.retrieval import TimeLimit
from svc_core.ledger.repository import SignedHeads
from svc_core.ledger.signing_key import Purpose, ensure_signer, stored_signer
from svc_core.ledger.timestamps import SealedTime
from svc_core.operation.context import Context
from svc_core.operation.host import Host, Signer
from svc_core.operation.parsing import Site
from svc_core.operation.ports import SYSTEM, Ids, Lockouts, SharedUnavailable, Storage, Transaction
from svc_core.operation.stream import Watch
from svc_core.operation.writer import Writer
from svc_core.payments.evm import Judge
from svc_core.payments.operations import Receipts
from svc_core.payments.receipts import Signing
from svc_core.payments.store import StoredPayments
from svc_core.reports.page import Typesetter
from svc_core.search.corpus import Tables
from svc_core.search.vector_likeness import Embedder
from svc_http import system
from svc_http.adapter.page_cache import PageCache
from svc_http.exchange.fair_shares import BoundedLine, Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.task_ends import end_tasks
from svc_http.guard import address_limits
from svc_http.guard.checkout import PaymentCheckout
from svc_http.guard.gate import Gate, Principals
from svc_http.guard.keyed_locks import KeyedLocks
from svc_http.guard.shared_gate import SharedGate
from svc_http.guard.streams import StreamRooms, rooms
from svc_http.outside.chat import Chat
from svc_http.outside.embeddings.model import Embeddings
from svc_http.outside.facilitators.x402 import PaymentProvider
from svc_http.outside.voices.speech_port import Speech
from svc_http.pages import markup
from svc_http.service.commits import Commits, StoreWatch
from svc_http.service.journal import Journal, scrub
from svc_http.service.process_metrics import Metrics
from svc_http.service.secret import keyring
from svc_http.service.service_units import OnFailure, Service, line_of_long_reads
from svc_http.service.signed_heads import SignedHeadsFile
from svc_http.settings import Settings
from svc_http.stores.counters.in_process import Coordination, in_memory
from svc_http.stores.media.media_choice import media_of
from svc_http.stores.media.media_port import Media

RESTART_SECONDS = 5.0
"""How long a failed worker waits before it starts again, so that it does not fail in a loop."""

WATCH_SECONDS = 1.0
"""How often the clock is looked at, and whether a new epoch of the change feed was begun."""

Worker = Callable[["Runtime"], Awaitable[object]]
"""A background loop, cancelled soon after `runtime.drain` is set. Cancelled once, it begins no new
work and finishes or gives back what it has; cancelled again, because that took long, it ends."""

Closing = Callable[[], Awaitable[None]]


@frozen
class Providers:
    """The outside services that this service uses; None where there is none.

    `speech` reads reports aloud; `embedder` judges the meaning of items; `chat` answers questions;
    `payments` is with whom payments are made, `passkeys` who judges them.
    """

    speech: Speech | None = None
    embedder: Embeddings | None = None
    chat: Chat | None = None
    payments: PaymentProvider | None = None
    passkeys: PasskeyJudge | None = None


def _host(
    settings: Settings, plan_table: PlanTable, storage: Storage, providers: Providers
) -> Host:
    """The settings and providers that the core reads through its context (`ctx.host`)."""
    chat, embedder = providers.chat, providers.embedder
    lends: dict[type, Any] = {Typesetter: markup.PageTypesetter(settings.origin), Tables: Tables()}
    lends |= {PlanTable: plan_table, TimeLimit: asyncio.wait_for, Backend: chat or RuleBackend()}
    lends |= {Receipts: StoredPayments(storage), SealedTime: SealedTime()}
    lends[SignedHeads] = SignedHeads()
    lends[Tools] = CatalogueTools(Site(settings.origin, aliases=False))
    if chat is not None and settings.rewrite_reports:
        lends[Writer] = chat
    if embedder is not None:
        lends[Embedder] = embedder
    if providers.passkeys is not None:
        lends[PasskeyJudge] = providers.passkeys
    return Host(
        settings.origin,
        settings.env == "development",
        allow_erasure=frozenset(settings.allow_erasure),
        has_voice=providers.speech is not None,
        audio_wait=settings.audio_wait,
        reports_at_once=settings.reports_at_once,
        reports_per_hour=settings.reports_per_hour,
        media_base_url=settings.media_base_url,
        thread_retention=timedelta(days=settings.thread_days),
        audit_retention=timedelta(days=settings.audit_days),
        retention=settings.retention,
        ui_finish_reason=settings.ui_finish_reason,
        aliases_until=settings.aliases_until,
        lite_keys_before=settings.lite_keys_before,
        providers=lends,
    )


@define(eq=False, slots=False)
class Runtime:
    """Holds the parts of one service; starts and stops its workers.

    `settings` have a secret (`secret.with_secret`). `plans` is by default the table that they name,
    `media` the store of recordings that they name, and `shared` counts in this process alone.
    `workers` run as tasks from the start to the drain; `closing` is awaited, in order, after they
    ended. `keys` are the purposes that need a signing key. `number` identifies the process in a
    log that several processes share.

    Raises:
        ValueError: the settings have no secret.
        SettingsError: they name media that need a library which is not installed.
    """

    settings: Settings
    storage: Storage
    now: Callable[[], datetime] = system.now
    monotonic: Callable[[], float] = system.monotonic
    ids: Ids = field(factory=system.SystemIds)
    plans: PlanTable = field()
    providers: Providers = Providers()
    media: Media | None = field()
    shared: Coordination = field()
    workers: Sequence[Worker] = ()
    closing: Sequence[Closing] = ()
    keys: Iterable[Purpose] = ()
    number: int | None = None
    lends: Mapping[type, Any] = field(factory=dict, init=False)
    line: BoundedLine = field(factory=line_of_long_reads, init=False)
    """What whoever runs the service lends its operator, such as the network of `sources pull`."""
    pages: PageCache = field(factory=PageCache, init=False)
    streams: Mapping[str, StreamRooms] = field(factory=rooms, init=False)
    metrics: Metrics = field(factory=Metrics, init=False)
    drain: asyncio.Event = field(factory=asyncio.Event, init=False)
    clock: ClockJumps = field(factory=ClockJumps, init=False)
    is_started: bool = field(default=False, init=False)
    is_doubted: bool = field(default=False, init=False)
    """Whether the store has failed and has not been seen to accept a write since (`/readyz`)."""
    _is_halted: bool = field(default=False, init=False)
    _starting: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _tasks: list[asyncio.Task[None]] = field(factory=list, init=False)

    @plans.default
    def _plans(self) -> PlanTable:
        return self.settings.plan_table

    @media.default
    def _media(self) -> Media | None:
        return media_of(self.settings, self.storage)

    @shared.default
    def _shared(self) -> Coordination:
        return in_memory(self.monotonic)

    def __attrs_post_init__(self) -> None:
        settings, storage, providers = self.settings, self.storage, self.providers
        if settings.secret is None:
            raise ValueError("The settings have no secret; pass them through secret.secured().")
        self.keyring = keyring(settings.secret, settings.secret_previous)
        self.host = _host(settings, self.plans, storage, providers)
        signed = self.host.providers[SignedHeads]
        self.signed_heads = SignedHeadsFile(settings.history_place, signed)
        counters = self.shared.counters
        memory_counters = counters if isinstance(counters, MemoryCounters) else None
        self.principals = Principals(storage, self.plans, self.monotonic, memory_counters)
        self.addresses = parse_trusted(
            settings.trusted_proxies, settings.forwarded_hops, settings.lockout_ipv6_prefix
        )
        self.gate = self._make_gate()
        self.commits = Commits(storage)
        self.load = Load(settings.in_flight_max, self.gate.block, self.gate.tenant)
        self.locks = KeyedLocks(settings.in_flight_max)
        self.checkout = (
            None if providers.payments is None else self._make_checkout(providers.payments)
        )
        self.journal = Journal.of(settings, self.number)
        for name, model in (("embeddings", providers.embedder), ("agent", providers.chat)):
            if model is not None:
                model.on_failure = self.on_failure(name)
        # Whether somebody serves on the same socket once this has drained.
        self.is_replaced = settings.processes is not None
        self._sites = self._make_sites(self.now())
        self._site_until = self._next_change(self.now())

    def _make_gate(self) -> Gate:
        if not self.settings.rate_limits:
            return Gate(self.principals, self.addresses, MemoryLockouts(0))
        counters, lockouts = self.shared.counters, self.shared.lockouts
        if isinstance(counters, MemoryCounters) and isinstance(lockouts, MemoryLockouts):
            return Gate(self.principals, self.addresses, lockouts)
        admits, monotonic = self.settings.counters_down == "admit", self.monotonic
        return SharedGate(
            self.principals, self.addresses, counters, lockouts, monotonic=monotonic, admits=admits
        )

    def _make_checkout(self, paying: PaymentProvider) -> PaymentCheckout:
        return PaymentCheckout(
            self.settings,
            self.storage,
            facilitator=paying.facilitator,
            judge=Judge(paying.terms.network, paying.crypto),
            chain=paying.chain,
            now=self.now,
            ids=self.ids,
            counters=self.shared.counters,
            tally=self.metrics.tally,
            signing=self._signing,
        )

    def _signing(self) -> Signing | None:
        signer = self.host.receipt_signer
        return None if signer is None else Signing(signer, self.origin)

    @property
    def service(self) -> Service:
        """The units of work of workers and of the operator, who act without a request."""
        parts = self.storage, self.ids, self.now, self.keyring, self.host
        return Service(*parts, plans=self.plans, line=self.line)

    @property
    def desk_units(self) -> Service:
        """The units of work of the dashboard, with what the operator's commands are lent."""
        service = self.service
        lends = {
            **service.host.providers,
            Lockouts: self.shared.lockouts,
            AddressRules: self.addresses,
            **self.lends,
        }
        return attrs.evolve(service, host=attrs.evolve(service.host, providers=lends))

    def on_failure(self, event: str) -> OnFailure:
        """What logs the failures of one kind of work, with their tracebacks."""
        return partial(self.journal.failure, event)

    def _log_counters(self, reason: str) -> None:
        if reason:
            self.journal.note("error", "counters unreachable", reason=scrub(reason))
        else:
            self.journal.note("info", "counters reachable")

    # -- what the edge and the endpoints ask ---------------------------------------------------

    @property
    def origin(self) -> str:
        """The public origin that links begin with."""
        return self.settings.origin

    def site(self, now: datetime, exchange: Exchange | None = None) -> Site:
        """The origin and the compatibility rules for answers at `now`.

        A compatibility window may have ended since the start. Links in an answer of the secondary
        data origin stay at that origin.
        """
        if self._site_until is not None and now >= self._site_until:
            self._sites = self._make_sites(now)
            self._site_until = self._next_change(now)
            self.pages.clear()
        return self._sites[exchange is not None and exchange.is_secondary]

    def _make_sites(self, now: datetime) -> tuple[Site, Site]:
        """The rules for answers of the public origin and of the secondary one."""
        settings = self.settings
        site = Site(
            base_url=settings.origin,
            aliases=self.host.has_aliases(now),
            legacy_ids=settings.legacy_ids_until is None or now < settings.legacy_ids_until,
            unknown_query=settings.unknown_query,
        )
        return site, attrs.evolve(site, base_url=settings.data_origin or settings.origin)

    def _next_change(self, now: datetime) -> datetime | None:
        window_ends = (self.settings.aliases_until, self.settings.legacy_ids_until)
        return min((end for end in window_ends if end is not None and end > now), default=None)

    def watch(self, tenant: str, context: Callable[[Transaction, datetime], Context]) -> Watch:
        """A view of the store for a stream of this tenant."""
        return StoreWatch(self.storage, tenant, context, self.commits, self.now)

    def count_keyless(self, exchange: Exchange, now: datetime) -> Awaitable[None]:
        """Count a request that shows no key.

        Raises:
            Problem: as `CallerLimit.count`.
        """
        admits = self.settings.counters_down == "admit"
        block = self.gate.block(exchange)
        return address_limits.BY_ADDRESS.count(self.shared.counters, block, now, admits=admits)

    async def count_visit(self, session_id: str, now: datetime) -> None:
        """Count a page of the dashboard for a session.

        Raises:
            Problem: as `CallerLimit.count`.
        """
        if self.settings.rate_limits:
            admits = self.settings.counters_down == "admit"
            counters = self.shared.counters
            await address_limits.BY_SESSION.count(counters, session_id, now, admits=admits)

    @property
    def refuses(self) -> bool:
        """Whether new requests are turned away because the service ends.

        Where other processes serve the port, or this one will again, a process that ends accepts
        no new connections, but answers requests on those that it has.
        """
        return self.drain.is_set() and not self.is_replaced

    # -- life ----------------------------------------------------------------------------------

    async def unlock(self) -> None:
        """Load the key that signs ledgers, or create it at the first start of a store.

        A key that was sealed with a secret that is no longer listed stays closed: operations that
        sign answer 503 until the secret is listed again, and all others work.
        """
        if self.host.signer is None:
            self.host = attrs.evolve(self.host, signer=await self._signer("ledger"))

    async def _signer(self, purpose: Purpose) -> Signer | None:
        service = self.service
        try:
            return await service.read(
                SYSTEM, lambda ctx: stored_signer(ctx, purpose)
            ) or await service.system(lambda ctx: ensure_signer(ctx, purpose))
        except SealError:
            reason = "no listed secret opens it; list the one that sealed it in secret_previous"
            self.journal.note("error", f"{purpose} key", why=reason)
            return None

    async def start(self) -> None:
        """Start the workers; the lifespan or the first request calls it, later calls do nothing."""
        async with self._starting:
            if self.is_started:
                return
            if "ledger" in self.keys:
                await self.unlock()
            if "receipt" in self.keys:
                signer = await self._signer("receipt")
                self.host = attrs.evolve(self.host, receipt_signer=signer)
            self.shared.circuit.on_change = self._log_counters
            with suppress(SharedUnavailable):  # the log tells at once where it cannot be reached
                await self.shared.lockouts.failures("")
            works = (*self.workers, Runtime._watch)
            self._tasks = [asyncio.create_task(self._supervise(work)) for work in works]
            self.is_started = True

    async def _watch(self) -> None:
        """Log that the clock was set, and that the change feed has begun a new epoch."""
        renewals: list[str] = getattr(self.storage, "renewals", [])
        while not self.drain.is_set():
            jump = self.clock.look(self.now().timestamp(), self.monotonic())
            if jump:
                self.journal.note("error", "clock jumped", seconds=round(jump, 3))
            while renewals:
                self.journal.note("error", "change feed renewed", reason=renewals.pop())
            self.signed_heads.write()
            await asyncio.sleep(WATCH_SECONDS)  # a wait for the drain would bind it to this loop

    def clock_state(self) -> dict[str, object]:
        """What is wrong with the clock, for `/readyz`: by how much it was set while this process
        ran, and by how much the newest sealed time is ahead of it; empty if nothing is."""
        now, clock = self.now(), self.clock
        ahead = self.host.providers[SealedTime].ahead_seconds(now)
        jump = {"clockJumpSeconds": round(clock.jumped, 3)} if clock.at else {}
        return {**jump, **({"sealedAheadSeconds": ahead} if ahead else {})}

    def halt(self) -> None:
        """Stop the workers from beginning new work; `stop` waits for the rest. Safe to repeat."""
        self.drain.set()
        if not self._is_halted:
            self._is_halted = True
            for task in self._tasks:
                task.cancel()

    async def stop(self) -> None:
        """End the workers, then await `closing`. Safe to repeat."""
        self.halt()
        tasks, self._tasks = self._tasks, []
        await end_tasks(tasks, self.settings.graceful_seconds)
        if self.checkout is not None:
            await self.checkout.drain(self.settings.graceful_seconds)
        self.signed_heads.write()
        closing, self.closing = self.closing, ()
        for close in closing:
            await close()
        self.journal.close()

    async def _supervise(self, worker: Worker) -> None:
        while not self.drain.is_set():
            try:
                await worker(self)
                return
            except Exception as failure:  # A worker's defect must not end the service.
                self.is_doubted = True  # it may be the store's
                self.journal.failure("worker", failure)
            try:
                await asyncio.wait_for(self.drain.wait(), RESTART_SECONDS)
            except TimeoutError:
                continue

"""The providers that operator commands need of this host: publishers, a voice and files."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from svc_core.access.address import AddressRules
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.intel.folding.model import Source
from svc_core.intel.intake.operations import PullOutcome, SourceReader
from svc_core.ledger.local_operations import Exports, UnreadableExport
from svc_core.operation.host import Progress, ProgressListener
from svc_core.operation.ports import Lockouts
from svc_core.payments.steps import Checkout
from svc_core.reports.audio import Audio
from svc_core.reports.report_commands import Speaker
from svc_core.reports.speech_tasks import SpeechTask
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.exports import export_opener
from svc_http.outside.fetch.local_files import document_locations, is_web
from svc_http.outside.fetch.model import FetchRefusal, NotModified
from svc_http.outside.voices.speech_port import SpeechFailure
from svc_http.run.control.operator import Operator
from svc_http.service.equipment import fetcher_of, recorder_of
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.service.service_units import Service
from svc_http.service.workers.report_recordings import Recorder
from svc_http.service.workers.source_pulls import pull_now
from svc_http.settings import SettingsError


@frozen
class _Publishers:
    """Reads sources over the network and, where `files`, new ones on disk too; each pull has an
    HTTP client of its own."""

    service: Service
    fetcher: Callable[[], Fetcher]
    files: bool

    def locations(self, text: str) -> Sequence[str]:
        if not (self.files or is_web(text)):
            raise ValueError("names a file, which only a terminal may: svc sources add PATH")
        try:
            return document_locations(text)
        except FetchRefusal as refusal:
            raise ValueError(refusal.message) from refusal

    async def read(self, location: str) -> bytes:
        self.locations(location)
        try:
            async with self.fetcher() as fetcher:
                document = await fetcher.fetch(location)
        except FetchRefusal as refusal:
            raise ValueError(refusal.message) from refusal
        if isinstance(document, NotModified):
            raise AssertionError("no validator was sent")
        return document.body

    async def pull(
        self, sources: Sequence[Source], tell: ProgressListener, *, force: bool = False
    ) -> Sequence[PullOutcome]:
        counter = count(1)

        def report(outcome: PullOutcome) -> None:
            location = "" if outcome.source is None else outcome.source.location
            tell(Progress(next(counter), len(sources), location))

        async with self.fetcher() as fetcher:
            return await pull_now(self.service, sources, fetcher, report, force=force, tell=tell)


@frozen
class Voice:
    """The voice of the settings, with the place that its recordings are kept in."""

    service: Service
    recorder: Callable[[], Recorder]

    async def record(self, tenant: str, task: SpeechTask) -> Audio | None:
        """Speak a report and keep its recording."""
        try:
            return await self.recorder().record(self.service, tenant, task)
        except SettingsError as mute:
            detail, cure = "Reports have no voice here.", f"Give them one: {mute}."
            raise Problem(problem.SERVICE_UNAVAILABLE, detail, resolution=cure) from mute
        except (SpeechFailure, OSError) as failure:
            again = f"once that is mended: svc reports speak {task.report_id}"
            detail = f"The report was not spoken: {failure}; {again}"
            raise Problem(problem.SERVICE_UNAVAILABLE, detail) from failure


class _Files:
    """Exports on the disk of this machine."""

    def blocks(self, path: str, note: str, tell: ProgressListener) -> Callable[[], Iterator[bytes]]:
        if not Path(path).is_absolute():
            raise UnreadableExport("must be absolute")
        loop = asyncio.get_running_loop()  # what reads may be a thread beside it

        def tell_soon(progress: Progress) -> None:
            loop.call_soon_threadsafe(tell, progress)

        return export_opener(Path(path), note, tell_soon)


def loans_of(runtime: Runtime, *, files: bool = False) -> Mapping[type, Any]:
    """What people who operate the service are lent, on the dashboard and at a terminal; there they
    may name `files` of this machine."""
    service = runtime.service
    make = partial(recorder_of, runtime.settings, runtime.storage, runtime.media)
    loans: dict[type, Any] = {
        SourceReader: _Publishers(service, partial(fetcher_of, runtime.settings), files),
        Speaker: Voice(service, make),
        Lockouts: runtime.shared.lockouts,
        AddressRules: runtime.addresses,
    }
    if runtime.checkout is not None:
        loans[Checkout] = runtime.checkout.checkout
    return loans


def operator_of(runtime: Runtime, failed: Callable[[BaseException], None]) -> Operator:
    """The operator that carries out commands on this service, with the files of this machine."""
    service = runtime.service
    providers = {**service.host.providers, **loans_of(runtime, files=True), Exports: _Files()}
    lending = attrs.evolve(service, host=attrs.evolve(service.host, providers=providers))
    place = attrs.evolve(runtime.settings, base_url=None).origin
    return Operator(lending, lambda: runtime.site(runtime.now()), failed, place)

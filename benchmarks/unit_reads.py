"""What every operation that reads is asked at its worst, over a store filled to make it dear.

A request is made from the declaration: the largest `limit`, every `include`, each representation,
and each other parameter by itself with its example, which mostly matches nothing. Whose detail is
read is told here: of the list before it the first row, or what the store was filled with.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from svc_core import catalog
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import Input, inputs_of
from svc_core.wire.schema import json_schema

READS: Final[Mapping[str, str]] = {
    "": "listReports listProfiles listSubscriptions listProjects listAutomations listNews"
    " listRecaps listNewsFeeds listOsintEvents listRegionalOsint listOsintFeeds listOsintSources"
    " listCountries listIndicators listIncidents listEntities listCves listActors getCyberGraph"
    " listMarkets listFinancialIndicators listSignals retrieveKnowledge listWebhooks listSubjects"
    " exportRecords getCheckpoint getLogCheckpoint listChanges listWorkspaces listUsers listPlans"
    " listKeys listMembers listInvitations showWorkspace showSignInMethods listSessions listAudit"
    " listLockouts listThreads listSources listFormats searchEverything getLedgerHead getLedgerKey"
    " readLines getChangesHead listPayments exportWorkspace foreseeWorkspaceDeletion",
    "profile": "getProfile foreseeDeletion",
    "listReports": "getReport getReportSignals getReportGraph getReportText getReportAudio"
    " getReportAudioText openReport",
    "listSubscriptions": "getSubscription",
    "listProjects": "getProject",
    "listAutomations": "getAutomation listAutomationRuns",
    "listAutomationRuns": "getAutomationRun",
    "listNews": "getNewsItem",
    "listRecaps": "getRecap",
    "listOsintEvents": "getOsintEvent",
    "listCountries": "getCountry",
    "listIndicators": "getIndicator",
    "listIncidents": "getIncident",
    "hub": "getEntity getEntityGraph listFinancialObservations getFusion",
    "listMarkets": "getMarket",
    "listFinancialIndicators": "getFinancialIndicator",
    "listSignals": "getSignal",
    "listWebhooks": "getWebhook listDeliveries",
    "subject": "getSubject exportSubject listSubjectHistory",
    "record": "getRecord proveRecord",
    "tile": "getTile",
    "listKeys": "getKey",
    "listThreads": "showThread",
}
"""Operations that read, by the list whose first row they are asked for, or by a name of the bench;
those of several units, too, where reading is all that they do."""

_BENCH: Final = {"workspace": "bench"}
BODIES: Final[Mapping[str, Mapping[str, Any]]] = {
    "retrieveKnowledge": {"query": "port strikes and cranes of the quay", "limit": 50},
    "listMembers": _BENCH,
    "listInvitations": _BENCH,
    "showWorkspace": _BENCH,
    "listAudit": _BENCH,
    "showSignInMethods": {"user": "Ann"},
    "searchEverything": {"q": "port"},
    "exportWorkspace": _BENCH,
    "foreseeWorkspaceDeletion": _BENCH,
}
"""What is sent to the operations that take a body."""

ELSEWHERE: Final = frozenset(
    {
        "resumeChat",  # a stream: `bench_streams.py`
        "showPayment",  # a row by its key, where there are payments: `bench_payments.py`
    }
)
"""Operations that read and are not asked here, each with its reason."""


def missing_reads() -> set[str]:
    """The operations that read and that no row of the table asks."""
    every = (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)
    table = {name for names in READS.values() for name in names.split()}
    return {op.id for op in every if op.unit.kind == "read"} - table - ELSEWHERE


def queries(operation: Operation[Any, Any]) -> Iterator[dict[str, str]]:
    """The queries of an operation that cost the most."""
    items = [item for item in inputs_of(operation.request) if item.place == "query"]
    base = {item.name: _largest(item) for item in items if item.required or _is_wide(item)}
    yield base
    for media in operation.media[1:]:
        yield base | {"format": media.format}
    for item in items:
        if item.name not in {*base, "cursor", "after"}:
            yield base | {item.name: _largest(item)}


def _is_wide(item: Input) -> bool:
    schema = json_schema(item.annotation, "input")
    return item.name == "include" or (schema.get("type") == "integer" and "maximum" in schema)


def _largest(item: Input) -> str:
    schema = json_schema(item.annotation, "input")
    if item.name == "include":
        words = schema["items"]
        return _text(words.get("enum") or [words["const"]])
    examples = (*schema.get("enum", ()), *schema.get("examples", ()), "none")
    return _text(schema.get("maximum", examples[0]))


def _text(member: Any) -> str:
    if isinstance(member, list | tuple):
        return ",".join(map(_text, member))
    return member if isinstance(member, str) else json.dumps(member)

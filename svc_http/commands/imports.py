"""The command that takes an export in as the ledger of a workspace.

Rule 1: the whole file is verified strictly before anything is stored, away from the event loop.
Rule 2: all of it is stored, or nothing. While it is, no other write gets through.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from attrs import frozen

from svc_core import accounts, problem
from svc_core.constraints import MaxLen, MinLen
from svc_core.ledger.append.importing import Imported, import_lines
from svc_core.ledger.log.note import to_base64
from svc_core.ledger.stored import head_of
from svc_core.ledger.verify import ndjson
from svc_core.ledger.verify.verdict import Verdict
from svc_core.ledger.verify.verify import verify_export
from svc_core.operation import Context
from svc_core.ports import SYSTEM
from svc_core.problem import Problem
from svc_core.wire import Json
from svc_http.commands.command import Command, table
from svc_http.commands.exports import Unreadable, opener
from svc_http.commands.ledger import home
from svc_http.commands.progress import Progress, Tell
from svc_http.runtime.service import Service


@frozen
class ImportLedger:
    """The export, by its absolute path, and the workspace whose ledger it becomes."""

    path: Annotated[str, MinLen(1), MaxLen(4_096)]
    workspace: str | None = None


async def import_(service: Service, args: ImportLedger, tell: Tell) -> Json:
    """Import an export; its lines stay what they are, byte for byte.

    `alsoIn` names other workspaces of this store with the same ledger.
    """
    path = Path(args.path)
    if not path.is_absolute():
        raise Problem(problem.VALIDATION_FAILED, "/path: must be absolute")
    tenant = await home(service, args.workspace)
    try:
        verdict = await asyncio.to_thread(_verified, path, _from_elsewhere(tell))
        done = await service.write(tenant, partial(_take, path, verdict))
    except Unreadable as unreadable:
        raise Problem(problem.VALIDATION_FAILED, f"/path: {unreadable}") from unreadable
    return {
        "ledger": done.head.ledger,
        "workspaceId": tenant,
        "imported": done.head.size - done.before,
        "size": done.head.size,
        "rootHash": to_base64(done.head.root),
        "subjects": done.subjects,
        "alsoIn": [*await _holders(service, done.head.ledger, tenant)],
    }


def _from_elsewhere(tell: Tell) -> Tell:
    """`tell` as another thread may call it."""
    loop = asyncio.get_running_loop()
    return lambda progress: _soon(loop, tell, progress)


def _soon(
    loop: asyncio.AbstractEventLoop, tell: Callable[[Progress], None], told: Progress
) -> None:
    loop.call_soon_threadsafe(tell, told)


def _verified(path: Path, tell: Tell) -> Verdict:
    """The verdict, which is that the file is sound.

    Raises:
        Problem: RESOURCE_CONFLICT, and the line where it is not.
    """
    verdict = verify_export(opener(path, "MiB verified", tell))
    first = verdict.first_fault
    if first is not None:
        place = "" if first.line is None else f"line {first.line}, "
        raise Problem(
            problem.RESOURCE_CONFLICT,
            f"Nothing was imported: the file is not sound: {place}{first.code}: {first.detail} "
            "See: svc ledger verify FILE",
        )
    return verdict


async def _take(path: Path, verdict: Verdict, ctx: Context) -> Imported:
    return await import_lines(ctx, ndjson.chunks(opener(path, "MiB stored")()), verdict)


async def _holders(service: Service, ledger: str, but: str) -> list[str]:
    """The other workspaces that go on as the same ledger."""
    known = await service.read(SYSTEM, accounts.list_workspaces)
    others = [one.id for one in known if one.id != but]
    return [other for other in others if (await service.read(other, head_of)).ledger == ledger]


COMMANDS = table(Command("ledger import", ImportLedger, import_))

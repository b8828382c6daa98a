"""Carrying a command out in this process, with the store opened for as long as it takes."""

import asyncio
from functools import partial
from pathlib import Path
from shlex import quote

from svc_core.wire import Json
from svc_http import system
from svc_http.cli.failures import Usage
from svc_http.commands.answering import Answering
from svc_http.commands.catalogue import commands
from svc_http.commands.progress import Tell
from svc_http.control import request, told
from svc_http.runtime.opening import Unusable, checked, fetcher, hands, open_store, studio
from svc_http.runtime.runtime import Runtime
from svc_http.runtime.secret import secured
from svc_http.settings import MEMBERS, MEMORY, Settings


def _where(given: Settings) -> str:
    """What leads another command to the same file; the usual one needs no word."""
    usual = MEMBERS["db"].default
    return "" if given.db == usual else f" --db {quote(given.db)}"


def run(given: Settings, command: str, arguments: dict[str, Json], tell: Tell) -> Json:
    """What the command answers.

    Raises:
        Refused: the command was refused.
        StoreBusy: another process has the file.
        SettingsError, Unusable: the store cannot be opened.
    """
    if given.db == MEMORY:
        raise Usage("a store in memory has no commands of its own; name a file with --db")
    known = commands(partial(fetcher, given), partial(studio, given))
    if not Path(given.db).exists() and not known[command].founds:
        raise Unusable(
            f"there is no database {given.db}; make one: svc keys create --name NAME{_where(given)}"
        )
    checked(given)
    failures: list[BaseException] = []

    async def carry_out() -> bytes:
        store = open_store(given)
        try:
            own = secured(given)
            runtime = Runtime(own, store, now=system.now, ids=system.SystemIds())
            await runtime.unlock()
            answering = Answering(hands(runtime), known, runtime.origin, failures.append)
            return await answering.answer(request(command, arguments), tell)
        finally:
            await store.close()

    answer = asyncio.run(carry_out())
    if failures:
        raise failures[0]  # nobody else is here to hear of it
    return told(answer)

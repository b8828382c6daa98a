"""Carrying a command out in this process, with the store opened for as long as it takes."""

import asyncio
from functools import partial
from pathlib import Path

from svc_core.wire import Json
from svc_http import system
from svc_http.cli.failures import Usage
from svc_http.commands.answering import Answering
from svc_http.commands.catalogue import commands
from svc_http.commands.progress import Tell
from svc_http.control import request, told
from svc_http.opening import Unusable, fetcher, hands, open_store, secured
from svc_http.runtime import Runtime
from svc_http.settings import MEMORY, Settings


def run(given: Settings, command: str, arguments: dict[str, Json], tell: Tell) -> Json:
    """What the command answers.

    Raises:
        Refused: the command was refused.
        StoreBusy: another process has the file.
        SettingsError, Unusable: the store cannot be opened.
    """
    if given.db == MEMORY:
        raise Usage("a store in memory has no commands of its own; name a file with --db")
    known = commands(partial(fetcher, given))
    if not Path(given.db).exists() and not known[command].founds:
        raise Unusable(f"there is no database {given.db}; make one: svc keys create --name NAME")
    own = secured(given)
    failures: list[BaseException] = []

    async def carry_out() -> bytes:
        store = open_store(own)
        try:
            runtime = Runtime(own, store, now=system.now, ids=system.SystemIds())
            answering = Answering(hands(runtime), known, runtime.origin, failures.append)
            return await answering.answer(request(command, arguments), tell)
        finally:
            await store.close()

    answer = asyncio.run(carry_out())
    if failures:
        raise failures[0]  # nobody else is here to hear of it
    return told(answer)

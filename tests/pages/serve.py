"""A service on a free port with a report of hostile words, for a browser that looks at its pages.

    python tests/pages/serve.py

prints the addresses to be looked at, one a line, then an empty line, and serves until SIGTERM.
"""

import asyncio
import sys
from datetime import timedelta
from typing import Any

from svc_core.catalog import COLLECTIONS
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import Transaction
from svc_core.reports import addresses
from svc_core.reports.addresses import Opening
from svc_core.reports.audio import AUDIO, Audio, Recording
from svc_http import system
from svc_http.run.server import hypercorn
from svc_http.service.runtime.application import build
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage
from tests.pages import kit
from tests.pages.reports import ID, hostile, put

PATHS = ("/", "/problems", "/problems/idempotency-in-progress", "/docs", "/docs/try",
         "/docs/deprecations",
         "/nothing/" + "at-all-" * 40, kit.PATH)  # fmt: skip
SHA256 = "ab" * 32


def main() -> None:
    listening = hypercorn.listen("127.0.0.1", 0)
    origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
    storage = MemoryStorage(COLLECTIONS)
    settings = Settings(base_url=origin, db=":memory:", secret="s" * 64)
    service = build(Runtime(settings, storage), routes=kit.ROUTES)
    runtime, now = service.runtime, system.now()
    opening = Opening("wsp_a", ID, now + timedelta(hours=1))
    token = addresses.seal_report_link(runtime.keyring, opening, bytes(12))

    async def fill(tx: Transaction) -> None:
        ctx = Context(now, runtime.ids, Actor("wsp_a"), "pages", runtime.keyring, tx=tx)
        await put(ctx, *hostile(now))
        recording = Recording(f"{SHA256}.mp3", "audio/mpeg", 1_000, SHA256, 185.0)
        await ctx.save(AUDIO, ID, Audio("aud_" + "7" * 24, ID, recording, "voice", now))

    def ready(*_: Any) -> None:
        places = [*PATHS, f"{addresses.PATH}/{token}", f"{addresses.PATH}/changed"]
        sys.stdout.write("".join(f"{origin}{path}\n" for path in places) + "\n")
        sys.stdout.flush()

    with asyncio.Runner() as runner:
        runner.run(storage.write("wsp_a", fill))
        runner.run(hypercorn.serve(service, listening, ready))


if __name__ == "__main__":
    main()

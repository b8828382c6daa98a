"""The server that is flooded: as it is delivered, but for rate limits.

    python benchmarks/flood_target.py DB KIND

It serves a store in a file until a signal, and prints its port and its keys once connections are
answered. KIND is `payments` (bought from a facilitator that takes connections and never answers),
`doubts` (its store fails again and again, as far as it knows) or `plain`.
"""

import asyncio
import json
import resource
import socket
import sys
import time
from pathlib import Path

import attrs

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.creation import KeyWish
from svc_core.access.scopes import SCOPES
from svc_core.operation.context import Context
from svc_http.outside.facilitators.x402 import payment_provider
from svc_http.run.server import hypercorn
from svc_http.service.runtime import application
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.service.secret import with_secret
from svc_http.settings import Settings
from svc_http.stores import SqliteStorage

FILES_MAX = 1_024
"""Files that the server may open: as many as most systems allow."""
KEYS = 20
"""Keys of the flood where it needs any, each of a workspace of its own."""
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
PAYMENTS, DOUBTS, PLAIN = "payments", "doubts", "plain"


def clock(pid: int) -> float:
    """Seconds, without those for which the event loop of a server waited for a processor.

    Where other programs have most of a machine, a second of theirs is no second of the server.
    """
    waited = Path(f"/proc/{pid}/schedstat").read_text().split()[1]
    return time.perf_counter() - int(waited) / 1e9


async def doubting(runtime: Runtime) -> None:
    """Have the store fail again and again, as far as the server knows."""
    while True:
        runtime.is_doubted = True
        await asyncio.sleep(0.05)


def settings(db: str) -> Settings:
    # Addresses of this machine play strangers, so none of them is a proxy that is believed.
    return with_secret(
        Settings(db=db, port=0, rate_limits=False, trusted_proxies=("192.0.2.0/24",))
    )


def serve(db: str, kind: str) -> None:
    """Serve until a signal; print the port and the keys once connections are answered."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES_MAX, FILES_MAX))
    config = settings(db)
    if kind == PAYMENTS:
        silent = socket.create_server(("127.0.0.1", 0), backlog=FILES_MAX)
        facilitator_url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        config = attrs.evolve(config, x402_pay_to=PAYEE, x402_facilitator=facilitator_url)
    store = SqliteStorage.open(Path(db), catalog.COLLECTIONS, epoch=bytes(8))
    runtime = Runtime(
        config,
        store,
        providers=Providers(payments=payment_provider(config)),
        closing=[store.close],
        workers=[doubting] if kind == DOUBTS else [],
    )
    service = application.build(runtime)
    keys = asyncio.run(service.runtime.service.system(make_keys))
    hypercorn.run_hypercorn(
        service, lambda _host, port: print(json.dumps({"port": port, "keys": keys}), flush=True)
    )


async def make_keys(ctx: Context) -> list[str]:
    """Keys that may do everything: the client's, then those of the flood."""
    table, secrets = plans.PRESETS["default"], []
    for number in range(1 + KEYS):
        name = f"workspace {number}"
        home = await accounts.create_workspace(ctx, name=name, plan="elite", plans=table)
        wish = KeyWish(name="key", scopes=tuple(SCOPES), workspace_id=home.id)
        secrets.append((await accounts.create_key(ctx, wish, plans=table)).secret)
    return secrets


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2])

"""A FastAPI application with the whole service mounted under /intel.

    pip install 'svc-intelligence[server]' fastapi
    SVC_DB=intel.db hypercorn examples.fastapi_embed:host

The host decides who gets in: it opens a desk (a workspace with a key) for a customer of its own.
With that key the customer speaks to the mounted API. Both share one durable store and one
lifespan, and `SVC_DB=intel.db svc keys list` reaches the service as it reaches a server.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from svc_core import SCOPES, Context, KeyWish, create_key, create_workspace
from svc_http.run import hosting
from svc_http.settings import load

# Every setting may stand in the environment, SVC_DB, SVC_SECRET and all others.
settings = load(os.environ, None, {"base_url": "http://127.0.0.1:8000/intel"})


@asynccontextmanager
async def lifespan(host: FastAPI) -> AsyncIterator[None]:
    """Open the service with the host, and close it with the host."""
    async with hosting.opened(settings) as intel:
        host.mount("/intel", intel)
        host.state.service = intel.runtime.service
        yield


host = FastAPI(title="A host of its own", lifespan=lifespan)


@host.post("/desks/{name}", status_code=201)
async def open_desk(name: str) -> dict[str, str]:
    """Open a desk; its key is in this answer and nowhere else."""
    service = host.state.service

    async def usecase(ctx: Context) -> str:
        workspace = await create_workspace(ctx, name=name, plan="elite", plans=service.plans)
        wish = KeyWish("first", tuple(SCOPES), workspace_id=workspace.id)
        return (await create_key(ctx, wish, plans=service.plans)).secret

    return {"key": await service.system(usecase)}

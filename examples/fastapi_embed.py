"""A FastAPI application with the whole service mounted under /intel.

    pip install 'svc-intelligence[server]' fastapi
    hypercorn examples.fastapi_embed:host

The host decides who gets in: it opens a desk (a workspace with a key) for a customer of its own.
With that key the customer speaks to the mounted API. Both share one store and one lifespan.
"""

from fastapi import FastAPI

from svc_core import COLLECTIONS, Context
from svc_core.access.scopes import SCOPES
from svc_core.accounts import KeyWish, create_key, create_workspace
from svc_http.app import build, mount
from svc_http.runtime.opening import service_of
from svc_http.runtime.secret import secured
from svc_http.settings import MEMORY, Settings
from svc_http.storage import MemoryStorage

settings = secured(Settings(db=MEMORY, base_url="http://127.0.0.1:8000/intel"))
storage = MemoryStorage(COLLECTIONS)
intel = build(settings, storage, closing=(storage.close,))
service = service_of(intel.runtime)

host = FastAPI(title="A host of its own")
mount(host, "/intel", intel)


@host.post("/desks/{name}", status_code=201)
async def open_desk(name: str) -> dict[str, str]:
    """Open a desk; its key is in this answer and nowhere else."""

    async def usecase(ctx: Context) -> str:
        workspace = await create_workspace(ctx, name=name, plan="elite", plans=service.plans)
        wish = KeyWish("first", tuple(SCOPES), workspace_id=workspace.id)
        return (await create_key(ctx, wish, plans=service.plans)).secret

    return {"key": await service.system(usecase)}

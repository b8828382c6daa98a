# ruff: noqa: TID251, N815, ARG001
"""The same list as it is commonly built: FastAPI, pydantic models, slowapi, aiosqlite.

It does less than ours: two rate windows instead of four, no allowlist, no lockout, no cursor to
seal, no deprecated members.
"""

import hashlib
import hmac
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import aiosqlite
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request, Response
from pydantic import BaseModel
from slowapi import Limiter
from slowapi.middleware import SlowAPIASGIMiddleware
from slowapi.util import get_remote_address

DIGEST = hashlib.sha256(os.environ["BENCH_KEY"].encode()).hexdigest()
SCOPES = {"reports:read", "news:read"}


class Period(BaseModel):
    """The time that a report covers."""

    start: str
    end: str


class Counts(BaseModel):
    """What it rests on."""

    sources: int
    signals: int
    entities: int
    incidents: int


class Links(BaseModel):
    """Where it is."""

    self: str
    audio: str | None
    graph: str
    signals: str
    text: str


class Report(BaseModel):
    """A row of the list."""

    id: str
    profileId: str
    title: str
    summary: str
    language: str
    generatedAt: str
    period: Period
    status: str
    hasAudio: bool
    counts: Counts
    links: Links


class Reports(BaseModel):
    """A page."""

    data: list[Report]
    meta: dict[str, Any]
    links: dict[str, str | None]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the database for the life of the application."""
    app.state.db = await aiosqlite.connect(os.environ["BENCH_PEER_DB"])
    app.state.db.row_factory = aiosqlite.Row
    yield
    await app.state.db.close()


limiter = Limiter(key_func=get_remote_address, headers_enabled=True)
app = FastAPI(lifespan=lifespan)
app.state.limiter = limiter
app.add_middleware(SlowAPIASGIMiddleware)


@app.middleware("http")
async def request_id(
    request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Name every answer."""
    response = await call_next(request)
    response.headers["X-Request-Id"] = uuid.uuid4().hex
    return response


async def key(authorization: Annotated[str, Header()]) -> str:
    """The caller's key."""
    digest = hashlib.sha256(authorization.removeprefix("Bearer ").encode()).hexdigest()
    if not hmac.compare_digest(digest, DIGEST):
        raise HTTPException(401)
    if "reports:read" not in SCOPES:
        raise HTTPException(403)
    return digest


def report(row: aiosqlite.Row) -> Report:
    """A row of the table as a model."""
    path = f"/api/v1/reports/{row['id']}"
    return Report(
        id=row["id"],
        profileId=row["profile_id"],
        title=row["title"],
        summary=row["summary"],
        language=row["language"],
        generatedAt=row["generated_at"],
        period=Period(start=row["start"], end=row["end"]),
        status="ready",
        hasAudio=False,
        counts=Counts(sources=row["sources"], signals=1, entities=1, incidents=1),
        links=Links(
            self=path,
            audio=None,
            graph=f"{path}/graph",
            signals=f"{path}/signals",
            text=f"{path}/text",
        ),
    )


@app.get("/api/v1/reports", response_model=Reports)
@limiter.limit("1000000000/minute;1000000000/day")
async def reports(
    request: Request,
    response: Response,
    _: Annotated[str, Depends(key)],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Reports:
    """A page of reports."""
    cursor = await app.state.db.execute(
        "select * from reports order by generated_at desc, id desc limit ?", (limit + 1,)
    )
    rows = list(await cursor.fetchall())
    await cursor.close()
    page = [report(row) for row in rows[:limit]]
    following = page[-1].id if len(rows) > limit else None
    return Reports(
        data=page,
        meta={"pageCount": len(page), "page": {"nextCursor": following}},
        links={"next": f"/api/v1/reports?cursor={following}"},
    )

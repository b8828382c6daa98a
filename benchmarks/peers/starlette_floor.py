# ruff: noqa: TID251, ARG001
"""The floor: a Starlette route that encodes a constant page. No key, no limits, no store."""

import json
import os
from pathlib import Path

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE = json.loads(Path(os.environ["BENCH_PAGE"]).read_bytes())


async def reports(request: Request) -> Response:
    """One page, always the same."""
    return Response(orjson.dumps(PAGE), media_type="application/json")


app = Starlette(routes=[Route("/api/v1/reports", reports)])

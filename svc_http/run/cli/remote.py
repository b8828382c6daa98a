"""Calls a server over HTTP with the API key of the environment."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from svc_core.operation.ports import BASE_V1, BASE_V2
from svc_http import mcp
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.control.channel import OperationRefused, Unreachable

if TYPE_CHECKING:
    import httpx2

KEY = "SVC_KEY"
CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 60.0
"""Four times the longest silence of a stream."""

BASE_PATHS = (BASE_V1, BASE_V2, mcp.PATH)
"""Where a server says that it is, each below its address."""

Url = Annotated[
    str | None,
    Parameter(
        name="--url",
        help=f"The address of a server, such as https://api.example.org, asked with the key in "
        f"{KEY}. Default: the server or the database of this machine.",
    ),
]


@contextmanager
def client(url: str) -> Iterator["httpx2.Client"]:
    """An HTTP client for the server at `url`.

    Raises:
        UsageError: there is no key, or this is no address.
        Unreachable: it does not answer, or broke off.
    """
    import httpx2  # noqa: PLC0415 - help is shown without it

    key = os.environ.get(KEY, "").strip()
    if not key:
        raise UsageError(f"--url needs a key; set {KEY}")
    timeout = httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    fields = {"Authorization": f"Bearer {key}"}
    root = url.rstrip("/")
    for name in BASE_PATHS:
        root = root.removesuffix(name)
    with reaching(url), httpx2.Client(base_url=root, headers=fields, timeout=timeout) as http:
        yield http


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Turn network failures inside the block into errors with one line for a person.

    Raises:
        UsageError: this is no address.
        Unreachable: nobody answers, or broke off.
    """
    import httpx2  # noqa: PLC0415 - help is shown without it

    try:
        yield
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeEncodeError) as wrong:
        raise UsageError(f"--url {url}: {wrong}") from wrong
    except httpx2.TransportError as failure:
        raise Unreachable(f"no server answers at {url}: {failure}") from failure


def check_response(answer: "httpx2.Response") -> None:
    """Raise the problem of an answer that is no success.

    Raises:
        OperationRefused: it is a problem.
        Unreachable: it is no answer of this service.
    """
    if answer.is_success:
        return
    try:
        body = json.loads(answer.read())
        refusal = OperationRefused(
            {name: body[name] for name in ("detail", "code", "resolution")} | body
        )
    except (ValueError, TypeError, KeyError) as foreign:
        detail = f"{answer.url} answers {answer.status_code}, and is not this service"
        raise Unreachable(detail) from foreign
    raise refusal

"""A Django project of one file that serves the operations of the core from a plain view.

    pip install svc-intelligence django
    SVC_DB=desk.db python examples/django_embed.py runserver --noreload

Django routes and authenticates; the core does the rest of each request: it reads the inputs,
checks `If-Match` and `Idempotency-Key`, runs the use case and renders the answer. Views are
synchronous under WSGI; with SVC_VIEWS=async they are asynchronous, for an ASGI server:

    SVC_VIEWS=async SVC_DB=desk.db hypercorn examples.django_embed:asgi

Both share one way to the store, which is a SQLite file, a `postgresql://` address, or memory.
"""

import os
import secrets
import sys
from collections.abc import Callable

import django
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from svc_core import (
    OPERATIONS,
    Actor,
    Call,
    Execution,
    Keyring,
    Operation,
    Problem,
    Reply,
    Site,
    Units,
    drive,
    prepare,
    problem,
)
from svc_http import stores
from svc_http.system import SystemIds, new_request_id, now

SITE = Site(base_url="http://127.0.0.1:8000")
STORE = stores.open_threaded(os.environ.get("SVC_DB", ":memory:"))
IDS = SystemIds()
UNITS = Units(STORE, IDS, now, Keyring({1: IDS.random(32)}, 1))  # a project keeps its 32 bytes


def tenant_of(request: HttpRequest) -> str:
    """Whose data the request is about: a real project asks `request.user`."""
    return request.headers.get("X-Team", "nobody")


async def answer(operation: Operation, request: HttpRequest, values: dict[str, str]) -> Reply:
    """One request to one operation, in one unit of work; a refusal is an answer too."""
    try:
        return await perform(operation, request, values)
    except Problem as problem_:
        return refusal(problem_)


async def perform(operation: Operation, request: HttpRequest, values: dict[str, str]) -> Reply:
    """What the operation replies."""
    fields = {name.lower(): value for name, value in request.headers.items()}
    call = Call(values, request.META["QUERY_STRING"], fields.get, request.body)
    prepared = prepare(operation, call, SITE)
    return await Execution(prepared, Actor(tenant_of(request)), now(), UNITS).reply()


def refusal(refused: Problem) -> Reply:
    """A problem as RFC 9457 has it."""
    body = problem.body(refused, base_url=SITE.base_url, request_id=new_request_id())
    return Reply(refused.type.status, problem.MEDIA_TYPE, body, tuple(refused.headers.items()))


def view_of(methods: dict[str, Operation]) -> Callable[..., HttpResponse]:
    """A Django view for the operations of one path."""

    async def respond(request: HttpRequest, values: dict[str, str]) -> HttpResponse:
        operation = methods.get(str(request.method))
        if operation is None:
            return HttpResponseNotAllowed(list(methods))
        reply = await answer(operation, request, values)
        return HttpResponse(
            reply.body,
            status=reply.status,
            content_type=reply.media_type,
            headers=dict(reply.headers),
        )

    @csrf_exempt
    def view(request: HttpRequest, **values: str) -> HttpResponse:
        return drive.run(respond(request, values))  # no event loop: this thread waits

    @csrf_exempt
    async def async_view(request: HttpRequest, **values: str) -> HttpResponse:
        return await respond(request, values)

    return async_view if os.environ.get("SVC_VIEWS") == "async" else view


def routes() -> dict[str, dict[str, Operation]]:
    """The operations by path, then by method."""
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.address, {})[operation.method] = operation
    return by_path


urlpatterns = [
    path(address[1:].replace("{", "<").replace("}", ">"), view_of(methods))
    for address, methods in routes().items()
]

settings.configure(
    SECRET_KEY=secrets.token_hex(), ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, USE_TZ=True
)
django.setup()
application = WSGIHandler()
asgi = ASGIHandler()

if __name__ == "__main__":
    execute_from_command_line(sys.argv)

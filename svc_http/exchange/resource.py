"""A URL path with the handlers of its methods, and its answers to OPTIONS and CORS preflights.

Rule: a path has one resource with all its methods; any other method there is answered with 405.
"""

import re
from collections.abc import Awaitable, Callable, Mapping

from attrs import field, frozen
from starlette.types import Receive, Scope, Send

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.parsing import MERGE_PATCH
from svc_http.exchange.http_exchange import Exchange, Header

Handler = Callable[[Exchange, Mapping[str, str]], Awaitable[None]]
"""Answers one request, given the values of the path variables."""

NO_VALUES: Mapping[str, str] = {}

_ALLOWED_HEADERS = (
    "Authorization, Content-Type, Accept, If-Match, If-None-Match, Idempotency-Key, "
    "Last-Event-ID, Range, If-Range, PAYMENT-SIGNATURE, X-Request-Id, Access-Control-Expose-Headers"
)
_PREFLIGHT_SECONDS = 7_200  # the longest that a browser keeps the answer to a preflight


@frozen(eq=False)
class Resource:
    """The handlers at one path, by method."""

    path: str
    handlers: Mapping[str, Handler]
    names: tuple[str, ...] = field(init=False)
    allow: str = field(init=False)

    @names.default
    def _names(self) -> tuple[str, ...]:
        return tuple(part[1:-1].lstrip("+") for part in self.path.split("/") if part[:1] == "{")

    @allow.default
    def _allow(self) -> str:
        methods = [*self.handlers, "OPTIONS"]
        if "GET" in self.handlers:
            methods.insert(methods.index("GET") + 1, "HEAD")
        return ", ".join(methods)

    @property
    def pattern(self) -> str:
        """The path in Starlette's syntax."""
        return re.sub(r"\{\+(\w+)\}", r"{\1:path}", self.path)

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Answer as an ASGI application, for a host that routes by itself."""
        await self.serve(scope["svc"], scope.get("path_params", NO_VALUES))

    def serve(self, exchange: Exchange, values: Mapping[str, str]) -> Awaitable[None]:
        """Returns the awaitable answer of the handler for the method.

        Raises:
            Problem: METHOD_NOT_ALLOWED, or what the handler raises.
        """
        exchange.route = self.path
        handler = self.handlers.get(exchange.method)
        if handler is not None:
            return handler(exchange, values)
        if exchange.method == "OPTIONS":
            return exchange.answer(204, [*exchange.version_headers, *self._options(exchange)])
        raise Problem(problem.METHOD_NOT_ALLOWED, headers={"Allow": self.allow, **self._patch})

    def _options(self, exchange: Exchange) -> list[Header]:
        fields = {"Allow": self.allow, **self._patch}
        is_preflight = exchange.header("access-control-request-method") is not None
        if is_preflight and not exchange.is_private:
            fields["Access-Control-Allow-Methods"] = self.allow
            request_headers = exchange.header("access-control-request-headers") or ""
            # Clients send fields of their own, so every field is allowed: access depends on a key,
            # which no browser adds by itself.
            fields["Access-Control-Allow-Headers"] = (
                request_headers
                if request_headers.isascii() and request_headers
                else (_ALLOWED_HEADERS)
            )
            fields["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
        return [(name.lower().encode(), value.encode()) for name, value in fields.items()]

    @property
    def _patch(self) -> dict[str, str]:
        if "PATCH" not in self.handlers:
            return {}
        return {"Accept-Patch": f"{MERGE_PATCH}, application/json"}

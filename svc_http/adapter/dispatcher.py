"""Finds the resource of a request path: fixed paths in a dictionary, others in a trie of segments.

Rule 1: a path is never answered with a redirect, so no answer repeats the request's `Host`.
Rule 2: Starlette routes and mounts that a host application adds are tried after our resources.
"""

from collections.abc import Awaitable, Iterable, Mapping
from functools import cached_property
from typing import Any

from starlette.routing import BaseRoute, Route, Router
from starlette.types import Lifespan, Receive, Scope, Send

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.resource import NO_VALUES, Resource


class _Node:
    """A node of the trie: children by fixed segment, one child for any segment, perhaps a resource.

    `rest` is the resource that takes all remaining segments, however many (`{+name}`).
    """

    __slots__ = ("children", "resource", "rest", "wildcard")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.wildcard: _Node | None = None
        self.resource: Resource | None = None
        self.rest: Resource | None = None

    def add(self, segments: list[str], resource: Resource) -> None:
        """Put a resource under the remaining segments of its path."""
        node = self
        for segment in segments:
            if segment.startswith("{+"):
                node.rest = resource
                return
            if segment.startswith("{"):
                node.wildcard = node.wildcard or _Node()
                node = node.wildcard
            else:
                node = node.children.setdefault(segment, _Node())
        node.resource = resource

    def find(self, segments: list[str], at: int, values: list[str]) -> Resource | None:
        """The resource under the segments from `at` on; fixed ones go before wildcards."""
        if at == len(segments):
            return self.resource
        segment = segments[at]
        child = self.children.get(segment)
        if child is not None and (match := child.find(segments, at + 1, values)) is not None:
            return match
        if self.wildcard is not None and segment:
            values.append(segment)
            match = self.wildcard.find(segments, at + 1, values)
            if match is not None:
                return match
            values.pop()
        if self.rest is not None:
            values.append("/".join(segments[at:]))
        return self.rest


class Dispatcher(Router):
    """A Starlette router that finds the resources of this service without trying each route.

    `routes` still lists them all, so that tools which read a Starlette application's routes see
    them.
    """

    def __init__(
        self,
        resources: Iterable[Resource],
        routes: Iterable[BaseRoute] = (),
        lifespan: Lifespan[Any] | None = None,
    ) -> None:
        super().__init__(redirect_slashes=False, default=_not_found, lifespan=lifespan)
        del self.routes  # that of the class takes its place
        self._own, self._others = tuple(resources), tuple(routes)
        self._by_path = {resource.path: resource for resource in self._own if not resource.names}
        self._root = _Node()
        for resource in self._own:
            if resource.names:
                self._root.add(resource.path.split("/"), resource)

    @cached_property
    def routes(self) -> list[BaseRoute]:  # type: ignore[override]
        """Made when a tool or an address of a host asks for them: few services are ever asked."""
        own = (Route(r.pattern, r, methods=[*r.handlers], name=r.path) for r in self._own)
        return [*own, *self._others]

    def find(self, path: str) -> tuple[Resource, Mapping[str, str]] | None:
        """The resource at a path and the values in it."""
        resource = self._by_path.get(path)
        if resource is not None:
            return resource, NO_VALUES
        values: list[str] = []
        resource = self._root.find(path.split("/"), 0, values)
        if resource is None:
            return None
        return resource, dict(zip(resource.names, values, strict=True))

    # Not a coroutine itself: that is one less between the edge and every answer.
    def app(  # type: ignore[override]
        self, scope: Scope, receive: Receive, send: Send
    ) -> Awaitable[None]:
        """Serves a request by its resource, or, where no resource matches, as Starlette would."""
        if scope["type"] != "http":
            return super().app(scope, receive, send)
        exchange: Exchange = scope["svc"]
        match = self.find(exchange.path)
        if match is not None:
            return match[0].serve(exchange, match[1])
        if exchange.path == "*" and exchange.method == "OPTIONS":
            return exchange.answer(204, [*exchange.version_headers])
        if len(vars(self).get("routes", self._own + self._others)) == len(self._own):
            raise Problem(problem.ROUTE_NOT_FOUND)  # the host has no routes of its own
        return super().app(scope, receive, send)


async def _not_found(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise Problem(problem.ROUTE_NOT_FOUND)

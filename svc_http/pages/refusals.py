"""Renders refusals as HTML pages for browsers."""

from typing import Final

from svc_core.contract import negotiation as media
from svc_core.contract import problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import JSON
from svc_http.exchange.http_exchange import Exchange
from svc_http.exchange.sending import Page
from svc_http.pages.markup import HTML, POLICY, REFERRER, render_template, site_root

_REFUSALS: Final = (Representation("problem", problem.MEDIA_TYPE), JSON, HTML)
_FIELDS: Final = ((b"content-security-policy", POLICY.encode()), REFERRER)


def refusal_page(exchange: Exchange, refusal: Problem) -> Page | None:
    """The HTML page of a refusal; None where the client prefers problem+json.

    Every failure is problem+json under `/api` (Spec: Errors) and at the secondary origin, which
    has no pages.
    """
    accept = exchange.header("accept")
    if accept is None or exchange.is_secondary or exchange.path.startswith("/api/"):
        return None
    try:
        if media.negotiate(_REFUSALS, accept, None) is not HTML:
            return None
    except media.NotAcceptable:
        return None
    raw: bytes = exchange.scope.get("raw_path") or exchange.path.encode()
    mount: str = exchange.scope.get("root_path") or ""
    up = site_root(raw.decode("latin-1").removeprefix(mount))
    body = render_template("refusal", up, refusal=refusal, request_id=exchange.request_id)
    return HTML.media_type, _FIELDS, body

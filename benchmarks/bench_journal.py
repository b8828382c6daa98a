"""The log line of a request against structlog's, in one run, into the same place.

Prints microseconds a line, their ratio, the goal, PASS or FAIL; exits 3 on a miss.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from timeit import repeat

import structlog
from outcome import close_run, is_quick

from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.service.journal import Journal

LINES = 5_000
GOAL = 3.0
AT = 1_772_600_767.25


def _exchange() -> Exchange:
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    load = Load(1, str)
    exchange = Exchange(scope, None, None, 10, load)  # type: ignore[arg-type]
    exchange.status, exchange.route, exchange.bytes_out = 200, "/api/v1/news", 4_321
    exchange.tenant, exchange.key_prefix = "wsp_0123456789abcdef01234567", "svc_01234567"
    return exchange


def _own_line() -> Callable[[], None]:
    journal = Journal("all", lambda: sink)
    exchange = _exchange()

    def write() -> None:
        for number in range(LINES):
            journal.request(exchange, AT + number / 1_000, 1.234)
        journal.flush()

    return write


def _peer_line() -> Callable[[], None]:
    encode = json.JSONEncoder(separators=(",", ":")).encode
    log = structlog.wrap_logger(
        structlog.BytesLogger(sink.buffer),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=lambda line, **_: encode(line).encode()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger("info"),
        cache_logger_on_first_use=True,
    )
    exchange = _exchange()

    def write() -> None:
        for _ in range(LINES):
            log.info(
                "request",
                method=exchange.method,
                route=exchange.route,
                status=exchange.status,
                ms=1.234,
                requestId=exchange.request_id,
                tenant=exchange.tenant,
                key=exchange.key_prefix,
                bytesIn=exchange.bytes_in,
                bytesOut=exchange.bytes_out,
            )

    return write


async def main(*, quick: bool) -> int:
    rounds = 3 if quick else 9
    own_us, peer_us = (
        min(repeat(write, number=1, repeat=rounds)) / LINES * 1e6
        for write in (_own_line(), _peer_line())
    )
    print(f"a line: {own_us:.2f} us, structlog {peer_us:.2f} us")
    return close_run(peer_us / own_us >= GOAL, f"{peer_us / own_us:.1f} times")


if __name__ == "__main__":
    with open(os.devnull, "w", encoding="utf-8") as sink:
        sys.exit(asyncio.run(main(quick=is_quick())))

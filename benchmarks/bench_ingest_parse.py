"""How fast feeds are read: items a second, against feedparser alone on the same bytes.

Run: python benchmarks/bench_ingest_parse.py [--quick] [folder of feeds]

Without a folder made-up feeds are read. `ratio` is our rate over feedparser's: at least
0.6 is promised, though we also check, clean, bound and identify every item. The times are the
best of several rounds, of one thread.
"""

import io
import sys
import time
from collections.abc import Callable
from pathlib import Path

import feedparser
from outcome import close_run, is_quick

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.model import DocumentRefused

ROUNDS = 5
RATIO_MIN = 0.6
BODY = "<p>Paragraph with <b>markup</b>, <a href='https://desk.example/x'>links</a> &amp; more.</p>"


def made_up(items: int, paragraphs: int) -> bytes:
    rows = "".join(
        f"<item><title>Story {n}</title><link>https://desk.example/{n}?utm_source=rss</link>"
        f"<guid>https://desk.example/{n}</guid><category>News</category>"
        f"<pubDate>Sat, 07 Jan 2017 08:52:27 GMT</pubDate>"
        f"<description><![CDATA[{BODY * paragraphs}]]></description></item>"
        for n in range(items)
    )
    head = "<rss version='2.0'><channel><title>Desk</title><link>https://desk.example/</link>"
    return f"{head}{rows}</channel></rss>".encode()


def best(parse: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        parse()
        times.append(time.perf_counter() - began)
    return min(times)


def row(name: str, body: bytes) -> tuple[int, float, float] | None:
    try:
        feed = parse_feed(body)
    except DocumentRefused:
        return None
    own = best(lambda: parse_feed(body))
    peer = best(lambda: feedparser.parse(io.BytesIO(body)))
    count = len(feed.items)
    print(f"{name:34} {count:6} {count / own:10.0f} {count / peer:10.0f} {peer / own:7.2f}")
    return count, own, peer


def documents(folder: str | None) -> dict[str, bytes]:
    if folder is None:
        sizes = ((20, 2), (200, 10)) if is_quick() else ((20, 2), (200, 10), (2_000, 1))
        return {f"{n} items of {p} paragraphs": made_up(n, p) for n, p in sizes}
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def main() -> int:
    print(f"{'document':34} {'items':>6} {'ours/s':>10} {'theirs/s':>10} {'ratio':>7}")
    folder = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    rows = [line for name, body in documents(folder).items() if (line := row(name, body))]
    items, own, peer = (sum(column) for column in zip(*rows, strict=True))
    ratio = peer / own
    print(f"{'all':34} {items:6} {items / own:10.0f} {items / peer:10.0f} {ratio:7.2f}")
    return close_run(ratio >= RATIO_MIN, f"{ratio:.2f} of its rate")


if __name__ == "__main__":
    sys.exit(main())

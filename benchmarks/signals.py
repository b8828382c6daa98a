"""How many signals of headlines that were read one by one are right.

    python benchmarks/signals.py DIRECTORY-OF-REAL-DATA

`benchmarks/data/signals.tsv` has a row for each signal that somebody read: the first 12 digits of
the SHA-256 of title, line feed and the first 80 characters of the text; the kind; right or wrong;
and whether the item was looked at before the cues were settled (`tuned`) or after (`held-out`). It
holds no text. A signal that nobody has read yet is counted as such.
"""

import hashlib
import html
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import feedparser

from svc_core.text.evidence import EvidenceTexts, ScoredItem, reading_of
from svc_core.text.stories import Story
from svc_core.text.story_events import event_of

LABELS = Path(__file__).parent / "data" / "signals.tsv"
TEXTS = ("ag_news", "ecbplus", "uci_stories", "gnad10k")
AT = datetime(2026, 1, 1, tzinfo=UTC)


def items(root: Path) -> Iterator[tuple[str, str]]:
    """Title and text of each item of the labelled sets, of the headlines and of the feeds."""
    for name in TEXTS:
        for line in (root / "text" / name / "items.jsonl").read_text().splitlines():
            row = json.loads(line)
            yield row.get("title") or "", row.get("text") or ""
    for line in (root / "text" / "sts_headlines" / "pairs.jsonl").read_text().splitlines():
        for text in json.loads(line).values():
            if isinstance(text, str):
                yield text, text
    for line in (root / "text" / "affective_text" / "items.jsonl").read_text().splitlines():
        title = json.loads(line).get("title") or ""
        yield title, title
    for path in sorted((root / "news_feed").iterdir()):
        for entry in feedparser.parse(path).entries:
            text = entry.get("summary", "") or (entry.get("content") or [{}])[0].get("value", "")
            plain = [
                re.sub(r"<[^>]+>", by, text_)
                for text_, by in ((entry.get("title", ""), ""), (text, " "))
            ]
            yield html.unescape(plain[0]), html.unescape(plain[1])[:600]


def kind_of(title: str, text: str) -> str | None:
    """The kind of event that an item alone tells."""
    body = "" if text == title else text
    item = EvidenceTexts("i", title, body, "", "s", "s", "s.example", AT, AT)
    event = event_of(Story("i", (ScoredItem(reading_of(item), 1.0),)))
    return event.kind.name if event else None


def main() -> None:
    """Print the counts of signals that are right, wrong and unread, of both parts."""
    rows = (line.split("\t") for line in LABELS.read_text().splitlines())
    labels = {(key, kind): (label, part) for key, kind, label, part in rows}
    counts: Counter[tuple[str, str]] = Counter()
    for title, text in sorted(set(items(Path(sys.argv[1])))):
        kind = kind_of(title, text)
        if kind:
            key = hashlib.sha256(f"{title}\n{text[:80]}".encode()).hexdigest()[:12]
            label, part = labels.get((key, kind), ("unread", "-"))
            counts[part, label] += 1
    for part in ("held-out", "tuned"):
        right, wrong = counts[part, "right"], counts[part, "wrong"]
        print(f"{part}: {right} right, {wrong} wrong, share {right / (right + wrong):.2f}")
    print(f"unread: {counts['-', 'unread']}")


if __name__ == "__main__":
    main()

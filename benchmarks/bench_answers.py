"""How long an answer takes over many rows: until its first word, and in CPU time.

    python benchmarks/bench_answers.py [--quick]

The demo's questions of `answers/questions.json`, in every writing, are asked over the demo and
50,000 items of news more (5,000 with `--quick`), whose texts are drawn from the demo's own words,
so that each word of a question is in many rows. The store is filled once and kept
(`answer_stores.py`). Exit code 3 when a goal is missed.
"""

import asyncio
import json
import re
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from random import Random
from statistics import median, quantiles

from answer_stores import NOW, Stores
from outcome import close_run, is_quick

from svc_http.run.demo.demo_feeds import demo_documents

ROWS, ROWS_QUICK = 50_000, 5_000
FIRST_MS, CPU_MS = 60.0, 150.0
"""Goals: the first word at the median, and CPU time that 19 of 20 questions stay below."""
QUESTIONS = Path(__file__).parent / "answers" / "questions.json"
CACHE = Path(tempfile.gettempdir()) / "svc_quality_answers"
ITEMS_OF_A_FEED = 1_000


def write_feeds(folder: Path, count: int) -> None:
    """Feeds of made items with words as frequent as they are in the demo's."""
    random = Random(35)
    text = " ".join(document.body.decode("utf-8", "replace") for document in demo_documents(NOW))
    words = re.findall(r"(?<![<\w/&])[^\W\d_]{2,}(?![\w=>:])", text)
    for first in range(0, count, ITEMS_OF_A_FEED):
        items = [
            {
                "id": f"https://feed{first}.example/{number}",
                "url": f"https://feed{first}.example/{number}",
                "title": " ".join(random.choices(words, k=9)).capitalize(),
                "content_text": " ".join(random.choices(words, k=60)).capitalize() + ".",
                "date_published": (NOW - timedelta(minutes=15 * number)).isoformat(),
            }
            for number in range(first, first + ITEMS_OF_A_FEED)
        ]
        feed = {"version": "https://jsonfeed.org/version/1.1", "title": f"Feed {first}"}
        (folder / f"feed{first}.json").write_text(json.dumps(feed | {"items": items}))


async def costs(folder: Path) -> list[tuple[float, float, str]]:
    """Of each question: milliseconds to the first word, of CPU, and its id."""
    questions = json.loads(QUESTIONS.read_text("utf-8"))["questions"]
    rows = []
    async with Stores(folder, CACHE).agent("demo", {"files": ["*.json"]}) as agent:
        for question in (item for item in questions if item["set"] == "demo"):
            for wording in question["writings"].values():
                answer = await agent.ask(*question["turns"], wording)
                row = 1_000 * answer.first_seconds, 1_000 * answer.cpu_seconds, question["id"]
                rows.append(row)
    return rows


def main() -> int:
    """Ask, and print the costs."""
    count = ROWS_QUICK if is_quick() else ROWS
    with tempfile.TemporaryDirectory() as folder:
        write_feeds(Path(folder), count)
        rows = asyncio.run(costs(Path(folder)))
    first, cpu = [row[0] for row in rows], [row[1] for row in rows]
    cpu_95 = quantiles(cpu, n=20)[-1]
    print(f"{len(rows)} questions over the demo and {count} items more")
    print(f"first word: {median(first):.0f} ms at the median, {quantiles(first, n=20)[-1]:.0f} p95")
    print(f"CPU: {median(cpu):.0f} ms at the median, {cpu_95:.0f} p95")
    dearest = sorted(rows, key=lambda row: -row[1])[:8]
    print("dearest:", ", ".join(f"{id_} {ms:.0f} ms" for _, ms, id_ in dearest))
    is_met = median(first) <= FIRST_MS and cpu_95 <= CPU_MS
    figure = f"{median(first) / FIRST_MS:.2f} of 60 ms, {cpu_95 / CPU_MS:.2f} of 150 ms"
    return close_run(is_met, figure)


if __name__ == "__main__":
    sys.exit(main())

"""Report generation as its evidence grows tenfold: selecting, grouping, telling, in process.

The items are made of invented stories: each story is told by three sources, one item in four is
about something else, and the subject is such that all the others are chosen.

    python benchmarks/bench_report.py [--quick]

Prints the CPU time for each size and how it grows from one size to the next. Exit code 3 when a
tenfold growth of the evidence costs more than the goal, or the largest size does.
"""

import sys
import time
from datetime import UTC, datetime, timedelta
from random import Random

from outcome import close_run, is_quick

from svc_core.reports.composition import Material, Window, compose
from svc_core.reports.profiles.model import Profile
from svc_core.text.evidence import EvidenceTexts, term_lines
from svc_core.text.frequencies import Frequencies

GROWTH_GOAL = 12.0
"""Ten for linear work and two for what grows with the number of words."""

SECONDS_GOAL = 1.0
"""For the largest size."""

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SUBJECT = "Ships wait off the coast near a port: changes for colleagues"
PORTS = ("Rotterdam", "Antwerp", "Hamburg", "Valencia", "Genoa", "Gdansk", "Lisbon", "Marseille")
ACTORS = ("dockworkers", "pilots", "crane drivers", "tug crews", "customs officers")
ACTS = ("strike", "walkout", "blockade", "stoppage", "slowdown")
CAUSES = ("pay", "pensions", "automation", "night shifts", "safety", "staffing", "contracts")
TOPIC_WORDS = (
    "orchard",
    "violin",
    "glacier",
    "pottery",
    "comet",
    "beetle",
    "marathon",
    "sculpture",
)


def story(random: Random, number: int) -> tuple[str, str]:
    """One story's title and text; `number` makes its names its own."""
    port, actor = random.choice(PORTS), random.choice(ACTORS)
    act, cause = random.choice(ACTS), random.choice(CAUSES)
    terminal = f"Terminal {chr(65 + number % 26)}{number}"
    title = f"Port of {port}: {actor} begin {act} at {terminal} over {cause}"
    text = (
        f"The {actor} of the port of {port} began a {act} at {terminal} on Monday. "
        f"They want changes to {cause} for {number % 900 + 100} colleagues. "
        f"{number % 60 + 2} ships wait off the coast near {port}."
    )
    return title, text


def evidence(count: int) -> tuple[EvidenceTexts, ...]:
    """`count` items: stories told by three sources each, and others."""
    random = Random(7)
    items = []
    title, text = "", ""
    for number in range(count):
        if number % 3 == 0:
            title, text = story(random, number)
        if number % 4 == 3:
            word = random.choice(TOPIC_WORDS)
            shown, body = f"A {word} of note, {number}", f"People admired the {word} at length."
        else:
            shown, body = (title, text) if number % 3 == 0 else (f"{title}, again", text)
        source = number % 40
        items.append(
            EvidenceTexts(
                id=f"obs_{number:024x}",
                title=shown,
                text=body,
                url=f"https://paper{source}.example/{number}",
                source_id=f"src_{source:024x}",
                source_name=f"Paper {source}",
                source_domain=f"paper{source}.example",
                published_at=NOW - timedelta(minutes=number % 2_000),
                retrieved_at=NOW,
                language="en",
                terms=term_lines(shown, body, "en"),
            )
        )
    return tuple(items)


def seconds(count: int) -> tuple[float, int]:
    """CPU seconds of one report over `count` items, best of three, and its cited items."""
    profile = Profile(
        "prf_" + "0" * 24, "Ports", SUBJECT, "daily", "07:00", None,
        "UTC", "en", (), "active", NOW, NOW,
    )  # fmt: skip
    store = Frequencies(100_000)  # of a large store, where every word of the items is rare
    material = Material("wsp_x", profile, Window(NOW), evidence(count), frequencies=store)
    best, citation_count = float("inf"), 0
    for _ in range(3):
        start = time.process_time()
        citation_count = len(compose(material, NOW).facets.sources)
        best = min(best, time.process_time() - start)
    return best, citation_count


def main() -> int:
    """Measure, print, judge."""
    sizes = (20, 200, 2_000) if not is_quick() else (20, 200)
    seconds(sizes[0])  # the word lists are read on first use
    print(f"{'items':>8} {'seconds':>9} {'ms/item':>9} {'cited':>6} {'growth':>7}")
    before = worst = 0.0
    for size in sizes:
        took, citation_count = seconds(size)
        growth = took / before if before else 0.0
        worst = max(worst, growth)
        growth_text = f"{growth:6.1f}x" if before else "      -"
        print(
            f"{size:>8} {took:>9.3f} {took / size * 1000:>9.3f} {citation_count:>6} {growth_text}"
        )
        before = took
    figure = f"{worst:.1f} times; {before:.2f} s for {sizes[-1]:,}"
    return close_run(worst <= GROWTH_GOAL and before <= SECONDS_GOAL, figure)


if __name__ == "__main__":
    sys.exit(main())

"""The examples and figures of the page about schedules are what the code says."""

import re
from datetime import UTC, datetime
from pathlib import Path

from svc_core.operation.schedule import TIMED_FREQUENCIES, Schedule, next_run
from svc_core.reports.composition import RETRY_MAX, RETRY_MIN, SETTLING

PAGE = (Path(__file__).parents[2] / "docs" / "schedules.md").read_text("utf-8")
ROW = re.compile(r"^\| `([a-z]+)([^`|]*)` \| (20[^|]+) \| (20[^|]+) \|", re.MULTILINE)


def parse(frequency: str, rest: str) -> Schedule:
    time = re.search(r"\d\d:\d\d", rest)
    zone = re.search(r"[A-Z]\S+", rest)
    day = re.search(r" (\d+)$", rest)
    assert zone is not None
    assert (time is not None) is (frequency in TIMED_FREQUENCIES)
    return Schedule(
        frequency,  # type: ignore[arg-type]
        time and time[0],
        zone[0],
        int(day[1]) if day else None,
    )


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.strip()).replace(tzinfo=UTC)


def test_every_example_of_a_schedule_is_true() -> None:
    rows = ROW.findall(PAGE)
    assert len(rows) >= 9
    for frequency, rest, after, run in rows:
        assert next_run(parse(frequency, rest), instant(after)) == instant(run)


def test_the_figures_are_those_of_the_code() -> None:
    for figure, text in [
        (f"{SETTLING.seconds} seconds after its run", 1),
        (f"begins {SETTLING.seconds} seconds before it was made", 1),
        (f"after {RETRY_MIN.seconds // 60} minutes", 1),
        (f"once in {RETRY_MAX.days * 24} hours", 1),
    ]:
        assert PAGE.count(figure) == text

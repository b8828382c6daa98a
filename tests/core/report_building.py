"""Reports made in a house as workers make them: gathered, composed and published."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from svc_core.reports import composition
from svc_core.reports.composition import ComposedReport, Material, Window
from svc_core.reports.model import ReportRow
from tests.core.feeds import document, entry

STORIES = [
    (
        "Dockworkers strike closes the port of Rotterdam",
        "Dockworkers at the port of Rotterdam stopped work on Monday over pay. "
        "The strike halted 40 container ships. The union FNV wants 8 percent more.",
    ),
    (
        "Rotterdam port strike: union and terminals meet a mediator",
        "A mediator met the union FNV and three terminals about the Rotterdam port strike. "
        "Talks go on at night. Forty ships wait off the coast.",
    ),
    (
        "Port of Antwerp takes ships diverted by the strike in Rotterdam",
        "The port of Antwerp unloaded six ships that were diverted by the dockworkers' strike. "
        "Its quays are nearly full. Trucks wait five hours.",
    ),
    (
        "Chocolate festival opens in Bruges",
        "Bruges opened its chocolate festival with a tower of pralines. It lasts three days.",
    ),
]
"""Three stories about a strike, and one about something else."""


def take_stories(house: Any, stories: Sequence[tuple[str, str]], first: int = 0) -> None:
    """Take in stories from three papers, each as old in hours as its number says."""
    for number, (title, text) in enumerate(stories, first):
        home = f"https://paper{number % 3}.example/"
        at = house.clock.now() - timedelta(hours=number % 12)
        members = {"title": title, "summary": text[:600], "text": text, "published_at": at}
        item = entry(f"item-{number}", url=f"{home}{number}", **members)
        feed = document(item, title=f"Paper {number % 3}", home_url=home)
        house.take(house.add(f"{home}feed"), feed)


def gather(house: Any, profile_id: str, window: Window | None = None) -> Material:
    material: Material = house.run(
        lambda ctx: composition.gather_material(ctx, profile_id, window), "wsp_a"
    )
    return material


def compose(house: Any, profile_id: str, window: Window | None = None) -> ComposedReport:
    """A report that is not published yet."""
    return composition.compose(gather(house, profile_id, window), house.clock.now())


def publish(house: Any, profile_id: str, window: Window | None = None) -> ReportRow:
    report = compose(house, profile_id, window)
    row: ReportRow = house.run(lambda ctx: composition.publish_report(ctx, report), "wsp_a")
    return row

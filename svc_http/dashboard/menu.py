"""The frame around a page (menu, workspaces, keys that jump) and the palette.

Rule 1: the menu has what the person may open. `menu.tsv` places and pictures the pages that most
        people use; of every other group of operations the first page follows by itself.
Rule 2: the palette has every page and act that needs no row, and the rows that a search finds.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, Final

from attrs import frozen

from svc_core.base.compact import compact_text
from svc_core.operation.declaration import JSON, Operation
from svc_http.dashboard.captions import caption_of, group_caption, operation_title
from svc_http.dashboard.desk import Desk, Request
from svc_http.dashboard.page_addresses import (
    BY_ID,
    EVERY,
    is_for_operators,
    is_safe,
    page_ids,
)
from svc_http.dashboard.room_tables import tsv_rows
from svc_http.dashboard.visit import Download, Visit
from svc_http.exchange.http_exchange import DASHBOARD

TABS: Final = frozenset({"g r", "g s", "g m", "g e", "g l"})
"""The keys of the pages that stand at the bottom of a narrow screen."""
_OPERATIONS: Final = {f"{each.group} {each.verb}": each for each in EVERY}
_JUMP: Final = itemgetter("key", "label", "href")
_SEARCH: Final = BY_ID["searchEverything"]


@frozen
class MenuRow:
    """A line of `menu.tsv`: the command whose page it opens, and how it is shown.

    Those without a section are in no menu, and opened by their key.
    """

    section: str
    command: str
    picture: str = "list"
    key: str = ""

    @property
    def operation(self) -> Operation[Any, Any]:
        """What it opens."""
        return _OPERATIONS[self.command]

    @property
    def label(self) -> str:
        """What it is called."""
        return operation_title(self.operation)


@cache
def menu_rows() -> tuple[MenuRow, ...]:
    """The lines of the menu, and after them the first page of each group that it does not name."""
    rows = [MenuRow(**row) for row in tsv_rows("menu.tsv")]
    groups = {row.operation.group for row in rows}
    for page in filter(is_safe, _entrances()):
        if page.group not in groups:
            section = "Operate" if is_for_operators(page) else "More"
            rows.append(MenuRow(section, f"{page.group} {page.verb}"))
            groups.add(page.group)
    return tuple(rows)


@cache
def _entrances() -> Sequence[Operation[Any, Any]]:
    """The operations whose pages need no row: lists first, then what else is read, then acts."""
    pages = [each for each in EVERY if each.verb and not page_ids(each)]
    return sorted(pages, key=lambda page: (not is_safe(page), page.verb != "list"))


def shell_of(desk: Desk, visit: Visit) -> dict[str, Any]:
    """The values of the frame around a page, which `base.html` names."""
    person, home = desk.person, desk.person.home
    if home is None and person.homes:  # the way back from pages of the installation
        return shell_of(desk.at_home(person.homes[0]), visit)
    office = f"{DASHBOARD}/operate" if person.is_operator else DASHBOARD
    root = f"{DASHBOARD}/w/{home.id}" if home else office
    spaces = [(each.name, f"{DASHBOARD}/w/{each.id}") for each in person.homes]
    sections: dict[str, list[Mapping[str, Any]]] = {}
    for row in menu_rows():
        if desk.may(row.operation):
            sections.setdefault(row.section, []).append(_link(desk, row, visit.path))
    links = [link for section in sections.values() for link in section]
    sections.pop("", None)
    shell = {
        "space": home.name if home else "Installation",
        "plan": f"{home.plan.capitalize()} plan" if home else "All workspaces",
        "home": root,
        "spaces": [*spaces, *([("Installation", office)] * person.is_operator)],
        "person": person.name,
        "role": (person.role or "").capitalize(),
        "sections": sections,
        "tabs": [link for link in links if link["key"] in TABS],
        "jumps": [("g o", "Overview", root)] + [_JUMP(link) for link in links if link["key"]],
        "search": desk.address(_SEARCH) if home else "",
        "palette": f"{root}/palette" if home else "",
        "live": f"{root}/live" if home else "",
    }
    return {"shell": shell, "toasts": ()}


def _link(desk: Desk, row: MenuRow, path: str) -> Mapping[str, Any]:
    href = desk.address(row.operation)
    is_here = f"{path}/".startswith(f"{href}/")
    link = {
        "label": operation_title(row.operation),
        "picture": row.picture,
        "key": row.key,
        "href": href,
    }
    return {**link, "group": row.operation.group, "is_here": is_here}


# -- the palette -------------------------------------------------------------------------------


async def palette(desk: Desk, visit: Visit) -> Download:
    """What the palette shows, as JSON: pages and acts, or, with `q`, the rows that it finds.

    Raises:
        Problem: whatever refuses the search.
    """
    q = visit.word("q").strip()
    rows = await desk.read(_SEARCH, Request(body={"q": q})) if q else ()
    links = [_row_link(desk, row) for row in rows] if q else [*page_links(desk)]
    return Download(JSON.media_type, compact_text({"entries": links}).encode())


def page_links(desk: Desk) -> Iterator[Mapping[str, str]]:
    """Every page and act that the person may open without a row: pages first."""
    for page in filter(desk.may, _entrances()):
        group, picture = ("Go to", group_icon(page)) if is_safe(page) else ("Do", "plus")
        link = {"group": group, "label": operation_title(page), "detail": group_caption(page.group)}
        words = f"{page.group} {page.verb} {page.summary}"
        yield {**link, "words": words, "picture": picture, "href": desk.address(page)}


def _row_link(desk: Desk, row: Mapping[str, Any]) -> Mapping[str, str]:
    operation = BY_ID[row["operation"]]
    link = {"group": "Rows", "label": row["title"], "detail": caption_of(row["kind"])}
    href = desk.address(operation, row["values"])
    return {**link, "id": row["id"], "picture": group_icon(operation), "href": href}


@cache  # Bounded: one picture for each operation of the catalogue.
def group_icon(operation: Operation[Any, Any]) -> str:
    """The icon of the group of an operation."""
    own = (row.picture for row in menu_rows() if row.operation.group == operation.group)
    return next(own, "list")

"""Where a visit is in the catalogue, and what its page leads to: buttons, links and neighbours.

A page that another one leads to says so in its address: `_from` is the list that a row was found
in, with its query, `_done` the operation that was just run, and `_as` the form of a download.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from attrs import frozen

from svc_core.operation.declaration import Operation
from svc_http.dashboard.captions import (
    button_caption,
    done_caption,
    operation_title,
)
from svc_http.dashboard.desk import Desk
from svc_http.dashboard.form_fields import Field, fields_of
from svc_http.dashboard.page_addresses import (
    BY_ID,
    EVERY,
    is_safe,
    page_ids,
    row_id_for,
    row_pages,
    show_of,
    steps_of,
)
from svc_http.dashboard.room_tables import tsv_rows
from svc_http.dashboard.value_shapes import Row, member_at
from svc_http.dashboard.visit import Visit

_VERBS: Final = {row["verb"]: row for row in tsv_rows("verbs.tsv")}
"""What is to be known of verbs beside their words.

`mark` is "main" for what people come to a list for, beside reading, and "danger" for what asks
first, because nothing undoes it. `undo` is the verb that undoes it. It is not offered for a row
where one of its `members`, which are paths, is one of the `words`.
"""
_OF_HOME: Final = frozenset({"workspaceId", "plan"})


def _fact(operation: Operation[Any, Any], column: str) -> str:
    """What the table of verbs says of that of an operation; empty where it says nothing."""
    return _VERBS.get(operation.verb, {}).get(column, "")


@frozen
class PageAct:
    """A button: a link to a page, or, where it acts at once, a form that is sent to it."""

    operation: Operation[Any, Any]
    href: str
    is_near: bool = False
    """Whether it stands beside the row that it is about, so that its verb says enough."""
    words: str = ""
    """What stands on it in place of that."""

    @property
    def label(self) -> str:
        """What stands on it."""
        return self.words or (button_caption if self.is_near else operation_title)(self.operation)

    @property
    def is_main(self) -> bool:
        """Whether it is what people come to a list for, beside reading."""
        return _fact(self.operation, "mark") == "main"

    @property
    def is_final(self) -> bool:
        """Whether it is asked for, and nothing undoes it."""
        return self.is_danger and not _fact(self.operation, "undo")

    @property
    def is_safe(self) -> bool:
        """Whether it only leads somewhere."""
        return is_safe(self.operation)

    @property
    def is_danger(self) -> bool:
        """Whether it asks first."""
        return _fact(self.operation, "mark") == "danger" or self.operation.method == "DELETE"

    @property
    def is_direct(self) -> bool:
        """Whether it acts at once: nothing is to be said, and it can be undone or repeated."""
        return not (self.is_danger or self.is_safe or fields_of(self.operation))


@frozen
class Spot:
    """The operation of a page, the person at the desk, and their visit."""

    operation: Operation[Any, Any]
    desk: Desk
    visit: Visit

    @property
    def ids(self) -> dict[str, str]:
        """The ids in the address, by the names of inputs."""
        return {name: self.visit.places[name] for name in page_ids(self.operation)}

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the operation that are for this person."""
        fields, home = fields_of(self.operation), self.desk.person.home
        return tuple(each for each in fields if home is None or not each.is_for_operators)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of a list: in a workspace none says which, nor what the plan of all is."""
        home, columns = self.desk.person.home, self.operation.columns
        return tuple(each for each in columns if home is None or each not in _OF_HOME)

    def new_key(self) -> str:
        """A fresh idempotency key, of a form or of the buttons of a page."""
        return self.desk.office.desk_units.ids.random(16).hex()

    @property
    def origin(self) -> str:
        """The page as a row that it leads to names it."""
        return f"{self.operation.id}?{urlencode(self.visit.query, doseq=True)}"

    def same_page(self, **changes: str) -> str:
        """The address of this page with another query; of another query the first page."""
        query = {name: words for name, words in self.visit.query.items() if name != "cursor"}
        return f"{self.visit.path}?{urlencode({**query, **changes}, doseq=True)}"

    @property
    def row_page(self) -> Operation[Any, Any] | None:
        """What shows a row of this list to the person; None where its row is all there is."""
        show = show_of(self.operation)
        return show if show and self.desk.may(show) else None

    def row_address(self, name: str, id_: Any, **query: str) -> str:
        """The address of the row that a member names; empty where the person sees no other page."""
        pages, id_ = row_pages(), str(id_)
        show = pages.get(name) or pages.get(id_.partition("_")[0])
        if not (show and self.desk.may(show) and row_id_for(show, {"id": id_})):
            return ""
        if id_ in self.ids.values():
            return ""
        return self.desk.address(show, {page_ids(show)[0]: id_}, **query)

    def list_row_address(self, row: Row, **query: str) -> str:
        """The address of a row of this list; empty where the person sees no page of it."""
        show = self.row_page
        id_ = row_id_for(show, row) if show else None
        if show is None or id_ is None:
            return self.row_address("id", row.get("id"), **query)
        return self.desk.address(show, {**self.ids, page_ids(show)[-1]: id_}, **query)

    def sibling(self, verb: str, ids: tuple[str, ...] | None = None) -> Operation[Any, Any] | None:
        """The operation with another verb of the same group, for the same ids unless said."""
        rows = (each for each in EVERY if (each.group, each.verb) == (self.operation.group, verb))
        own = page_ids(self.operation) if ids is None else ids
        matches = (each for each in rows if page_ids(each) == own and self.desk.may(each))
        return next(matches, None)

    @property
    def home(self) -> str:
        """The address of the first list of the group; of the page itself where it has none."""
        lists = (act.href for act in self.members() if act.is_safe)
        return next(lists, self.visit.path)

    @property
    def parent(self) -> str:
        """The address of the row that the page is about, else of its list."""
        show = self.sibling("show")
        return self.desk.address(show, self.ids) if show and self.ids else self.home

    def members(self) -> Iterator[PageAct]:
        """The operations of the group that need no row."""
        for each in EVERY:
            is_own = each.group == self.operation.group and each.verb and not page_ids(each)
            if is_own and self.desk.may(each):
                yield PageAct(each, self.desk.address(each))

    def steps(self, row: Row, *, is_listed: bool = False) -> Iterator[PageAct]:
        """What can be done with the row of the page, or with one of its list, in its state.

        Of a listed row there is only what takes an id that the page itself does not have.
        """
        steps = tuple(steps_of(self.operation.group, self.ids, row))
        verbs = {operation.verb for operation, _ in steps}
        passed_over = {self.operation.verb, "show", "replace" if "update" in verbs else ""}
        for verb, fact in _VERBS.items():
            values = {str(member_at(row, path)) for path in fact["members"].split()}
            passed_over |= set() if values.isdisjoint(fact["words"].split()) else {verb}
        for operation, ids in steps:
            is_about = not is_listed or not self.ids.items() >= ids.items()
            if operation.verb not in passed_over and is_about and self.desk.may(operation):
                is_near = operation.group == self.operation.group
                yield PageAct(operation, self.desk.address(operation, ids), is_near)
        yield from self._acts_by_name(row)

    def _acts_by_name(self, row: Row) -> Iterator[PageAct]:
        """What the operator does with a person or a workspace, which a form names."""
        id_ = str(row.get("id"))
        name = str(row.get("handle") or id_)
        acts = (
            ("users", "linkUser", "", {"handle": name}),
            ("users", "removeUser", "", {"user": name}),
            ("workspaces", "linkUser", "Invite", {"workspace": id_, "role": "owner"}),
        )
        for group, act, words, inputs in acts:
            operation = BY_ID[act]
            if group == self.operation.group and self.desk.may(operation):
                yield PageAct(operation, self.desk.address(operation, inputs), True, words)

    @property
    def toasts(self) -> tuple[tuple[str, str, tuple[()]], ...]:
        """What was just done, and the address that undoes it."""
        operation = BY_ID.get(self.visit.word("_done"))
        if operation is None:
            return ()
        former = Spot(operation, self.desk, self.visit)
        opposite = former.sibling(_fact(operation, "undo"))
        is_same = page_ids(operation) == page_ids(self.operation)
        undo = self.desk.address(opposite, self.ids) if opposite and is_same else ""
        return ((done_caption(operation), undo, ()),)

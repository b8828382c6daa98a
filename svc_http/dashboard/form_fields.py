"""Derives the fields of a form from the inputs of an operation.

Rule 1: every input becomes one field, and the members of a model within the body one each. Left out
        are ids that stand in the address, what a browser sends by itself (header fields), the
        cursor of a page, and what has an answer as an event stream alone.
Rule 2: what a field says (hint, bounds, choices, example) is what the documents say.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import cache
from typing import Any, Final, TypeVar, get_args

from attrs import field, frozen

from svc_core.base.boxes import Box
from svc_core.base.instants import Interval
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.inputs import Input, flag_name, inputs_of
from svc_core.wire import shapes
from svc_core.wire.constraints import (
    Choices,
    Example,
    Ge,
    Label,
    Le,
    MaxLen,
    WriteOnly,
)
from svc_http.dashboard.captions import caption_of, word_caption
from svc_http.dashboard.control_texts import as_text, value_texts
from svc_http.dashboard.page_addresses import page_ids

T = TypeVar("T")

TEXT_LENGTH: Final = 300
"""A text that may be longer gets several lines."""

_KINDS: Final[Mapping[Any, str]] = {
    **dict.fromkeys((int, float), "number"),
    **dict.fromkeys((datetime, date), "instant"),
    Box: "box",
    Interval: "interval",
    str: "text",
}
_LISTS: Final = {"pick": "picks", "choice": "choices"} | dict.fromkeys(
    ("text", "longtext", "number"), "lines"
)
_JOINTS: Final = {"box": ",", "interval": "/"}
_ENDINGS: Final = {"pick": "(?<!^)Id(?=s?$)", "picks": "(?<!^)Id(?=s?$)", "span": "Seconds$"}
"""What a label leaves out: of ids that they are some, of a span its unit."""
_TEXTS: Final = (str, datetime, date)
_WORDS: Final[Mapping[Any, str]] = {True: "Yes", False: "No"}
_BOUNDS: Final[Mapping[type, tuple[str, str]]] = {
    Ge: ("min", "ge"),
    Le: ("max", "le"),
    MaxLen: ("maxlength", "max_length"),
}
"""The attribute of a control that holds a bound, and the member of the constraint.

Patterns are left out: browsers read them in a dialect that refuses some."""


@frozen
class Field:
    """A control of a form or a filter: what it is called, what it takes, and what stands in it.

    `name` is that of the input; a member of a model has the names of both, joined by a dot.
    `options` are pairs of a value and its words. `bounds` are attributes of an HTML control.
    What `is_json` is typed as JSON, such as a number. `values` are what stands in it: of
    `choices` those that are chosen, of `lines` and `picks` one for each line. Each of a list of
    objects that need nothing is a line with one member, its `lead`.
    """

    kind: str
    name: str
    label: str
    hint: str = ""
    place: str = "query"
    is_json: bool = False
    type: str = "text"
    required: bool = False
    options: tuple[tuple[str, str], ...] = ()
    bounds: Mapping[str, str | int | float] = field(factory=dict)
    example: str = ""
    prefixes: tuple[str, ...] = ()
    flag: str = ""
    secret: WriteOnly | None = None
    lead: str = ""
    is_for_operators: bool = False
    values: tuple[str, ...] = ()
    error: str = ""

    @property
    def value(self) -> str:
        """What stands in a control of one text."""
        return _JOINTS.get(self.kind, "\n").join(self.values)


@cache  # Bounded: one entry for each operation of the catalogue.
def fields_of(operation: Operation[Any, Any]) -> tuple[Field, ...]:
    """The fields of an operation in the order of its inputs, those that must be filled in first."""
    address = set(page_ids(operation))
    items = [item for item in inputs_of(operation.request) if item.name not in address]
    body = next((item for item in items if item.place == "body"), None)
    inner: Any = None if body is None else shapes.plain_type(body.annotation)[0]
    if shapes.is_model(inner):
        items = [item for item in items if item is not body] + [*inputs_of(inner)]
    return tuple(sorted(_fields(items), key=lambda field: not field.required))


def _fields(
    items: Iterable[Input], within: tuple[str, ...] = (), *, is_needed: bool = True
) -> Iterator[Field]:
    for item in items:
        inner, _ = shapes.plain_type(item.annotation)
        if item.place == "member" and shapes.is_model(inner):
            path = (*within, item.name)
            yield from _fields(inputs_of(inner), path, is_needed=is_needed and item.required)
        elif not (item.name == "cursor" or item.place == "header" or Trait.LIVE in item.traits):
            yield _field(item, within, is_needed=is_needed and item.required)


def _field(item: Input, within: tuple[str, ...], *, is_needed: bool) -> Field:
    inner, notes = shapes.plain_type(item.annotation)
    is_list = shapes.is_tuple(inner) and not shapes.items_of(inner)
    base, inner_notes = shapes.plain_type(get_args(inner)[0]) if is_list else (inner, ())
    marks = (*inner_notes, *notes)
    members = inputs_of(base) if is_list and shapes.is_model(base) else ()
    lead = members[0].name if members and not any(each.required for each in members) else ""
    kind = "lines" if lead else _kind(item, base, marks, is_list=is_list)
    words = _words(base, _first(marks, Choices))
    example = _first(marks, Example)
    label = _first(marks, Label)
    texts = () if example is None else value_texts(kind, example.value)
    return Field(
        kind=kind,
        name=".".join((*within, item.name)),
        label=label.text if label else caption_of(re.sub(_ENDINGS.get(kind, "^$"), "", item.name)),
        hint=_hint(item.doc),
        place=item.place,
        is_json=not lead
        and base not in _TEXTS
        and not all(isinstance(word, str) for word in words or (0,)),
        type="date" if base is date else "datetime-local" if base is datetime else "text",
        required=is_needed,
        options=tuple((as_text(word), caption) for word, caption in words.items()),
        bounds=dict(_bounds(kind, base, marks)),
        example=(", " if item.place == "query" else "\n").join(texts) if kind != "json" else "",
        prefixes=item.id_of.prefixes if item.id_of else (),
        flag=flag_name(item, within),
        secret=_first(marks, WriteOnly),
        lead=lead,
        is_for_operators=Trait.OPERATOR in item.traits,
        values=value_texts(kind, item.default),
    )


def _words(base: Any, choices: Choices | None) -> Mapping[Any, str]:
    """The values to choose from, with their words; none where anything may be entered."""
    values = get_args(base) if shapes.is_literal(base) else _WORDS if base is bool else ()
    words = choices.words if choices else {value: _WORDS.get(value) for value in values}
    return {word: text or word_caption(as_text(word)) for word, text in words.items()}


def _hint(doc: str) -> str:
    """The description; in a control the values of a list have no commas."""
    text = doc.removeprefix("Comma list of ")
    return text[:1].upper() + text[1:]


def _first(marks: Iterable[Any], kind: type[T]) -> T | None:
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def _bounds(kind: str, base: Any, marks: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    if kind == "number":
        yield "step", (1 if base is int else "any")
    for mark in marks if kind in {"number", "text", "longtext"} else ():
        if type(mark) in _BOUNDS:
            attribute, member = _BOUNDS[type(mark)]
            yield attribute, getattr(mark, member)


def _kind(item: Input, base: Any, marks: tuple[Any, ...], *, is_list: bool) -> str:
    kind = _KINDS.get(base, "json")
    length = max((mark.max_length for mark in marks if isinstance(mark, MaxLen)), default=0)
    if item.id_of is not None:
        kind = "pick"
    elif shapes.is_literal(base) or any(isinstance(mark, Choices) for mark in marks):
        kind = "choice"
    elif base is bool:
        # Of an unchecked box nothing is sent, which must mean no.
        kind = "check" if item.default is False or item.place == "member" else "choice"
    elif shapes.is_mapping(base) and shapes.plain_type(get_args(base)[1])[0] is str:
        kind = "pairs"
    elif item.name.endswith("Seconds"):
        kind = "span"
    elif kind == "text" and length > TEXT_LENGTH and item.place == "member" and item.name != "url":
        kind = "longtext"
    return _LISTS.get(kind, "json") if is_list else kind

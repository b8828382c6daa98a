"""Derives the command of an operation (flags, help, table columns) from its declaration."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final, get_args

from svc_core.contract.result import Empty
from svc_core.operation.declaration import JSON, MEMBER, Confidential, Operation, Trait
from svc_core.operation.inputs import Input, flag_name, inputs_of
from svc_core.operation.parsing import offers
from svc_core.wire import shapes
from svc_core.wire.constraints import Arg, Doc, Le, WriteOnly
from svc_core.wire.shapes import plain_type
from svc_http.run.cli.command_table import ALIASES
from svc_http.run.cli.operation_commands import Command, Flag
from svc_http.run.cli.typed_values import HINTS

_FORMS: Final[Mapping[Any, str]] = {int: "integer", float: "number", bool: "switch", str: "text"}


def commanded(operations: Iterable[Operation[Any, Any]]) -> list[Operation[Any, Any]]:
    """The operations that have a command: of two under one name, the one of the first name."""
    seconds = ALIASES.values()
    return [row for row in operations if row.verb and row.group not in seconds]


def command_of(operation: Operation[Any, Any]) -> Command:
    """The command of the operation, with one flag for each of its inputs."""
    flags = tuple(flag for flag, _ in flags_of(operation))
    formats = tuple(form.format for form in offers(operation, {}))
    texts = (form.format for form in operation.media if form.media_type.startswith("text/"))
    clears = tuple(f.name[2:] for f in flags if f.place == MEMBER.place and not f.required)
    names = {item.name for item in inputs_of(operation.request)}
    has_workspace = operation.binding != "system"
    return Command(
        id=operation.id,
        group=operation.group,
        verb=operation.verb,
        flags=flags,
        formats=formats,
        readable=next((name for name in texts if name in formats), formats[0]),
        foresees=operation.foresees,
        columns=operation.columns,
        notes=operation.notes,
        clears=clears if operation.method == "PATCH" else (),
        is_paged=not names.isdisjoint({"cursor", "after"}),
        is_emptied=operation.response is Empty,
        is_secret=operation.confidential == Confidential(),
        has_file=set(operation.media) != {JSON},
        has_workspace=has_workspace,
        has_author=has_workspace and (operation.unit.kind != "read" or operation.personal),
        doc=f"{operation.summary}.\n\n{operation.description}".strip(),
    )


# -- flags -------------------------------------------------------------------------------------


def flags_of(operation: Operation[Any, Any]) -> list[tuple[Flag, Input]]:
    """The flags of an operation, each with the input that it gives."""
    items: list[Input] = []
    for item in inputs_of(operation.request):
        if item.place == "body":
            items += inputs_of(plain_type(item.annotation)[0])
        elif item.name != "cursor" and Trait.LIVE not in item.traits and item.place != "header":
            items.append(item)
    pairs = list(_flags(items))
    if operation.takes_if_match:
        text = "Only if this is the current ETag."
        pairs.append(_extra(Flag("--if-match", ("if-match",), "headers", "tag", doc=text)))
    if operation.idempotency != "none":
        text, name = (
            "8 to 200 characters; a repeated request with the same key acts only once.",
            "idempotency-key",
        )
        pairs.append(_extra(Flag(f"--{name}", (name,), "headers", doc=text)))
    # In one order for all: Literals of the same words are equal, and Python keeps the first.
    names = (form.format for form in offers(operation, {}))
    formats = tuple(sorted(names, key=lambda name: name != "json"))
    if len(formats) > 1:
        text = "The representation."
        pairs.append(_extra(Flag("--format", ("format",), "query", choices=formats, doc=text)))
    return pairs


def _extra(flag: Flag) -> tuple[Flag, Input]:
    """A flag that follows from what an operation is, not from its request class."""
    name = flag.path[0]
    kind: Any = Annotated[(flag.kind, Doc(flag.doc))]
    return flag, Input(name, name, flag.place, kind, False, None, str, None)


def _flags(items: Iterable[Input], within: tuple[str, ...] = ()) -> Iterator[tuple[Flag, Input]]:
    for item in items:
        inner, notes = plain_type(item.annotation)
        if item.place == "member" and shapes.is_model(inner):
            yield from _flags(inputs_of(inner), (*within, item.name))
        else:
            yield _flag(item, inner, notes, within), item


def _flag(item: Input, inner: Any, notes: tuple[Any, ...], within: tuple[str, ...]) -> Flag:
    arg = next((note for note in notes if isinstance(note, Arg)), Arg())
    is_list = shapes.is_tuple(inner) and not shapes.items_of(inner)
    kind = plain_type(get_args(inner)[0])[0] if is_list else inner
    form = _form(item, kind, arg)
    marks = shapes.metadata_of(item.annotation) if item.required else ()
    secret = next((mark for mark in marks if isinstance(mark, WriteOnly)), None)
    return Flag(
        name=flag_name(item, within),
        path=(*within, item.name),
        place=item.place,
        form=form,
        is_list=is_list or form == "pairs",
        choices=get_args(kind) if shapes.is_literal(kind) else (),
        is_positional=item.is_positional,
        required=item.required,
        default=item.default if isinstance(item.default, str | int) else None,
        maker=f"{secret.fresh.__module__}:{secret.fresh.__qualname__}" if secret else "",
        maker_bytes=secret.size if secret else 0,
        page_max=int(_page_bound(item)) if item.name == "limit" else 0,
        doc=_doc(item, "" if is_list else form, is_made=secret is not None),
    )


def _page_bound(item: Input) -> Any:
    return next(
        (note.le for note in shapes.split_annotation(item.annotation)[1] if type(note) is Le), 0
    )


def _doc(item: Input, form: str, *, is_made: bool) -> str:
    text = item.doc + HINTS.get(form, "")
    if isinstance(item.default, str | int) and item.default not in ("", False, True):
        text += f" Default: {item.default}."
    return text + (" Default: a new one, shown once." if is_made else "")


def _form(item: Input, kind: Any, arg: Arg) -> str:
    """The form of what is typed, of an item where it is a list."""
    if item.name.endswith("Seconds"):
        return "seconds"
    if kind is datetime:
        return "ahead" if arg.ahead else "instant"
    if kind in (bool, str) or shapes.is_literal(kind):
        return "file" if arg.path else _FORMS.get(kind, "text")
    if kind in _FORMS:
        return _FORMS[kind]
    if shapes.is_mapping(kind) and plain_type(get_args(kind)[1])[0] is str:
        return "pairs"
    return "json" if item.place == "member" else "text"

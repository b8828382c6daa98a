"""A command for each operation: its flags, its help and its tables come from the declaration.

Path values and positional members stand in order, all else are flags: a member of the body has the
name of the member, one of a model within it that of both; a list is a flag that is repeated.
An object of texts is a flag with KEY=VALUE, instants are RFC 3339, members in seconds are spans,
what stands in a query is text, and what is no text, number or list of these is JSON. A listing is
read page by page up to `--limit`.
"""

import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args
from urllib.parse import parse_qsl, urlsplit

from attrs import frozen
from cyclopts import Parameter

from svc_core.base import compact
from svc_core.base.unset import UNSET, Unset
from svc_core.contract.result import Empty
from svc_core.operation.declaration import GEOJSON, JSON, MEMBER, Confidential, Operation, Trait
from svc_core.operation.inputs import Input, inputs
from svc_core.operation.parsing import offers
from svc_core.wire import shapes
from svc_core.wire.constraints import Arg, Le, WriteOnly
from svc_http import system
from svc_http.run.cli import moments, show
from svc_http.run.cli.failures import REFUSED, Usage
from svc_http.run.cli.files import write_whole
from svc_http.run.cli.options import KEYWORD, Author, Common, Workspace, parameter
from svc_http.run.cli.reach import ask
from svc_http.run.control.channel import Refused


@frozen
class Flag:
    """One value of a command line: what it is called and read as, and where it goes."""

    name: str
    item: Input
    path: tuple[str, ...]
    kind: Any
    read: Callable[[Any], Any]
    is_positional: bool

    @property
    def key(self) -> str:
        """The name of the parameter in Python."""
        return re.sub(r"\W", "_", "_".join(self.path)) + "_"

    @property
    def made(self) -> WriteOnly | None:
        """How the command makes it where it must be sent and was not given."""
        notes = shapes.said(self.item.annotation) if self.item.required else ()
        return next((note for note in notes if isinstance(note, WriteOnly)), None)

    def value(self, text: Any) -> Any:
        """The JSON value of what was typed.

        Raises:
            Usage: it cannot be read.
        """
        try:
            return self.read(text)
        except ValueError as wrong:
            raise Usage(f"{self.name}: {str(wrong).rstrip('.')}") from wrong

    def parameter(self) -> inspect.Parameter:
        """It as a parameter of the function that the command line is read for."""
        default, text = self.item.default, self.item.doc + _HINTS.get(self.read, "")
        if isinstance(default, str | int) and default not in ("", False, True):
            text += f" Default: {default}."
        text += " Default: a new one, shown once." if self.made else ""
        negative = self.kind is bool and default is not False
        return parameter(
            self.key,
            self.kind,
            Parameter(
                name=self.name,
                help=text,
                show_default=False,
                negative=f"--no-{self.name[2:]}" if negative else (),
            ),
            inspect.Parameter.POSITIONAL_ONLY if self.is_positional else KEYWORD,
            is_required=self.item.required and len(self.path) == 1 and not self.made,
        )


def _flags(items: Iterable[Input], within: tuple[str, ...] = ()) -> Iterator[Flag]:
    for item in items:
        inner, metadata = _plain(item.annotation)
        path = (*within, item.name)
        if item.place == "member" and shapes.is_model(inner):
            yield from _flags(inputs(inner), path)
            continue
        arg = next((note for note in metadata if isinstance(note, Arg)), Arg())
        kind, read = _kind(item, inner, arg)
        is_positional = item.place == "path" or arg.positional
        own = item.name
        if shapes.is_tuple(kind) and not is_positional:
            own = re.sub("(?<=ss)es$|(?<!u)s$", "", own)
        words = "-".join((*within, arg.name or own))
        name = re.sub("(?<=[a-z0-9])(?=[A-Z])", "-", words).lower()
        name = name.upper() if is_positional else f"--{name}"
        yield Flag(name, item, path, kind, read, is_positional)


def _plain(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of what is sent, neither left out nor null, and all that is said of it."""
    inner, metadata = shapes.split(annotation)
    if shapes.is_union(inner):
        kinds = [kind for kind in get_args(inner) if kind not in (Unset, type(None))]
        if len(kinds) == 1:
            deeper, more = _plain(kinds[0])
            return deeper, metadata + more
    return inner, metadata


def _kind(item: Input, inner: Any, arg: Arg) -> tuple[Any, Callable[[Any], Any]]:
    """The type that the command line is read as, and what makes the JSON value of it."""
    if item.name.endswith("Seconds"):
        return str, moments.seconds
    if inner is datetime:
        return str, moments.instant if arg.ahead else moments.written
    if inner in _NUMBERS:
        return str, _NUMBERS[inner]
    if inner in (bool, str) or shapes.is_literal(inner):
        return inner, _file if arg.path else (_tag if item.name == "if-match" else _same)
    if shapes.is_tuple(inner) and not shapes.items_of(inner):
        kind, read = _kind(item, _plain(get_args(inner)[0])[0], arg)
        many: Any = tuple[kind, ...]  # type: ignore[valid-type]  # made of a value
        return many, lambda values: [read(value) for value in values]
    is_pairs = shapes.is_mapping(inner) and _plain(get_args(inner)[1])[0] is str
    kind = tuple[str, ...] if is_pairs else str
    return kind, _pairs if is_pairs else json.loads if item.place == "member" else _same


def _same(value: Any) -> Any:
    return value


def _pairs(texts: Iterable[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, is_pair, value = text.partition("=")
        if not name or not is_pair or name in pairs:
            raise ValueError(f"must be KEY=VALUE, each key once, not {text!r}")
        pairs[name] = value
    return pairs


def _whole(text: str) -> int:
    if re.fullmatch("[+-]?[0-9]{1,19}", text) is None:
        raise ValueError("must be a whole number")
    return int(text)


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError("must be a number")
    return number


_NUMBERS: Final[Mapping[Any, Callable[[str], Any]]] = {int: _whole, float: _finite}


def _tag(text: str) -> str:
    return text if text == "*" or text.startswith('"') else f'"{text}"'


def _file(text: str) -> str:
    """The path as the server understands it, which runs in another folder."""
    # An empty text, as from a variable that is not set, is not this folder.
    return text if "://" in text or not text.strip() else str(Path(text).absolute())


_HINTS: Final[Mapping[Any, str]] = {
    moments.instant: " RFC 3339, or a span from now such as 24h.",
    moments.written: " RFC 3339.",
    _whole: " A whole number.",
    _finite: " A number.",
    moments.seconds: " Such as 90s, 15m, 24h or 7d.",
    json.loads: " As JSON.",
}


def _extra(name: str, place: str, kind: Any, doc: str) -> Input:
    """An input that follows from what an operation is, not from its request class."""
    return Input(name, name, place, kind, False, None, _same, None, doc)


# -- the command -------------------------------------------------------------------------------


@frozen(eq=False)
class Command:
    """The command of one operation."""

    operation: Operation[Any, Any]
    flags: tuple[Flag, ...]
    formats: tuple[str, ...]

    @classmethod
    def of(cls, operation: Operation[Any, Any]) -> "Command":
        """The command with the flags that the operation's inputs make."""
        formats = tuple(form.format for form in offers(operation, {}))
        items: list[Input] = []
        for item in inputs(operation.request):
            if item.place == "body":
                items += inputs(_plain(item.annotation)[0])
            elif item.name != "cursor" and Trait.LIVE not in item.traits and item.place != "header":
                items.append(item)
        if operation.takes_if_match:
            items.append(_extra("if-match", "headers", str, "Only if this is the current ETag."))
        if operation.idempotency != "none":
            text = "8 to 200 characters: a repetition acts once."
            items.append(_extra("idempotency-key", "headers", str, text))
        if len(formats) > 1:
            items.append(_extra("format", "query", Literal[formats], "The representation."))
        return cls(operation, tuple(_flags(items)), formats)

    def function(self) -> Callable[..., int]:
        """What the command line calls."""
        positional = [flag.key for flag in self.flags if flag.is_positional]

        def run(*values: Any, common: Common = Common(), **named: Any) -> int:  # noqa: B008
            return self.run({**dict(zip(positional, values, strict=False)), **named}, common)

        own = sorted(
            (flag.parameter() for flag in self.flags), key=lambda parameter: parameter.kind
        )
        common = inspect.Parameter("common", KEYWORD, annotation=Common, default=Common())
        signature = inspect.Signature([*own, *self._usual(), common], return_annotation=int)
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__doc__ = f"{self.operation.summary}.\n\n{self.operation.description}".strip()
        return run

    def _usual(self) -> Iterator[inspect.Parameter]:
        operation = self.operation
        if operation.method == "PATCH":
            text = "What to reset to nothing; repeatable."
            says = Parameter(help=text, negative=(), show_default=False)
            of_body = (flag for flag in self.flags if flag.item.place == MEMBER.place)
            names: Any = Literal[tuple(each.name[2:] for each in of_body if not each.item.required)]
            yield parameter("clear", tuple[names, ...], says)
        if operation.foresees:
            text = "Do not ask, where a person at a terminal would be."
            yield parameter("yes", bool, Parameter(help=text, negative=()))
        if set(operation.media) != {JSON}:
            says = Parameter(help="The file to write the answer to. Default: stdout.")
            yield parameter("out", Path, says)
        if operation.binding != "system":
            yield inspect.Parameter("workspace", KEYWORD, annotation=Workspace, default=None)
            if operation.unit.kind != "read" or operation.personal:
                yield inspect.Parameter("author", KEYWORD, annotation=Author, default=None)

    def run(self, values: Mapping[str, Any], common: Common) -> int:
        """Ask for the operation and print what it answers, with what was made for it here."""
        fresh = {
            flag.item.name: flag.made.fresh(system.SystemIds().random(flag.made.size))
            for flag in self.flags
            if flag.made and values.get(flag.key) is None
        }
        request = self._asked(values, common)
        request["body"] |= fresh
        if self.operation.foresees and not values.get("yes") and sys.stdin.isatty():
            about = {"body": request["path"], "account": request["account"]}
            gone = show.value(ask(common, self.operation.foresees, **about)["body"])
            what = ", ".join(f"{name} {count}" for name, count in gone.items())
            sys.stderr.write(f"This takes for good: {what}. Go on? [y/N] ")
            sys.stderr.flush()
            if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
                return 1
        limit = next((flag for flag in self.flags if flag.path == ("limit",)), None)
        names = {item.name for item in inputs(self.operation.request)}
        is_whole = limit is None or (
            "limit" not in request["query"] and limit.item.default is UNSET
        )
        try:
            if limit is not None and not is_whole and not names.isdisjoint({"cursor", "after"}):
                answer = _pages(common, self.operation.id, request, limit)
            else:
                answer = ask(common, self.operation.id, **request)
        except Refused as refused:
            raise self._named(refused) from refused
        return self._print({**answer, "fresh": fresh}, values, common)

    def _asked(self, values: Mapping[str, Any], common: Common) -> dict[str, Any]:
        sent: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "headers": {}, "body": {}}
        cleared = values.get("clear") or ()
        for flag in self.flags:
            value, is_cleared = values.get(flag.key), flag.name[2:] in cleared
            if value in (None, ()) and not is_cleared:
                continue
            if is_cleared and value not in (None, ()):
                raise Usage(f"{flag.name}: it is to be cleared as well")
            target = body = sent.get(flag.item.place, sent["body"])
            for name in flag.path[:-1]:
                target = target.setdefault(name, {})
            value = None if is_cleared else flag.value(value)
            target[flag.path[-1]] = value if body is sent["body"] else _text(value)
        if len(self.formats) > 1 and (common.json or not sent["query"]):
            sent["query"].setdefault("format", "json" if common.json else self._readable())
        usual = {"account": values.get("workspace"), "author": values.get("author")}
        return {**sent, **usual}

    def _readable(self) -> str:
        """The representation that a person would rather read: a text, where one is offered."""
        texts = (form for form in self.operation.media if form.media_type.startswith("text/"))
        return next((form.format for form in texts if form.format in self.formats), self.formats[0])

    def _named(self, refused: Refused) -> Refused:
        """The refusal with what a person typed in place of pointers and names of inputs."""
        names = {"workspace": "--workspace"}
        names |= {"/".join(flag.path): flag.name for flag in self.flags}

        def typed(match: re.Match[str]) -> str:
            path = "/".join(part for part in match[1].split("/") if not part.isdecimal())
            return f"{names.get(path, match[1])}: "

        return refused.saying(_POINTER.sub(typed, str(refused)))

    def _print(self, answer: Mapping[str, Any], values: Mapping[str, Any], common: Common) -> int:
        body, out = answer["body"], values.get("out")
        as_json = common.json or values.get("format_") == "json"
        if self.operation.response is Empty:
            body = {"id": next(iter(values.values())), "deleted": True}
        elif answer["status"] == 302:
            body = {"location": answer["headers"]["Location"]}
        if out is not None:
            write_whole(out, [show.content(answer)])
            if out.is_symlink() or not out.is_file():
                return 0  # it may be where this would be printed
            body = {"file": str(out)}
        elif isinstance(body, str) and not common.json:
            sys.stdout.write(body.rstrip("\n") + "\n")
            return 0
        elif isinstance(body, str):
            is_json = answer["mediaType"].partition(";")[0].endswith("+json")
            body = json.loads(body) if is_json else {"mediaType": answer["mediaType"], "text": body}
        value = show.value(body)
        if answer["fresh"]:
            value = {**value, **answer["fresh"]}
        if as_json:
            show.as_json(value)
        else:
            show.answer(value, self.operation)
            if "ETag" in answer["headers"]:
                show.lines(f"etag  {answer['headers']['ETag']}")
            if answer["fresh"] or self.operation.confidential == Confidential():
                show.lines("", "Keep what is secret now: it is not shown again.")
        is_unsound = isinstance(value, dict) and value.get("ok") is False
        return REFUSED if answer["failed"] or is_unsound else 0


_POINTER = re.compile(r"(?:(?<=^)|(?<=; ))/?([A-Za-z][^:; ]*): ")
"""How a fault begins: a JSON Pointer (RFC 6901) into the body, or the name of a parameter."""


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pages(
    common: Common, operation: str, request: dict[str, Any], limit: Flag
) -> Mapping[str, Any]:
    """As many rows as are wanted, from as many pages as they stand on, in one answer."""
    wanted = int(request["query"].get("limit", limit.item.default))
    most: Any = next(
        bound.le for bound in shapes.split(limit.item.annotation)[1] if type(bound) is Le
    )
    rows: list[Any] = []
    nodes: dict[str, Any] = {}
    while True:
        # A limit that is no number of rows is for the operation to refuse.
        request["query"]["limit"] = str(min(wanted - len(rows), most))
        answer = ask(common, operation, **request)
        rows += _rows(answer)
        nodes |= {node["id"]: node for node in _graph(answer).get("nodes", ())}
        link = _NEXT.match(answer["headers"].get("Link", ""))
        if link is None or len(rows) >= wanted:
            return {**answer, "body": _joined(answer, rows, nodes)}
        request["query"] = dict(parse_qsl(urlsplit(link[1]).query))


def _rows(answer: Mapping[str, Any]) -> list[Any]:
    body = answer["body"]
    if answer["mediaType"] == GEOJSON.media_type:
        return list(json.loads(body)["features"])
    if data := _graph(answer):
        return [(name, row) for name in _PAGED for row in data.get(name, ())]
    return list(body["data"] if isinstance(body, dict) else body.splitlines(keepends=True))


_PAGED = ("edges", "timeline", "links")
"""The lists of a resource that comes in pages."""


def _graph(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The resource that an answer is a page of; an empty one where it is a page of rows."""
    body = answer["body"]
    data = body["data"] if isinstance(body, dict) else None
    return data if isinstance(data, dict) else {}


def _joined(answer: Mapping[str, Any], rows: list[Any], nodes: Mapping[str, Any]) -> Any:
    body = answer["body"]
    if data := _graph(answer):
        lists: Any = {
            name: [row for of, row in rows if of == name] for name in _PAGED if name in data
        }
        if nodes:
            counts = {"nodes": len(nodes), "edges": len(rows)}
            lists |= {"nodes": list(nodes.values()), "counts": counts}
        return {**body, "data": {**data, **lists}}
    if answer["mediaType"] == GEOJSON.media_type:
        return _text_of(json.loads(body) | {"features": rows, "numberReturned": len(rows)})
    return {**body, "data": rows} if isinstance(body, dict) else "".join(rows)


_text_of = compact.encoder()
_NEXT = re.compile('<([^>]*)>; rel="next"')

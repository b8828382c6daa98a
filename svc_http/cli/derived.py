"""A command for each operation: its flags, its help and its tables come from the declaration.

Path values and positional members stand in order, all else are flags: a member of the body has the
name of the member, one of a model within it that of both; a list is a flag that is repeated.
Instants are RFC 3339 or a span from now (`24h`), members in seconds are spans, and what is no text,
number or list of these is JSON. A listing is read page by page up to `--limit`.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args

from attrs import frozen
from cyclopts import Parameter

from svc_core.constraints import Arg, Le
from svc_core.inputs import Input, inputs
from svc_core.operation import JSON, Operation
from svc_core.result import Empty
from svc_core.unset import Unset
from svc_core.wire import shapes
from svc_http.cli import moments, show
from svc_http.cli.failures import REFUSED, Refusal, Usage
from svc_http.cli.files import write_whole
from svc_http.cli.options import Author, Common, Workspace
from svc_http.cli.reach import ask

ROWS_MAX: Final = 1_000_000
"""Of a listing: more than anybody reads, so that a mistyped number has an end."""


@frozen
class Flag:
    """One value of a command line: where it goes, what it is called and how it is read."""

    item: Input
    path: tuple[str, ...]
    kind: Any
    read: Callable[[Any], Any]
    arg: Arg

    @property
    def key(self) -> str:
        """The name of the parameter in Python."""
        return "_".join(self.path) + "_"

    @property
    def name(self) -> str:
        """What is typed, or what stands for it in the help."""
        own = self.arg.name or ("" if self.is_positional else _one_of(self.path[-1], self.kind))
        words = [*self.path[:-1], own or self.path[-1]]
        text = "-".join(re.sub("(?=[A-Z])", "-", word).lower() for word in words)
        return text.upper() if self.is_positional else f"--{text}"

    def value(self, given: Any) -> Any:
        """The JSON value of what was typed.

        Raises:
            Usage: it cannot be read.
        """
        try:
            return self.read(given)
        except ValueError as wrong:
            raise Usage(f"{self.name}: {str(wrong).rstrip('.')}") from wrong

    @property
    def is_positional(self) -> bool:
        """Whether it stands in order, without a name."""
        return self.item.place == "path" or self.arg.positional

    def parameter(self) -> inspect.Parameter:
        """It as a parameter of a function that the command line is read for."""
        can_be_denied = self.kind is bool and self.item.default is not False
        negative = (f"--no-{self.name[2:]}",) if can_be_denied else ()
        says = Parameter(
            name=self.name,
            help=self._help(),
            show_default=False,
            negative=negative,
        )
        is_list = shapes.is_tuple(self.kind)
        is_required = self.item.required and len(self.path) == 1
        default: Any = inspect.Parameter.empty if is_required else (() if is_list else None)
        return inspect.Parameter(
            self.key,
            _POSITIONAL if self.is_positional else inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[self.kind if is_list else self.kind | None, says],
        )

    def _help(self) -> str:
        default = self.item.default
        is_told = isinstance(default, str | int) and default not in ("", False, True)
        hint = _HINTS.get(self.read, "")
        return self.item.doc + hint + (f" Default: {default}." if is_told else "")


_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY


def _one_of(name: str, kind: Any) -> str:
    """The name of one element of a list: `scope` of `scopes`, `address` of `addresses`."""
    if not shapes.is_tuple(kind):
        return name
    return name.removesuffix("es") if name.endswith("sses") else name.removesuffix("s")


def _flags(items: tuple[Input, ...], within: tuple[str, ...] = ()) -> Iterator[Flag]:
    for item in items:
        inner, metadata = _plain(item.annotation)
        path = (*within, item.name)
        if shapes.is_model(inner):
            yield from _flags(inputs(inner), path)
            continue
        arg = next((one for one in metadata if isinstance(one, Arg)), Arg())
        kind, read = _kind(item.name, inner, arg)
        yield Flag(item, path, kind, read, arg)


def _plain(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type of what is sent, neither left out nor null, and all that is said of it."""
    inner, metadata = shapes.split(annotation)
    if shapes.is_union(inner):
        kept = [one for one in get_args(inner) if one not in (Unset, type(None))]
        if len(kept) == 1:
            deeper, more = _plain(kept[0])
            return deeper, metadata + more
    return inner, metadata


def _kind(name: str, inner: Any, arg: Arg) -> tuple[Any, Callable[[Any], Any]]:
    """The type that the command line is read as, and what makes the JSON value of it."""
    if inner in (bool, int, float, str) and not name.endswith("Seconds"):
        return inner, _file if arg.path else _same
    if shapes.is_literal(inner):
        return inner, _same
    if inner is datetime:
        return str, moments.instant
    if name.endswith("Seconds"):
        return str, moments.seconds
    if shapes.is_tuple(inner) and not shapes.items_of(inner):
        kind, read = _kind(name, _plain(get_args(inner)[0])[0], arg)
        many: Any = tuple[kind, ...]  # type: ignore[valid-type]  # made of a value
        return many, lambda values: [read(value) for value in values]
    return str, _json


def _same(value: Any) -> Any:
    return value


def _file(text: str) -> str:
    """The path as the server understands it, which runs in another folder."""
    # An empty text, as from a variable that is not set, is not this folder.
    return text if "://" in text or not text.strip() else str(Path(text).absolute())


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_HINTS: Final[Mapping[Any, str]] = {
    moments.instant: " RFC 3339, or a span from now such as 24h.",
    moments.seconds: " Such as 90s, 15m, 24h or 7d.",
    _json: " As JSON.",
}


# -- the command -------------------------------------------------------------------------------


@frozen(eq=False)
class Command:
    """The command of one operation."""

    operation: Operation[Any, Any]
    flags: tuple[Flag, ...]

    @classmethod
    def of(cls, operation: Operation[Any, Any]) -> "Command":
        """The command with the flags that the operation's inputs make."""
        items: list[Input] = []
        for item in inputs(operation.request):
            if item.place == "body":
                items += inputs(_plain(item.annotation)[0])
            elif item.name not in {"cursor", operation.live} and item.place != "header":
                items.append(item)
        return cls(operation, tuple(_flags(tuple(items))))

    def function(self) -> Callable[..., int]:
        """What the command line calls."""

        def run(*positional: Any, common: Common = Common(), **named: Any) -> int:  # noqa: B008
            keys = [flag.key for flag in self.flags if flag.is_positional]
            return self.run({**dict(zip(keys, positional, strict=False)), **named}, common)

        parameters = [flag.parameter() for flag in self.flags]
        parameters.sort(key=lambda one: one.kind)
        common = inspect.Parameter("common", _KEYWORD, annotation=Common, default=Common())
        signature = inspect.Signature([*parameters, *self._usual(), common], return_annotation=int)
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__doc__ = f"{self.operation.summary}.\n\n{self.operation.description}".strip()
        return run

    def _usual(self) -> Iterator[inspect.Parameter]:
        """The flags that follow from what the operation is, not from its inputs."""
        operation = self.operation
        if operation.method == "PATCH":
            yield _usual("clear", tuple[str, ...], "A member to reset (null); repeatable.")
        if operation.takes_if_match:
            yield _usual("if_match", str, "Only if this is the current ETag.")
        if operation.idempotency != "none":
            yield _usual("idempotency_key", str, "8 to 200 characters: a repetition acts once.")
        if len(self._formats) > 1:
            formats: Any = Literal[self._formats]
            yield _usual("format", formats, "The representation.")
        if set(operation.media) != {JSON}:
            yield _usual("out", Path, "The file to write the answer to. Default: stdout.")
        if operation.binding != "system":
            yield inspect.Parameter("workspace", _KEYWORD, annotation=Workspace, default=None)
            if operation.unit != "read":
                yield inspect.Parameter("author", _KEYWORD, annotation=Author, default=None)

    @property
    def _formats(self) -> tuple[str, ...]:
        streams = {"sse"} if self.operation.live else set()
        return tuple(one.format for one in self.operation.media if one.format not in streams)

    def run(self, given: Mapping[str, Any], common: Common) -> int:
        """Ask for the operation and print what it answers."""
        asked = self._asked(given, common)
        limit = next((flag for flag in self.flags if flag.path == ("limit",)), None)
        is_list = any(item.name == "cursor" for item in inputs(self.operation.request))
        try:
            if is_list and limit is not None:
                answer = _pages(common, self.operation.id, asked, limit)
            else:
                answer = ask(common, self.operation.id, **asked)
        except Refusal as refused:
            raise self._named(refused) from refused
        return self._print(answer, given, common)

    def _asked(self, given: Mapping[str, Any], common: Common) -> dict[str, Any]:
        sent: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}, "headers": {}}
        for flag in self.flags:
            value = given.get(flag.key)
            if value is None or value == ():
                continue
            value = flag.value(value)
            place = flag.item.place if flag.item.place in sent else "body"
            target = sent[place]
            for name in flag.path[:-1]:
                target = target.setdefault(name, {})
            target[flag.path[-1]] = value if place == "body" else _text(value)
        sent["body"] |= dict.fromkeys(given.get("clear") or ())
        sent["headers"] |= self._headers(given)
        chosen = given.get("format") or self._readable(common)
        if chosen is not None:
            sent["query"]["format"] = chosen
        usual = {"account": given.get("workspace"), "author": given.get("author")}
        return {**{name: part for name, part in sent.items() if part or name == "body"}, **usual}

    def _headers(self, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        tag, key = given.get("if_match"), given.get("idempotency_key")
        if tag is not None:
            yield "if-match", tag if tag == "*" or tag.startswith('"') else f'"{tag}"'
        if key is not None:
            yield "idempotency-key", key

    def _readable(self, common: Common) -> str | None:
        """The text that a person would rather read, where the operation offers one beside JSON."""
        if common.json or len(self._formats) == 1:
            return "json" if common.json and len(self._formats) > 1 else None
        texts = [one.format for one in self.operation.media if one.media_type.startswith("text/")]
        return next((name for name in texts if name in self._formats), None)

    def _named(self, refused: Refusal) -> Refusal:
        """The refusal with what a person typed in place of pointers and names of inputs."""
        names = {"/".join(flag.path): flag.name for flag in self.flags}

        def typed(found: re.Match[str]) -> str:
            parts = [part for part in found[1].split("/") if not part.isdecimal()]
            return f"{names.get('/'.join(parts), found[1])}: "

        return refused.saying(_POINTER.sub(typed, str(refused)))

    def _print(self, answer: Mapping[str, Any], given: Mapping[str, Any], common: Common) -> int:
        body, out = answer["body"], given.get("out")
        if self.operation.response is Empty:
            body = {"id": next(iter(given.values())), "deleted": True}
        elif answer["status"] == 302:
            body = {"location": answer["headers"]["Location"]}
        if out is not None:
            write_whole(out, [show.content(answer)])
            body = {"file": str(out), "bytes": out.stat().st_size}
        elif not isinstance(body, dict | list):
            if not common.json:
                sys.stdout.write(show.ended(str(body)))
                return 0
            body = {"mediaType": answer["mediaType"], "text": body}
        value = show.value(body)
        if common.json:
            show.as_json(value)
        else:
            self._show(value)
        is_unsound = isinstance(value, dict) and value.get("ok") is False
        return REFUSED if answer["failed"] or is_unsound else 0

    def _show(self, value: Any) -> None:
        operation = self.operation
        rows = value["data"] if isinstance(value, dict) and "data" in value else value
        if isinstance(rows, list):
            show.table(rows, operation.columns, f"Nothing here. See: svc {operation.group} --help")
            if rows is not value:
                show.outline({name: one for name, one in value.items() if name != "data"})
            return
        show.outline(value)
        if operation.confidential and operation.replay is None:
            show.lines("", "Keep what is secret now: it is not shown again.")


_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_POINTER = re.compile(r"(?:(?<=^)|(?<=; ))/?([A-Za-z][^:; ]*): ")
"""How a fault begins: a JSON Pointer (RFC 6901) into the body, or the name of a parameter."""


def _usual(name: str, kind: Any, text: str) -> inspect.Parameter:
    is_list = shapes.is_tuple(kind)
    says = Parameter(help=text, negative=(), show_default=False)
    wanted: Any = kind if is_list else kind | None
    annotation: Any = Annotated[wanted, says]
    return inspect.Parameter(name, _KEYWORD, annotation=annotation, default=() if is_list else None)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pages(common: Common, operation: str, asked: dict[str, Any], limit: Flag) -> Mapping[str, Any]:
    """As many rows as are wanted, from as many pages as they stand on, in one answer."""
    query = asked.setdefault("query", {})
    wanted = min(int(query.get("limit", limit.item.default)), ROWS_MAX)
    most: Any = next(
        one.le for one in shapes.split(limit.item.annotation)[1] if isinstance(one, Le)
    )
    rows: list[Any] = []
    while True:
        # A limit that is no number of rows is for the operation to refuse.
        query["limit"] = str(min(wanted - len(rows), most) if wanted > 0 else wanted)
        answer = ask(common, operation, **asked)
        if not isinstance(answer["body"], dict):
            return answer
        rows += answer["body"]["data"]
        cursor = answer["body"]["meta"]["page"]["nextCursor"]
        if cursor is None or len(rows) >= wanted:
            answer["body"]["data"] = rows
            return answer
        query["cursor"] = cursor

"""A command that calls one operation: reads its flags, sends the request, prints the answer.

Path values and positional members stand in order, all else are flags: a member of the body has the
name of the member, one of a model within it that of both; a list is a flag that is repeated. How a
word is read is said in `typed_values`. A listing is read page by page up to `--limit`.

Nothing here needs the operation itself: a running server has it, or `reach` loads it.
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from cyclopts import Parameter

from svc_core.base.compact import compact_text
from svc_http.run.cli import show, typed_values
from svc_http.run.cli.exit_codes import REFUSED, UsageError
from svc_http.run.cli.operation_calls import perform_operation
from svc_http.run.cli.options import COMMON, KEYWORD, Author, Common, Workspace, parameter
from svc_http.run.control.channel import OperationRefused


class Flag(NamedTuple):
    """One flag or argument of a command: its name, its type, and the request member it fills.

    `path` leads to the member in the body, or is the name of the input alone; `place` is where the
    input travels. A `required` one must be sent; where it was not typed `maker` makes it, if it
    names a function (`module:name`), of `maker_bytes` random bytes. `page_max` bounds the rows of a
    page. `doc` is its help, which the table has in the page of the command instead.
    """

    name: str
    path: tuple[str, ...]
    place: str
    form: str = "text"
    is_list: bool = False
    choices: tuple[str, ...] = ()
    is_positional: bool = False
    required: bool = False
    default: str | int | None = None
    maker: str = ""
    maker_bytes: int = 0
    page_max: int = 0
    doc: str = ""

    @property
    def key(self) -> str:
        """The name of the parameter in Python."""
        return re.sub(r"\W", "_", "_".join(self.path)) + "_"

    @property
    def kind(self) -> Any:
        """The type that the command line is read as."""
        item = bool if self.form == "switch" else Literal[self.choices] if self.choices else str
        return tuple[item, ...] if self.is_list else item  # type: ignore[valid-type]  # of a value

    @property
    def is_asked(self) -> bool:
        """Whether a command line without it is misused."""
        return self.required and len(self.path) == 1 and not self.maker

    def make(self) -> str:
        """A new value, where one must be sent and was not typed."""
        from svc_http import system  # noqa: PLC0415 - two commands make one

        module, _, name = self.maker.partition(":")
        text: str = getattr(import_module(module), name)(
            system.SystemIds().random(self.maker_bytes)
        )
        return text

    def value(self, word: Any) -> Any:
        """The JSON value of what was typed.

        Raises:
            UsageError: it cannot be read.
        """
        try:
            if self.is_list and self.form != "pairs":
                return [typed_values.parse_word(self.form, item) for item in word]
            return typed_values.parse_word(self.form, word)
        except ValueError as wrong:
            raise UsageError(f"{self.name}: {str(wrong).rstrip('.')}") from wrong

    def parameter(self) -> inspect.Parameter:
        """It as a parameter of the function that the command line is read for."""
        negative = self.form == "switch" and self.default is not False
        return parameter(
            self.key,
            self.kind,
            Parameter(
                name=self.name,
                help=self.doc,
                show_default=False,
                negative=f"--no-{self.name[2:]}" if negative else (),
            ),
            inspect.Parameter.POSITIONAL_ONLY if self.is_positional else KEYWORD,
            is_required=self.is_asked,
        )


# -- the command -------------------------------------------------------------------------------


class Command(NamedTuple):
    """The command of one operation.

    `readable` is the format that a person would rather read, `foresees` the operation that tells
    what it takes for good, `is_paged` whether its rows come on several pages, `is_emptied` whether
    it answers nothing; `clears` are the flags whose members it resets, `columns` and `notes` those
    of its table. `doc` is what its help says before the flags.
    """

    id: str
    group: str
    verb: str
    flags: tuple[Flag, ...]
    formats: tuple[str, ...]
    readable: str
    foresees: str = ""
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    clears: tuple[str, ...] = ()
    is_paged: bool = False
    is_emptied: bool = False
    is_secret: bool = False
    has_file: bool = False
    has_workspace: bool = False
    has_author: bool = False
    doc: str = ""

    @classmethod
    def parse(cls, cell: str) -> "Command":
        """The command in a cell of the table."""
        members = _with_tuples(json.loads(cell))
        flags = tuple(Flag(**_with_tuples(row)) for row in members.pop("flags"))
        return cls(flags=flags, **members)

    def function(self) -> Callable[..., int]:
        """What the command line calls."""
        positional = [flag.key for flag in self.flags if flag.is_positional]

        def run(*values: Any, common: Common = COMMON, **options: Any) -> int:
            return self.run({**dict(zip(positional, values, strict=False)), **options}, common)

        own = sorted(
            (flag.parameter() for flag in self.flags), key=lambda parameter: parameter.kind
        )
        common = inspect.Parameter("common", KEYWORD, annotation=Common, default=COMMON)
        signature = inspect.Signature([*own, *self._usual(), common], return_annotation=int)
        run.__signature__ = signature  # type: ignore[attr-defined]
        run.__doc__ = self.doc
        return run

    def _usual(self) -> Iterator[inspect.Parameter]:
        if self.clears:
            text = "A member to clear; repeatable."
            says = Parameter(help=text, negative=(), show_default=False)
            names: Any = Literal[self.clears]
            yield parameter("clear", tuple[names, ...], says)
        if self.foresees:
            text = "Do not ask for confirmation at a terminal."
            yield parameter("yes", bool, Parameter(help=text, negative=()))
        if self.has_file:
            says = Parameter(help="The file to write the answer to. Default: stdout.")
            yield parameter("out", Path, says)
        if self.has_workspace:
            yield inspect.Parameter("workspace", KEYWORD, annotation=Workspace, default=None)
        if self.has_author:
            yield inspect.Parameter("author", KEYWORD, annotation=Author, default=None)

    def run(self, values: Mapping[str, Any], common: Common) -> int:
        """Ask for the operation and print what it answers, with what was made for it here."""
        fresh = {
            flag.path[-1]: flag.make()
            for flag in self.flags
            if flag.maker and values.get(flag.key) is None
        }
        request = self._request(values, common)
        request["body"] |= fresh
        if self.foresees and not values.get("yes") and sys.stdin.isatty():
            about = {"body": request["path"], "account": request["account"]}
            counts = show.value(perform_operation(common, self.foresees, **about)["body"])
            summary = ", ".join(f"{name} {count}" for name, count in counts.items())
            sys.stderr.write(f"This takes for good: {summary}. Go on? [y/N] ")
            sys.stderr.flush()
            if sys.stdin.readline().strip().casefold() not in {"y", "yes"}:
                return 1
        limit = self._limit()
        is_whole = limit is None or ("limit" not in request["query"] and limit.default is None)
        try:
            if self.is_paged and limit is None:
                return self._write_pages(common, request, values.get("out"))
            if limit is not None and not is_whole and self.is_paged:
                answer = _pages(common, self.id, request, limit)
            else:
                answer = perform_operation(common, self.id, **request)
        except OperationRefused as refusal:
            raise self._with_flags(refusal) from refusal
        return self._print({**answer, "fresh": fresh}, values, common)

    def _limit(self) -> Flag | None:
        """The flag that bounds the rows, of a command that has one."""
        return next((flag for flag in self.flags if flag.path == ("limit",)), None)

    def _request(self, values: Mapping[str, Any], common: Common) -> dict[str, Any]:
        members: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "headers": {}, "body": {}}
        cleared = values.get("clear") or ()
        for flag in self.flags:
            value, is_cleared = values.get(flag.key), flag.name[2:] in cleared
            if value in (None, ()) and not is_cleared:
                continue
            if is_cleared and value not in (None, ()):
                raise UsageError(f"{flag.name}: it is to be cleared as well")
            target = body = members.get(flag.place, members["body"])
            for name in flag.path[:-1]:
                target = target.setdefault(name, {})
            value = None if is_cleared else flag.value(value)
            target[flag.path[-1]] = value if body is members["body"] else _text(value)
        if len(self.formats) > 1 and (common.json or not members["query"]):
            members["query"].setdefault("format", "json" if common.json else self.readable)
        usual = {"account": values.get("workspace"), "author": values.get("author")}
        return {**members, **usual}

    def _with_flags(self, refusal: OperationRefused) -> OperationRefused:
        """The refusal with what a person typed in place of pointers and names of inputs."""
        names = {"workspace": "--workspace"}
        names |= {"/".join(flag.path): flag.name for flag in self.flags}

        def flag_name(match: re.Match[str]) -> str:
            path = "/".join(part for part in match[1].split("/") if not part.isdecimal())
            return f"{names.get(path, match[1])}: "

        return refusal.saying(_POINTER.sub(flag_name, str(refusal)))

    def _write_pages(self, common: Common, request: dict[str, Any], out: Path | None) -> int:
        """Write all pages of an answer that is written page by page, as many as there are."""
        from svc_http.run.cli.files import write_whole  # noqa: PLC0415 - few are asked for

        def pages() -> Iterator[bytes]:
            link: re.Match[str] | None = None
            while True:
                answer = perform_operation(common, self.id, **request)
                yield show.answer_bytes(answer)
                link = _NEXT.match(answer["headers"].get("Link", ""))
                if link is None:
                    return
                request["body"].update(parse_qsl(urlsplit(link[1]).query))

        if out is None:
            for page in pages():
                show.print_text(page.decode())
            return 0
        write_whole(out, pages())
        if common.json:
            show.as_json({"file": str(out)})
        return 0

    def _print(self, answer: Mapping[str, Any], values: Mapping[str, Any], common: Common) -> int:
        body, out = answer["body"], values.get("out")
        as_json = common.json or values.get("format_") == "json"
        if self.is_emptied:
            body = {"id": next(iter(values.values())), "deleted": True}
        elif answer["status"] == 302:
            body = {"location": answer["headers"]["Location"]}
        if out is not None:
            from svc_http.run.cli.files import write_whole  # noqa: PLC0415 - few are asked for

            write_whole(out, [show.answer_bytes(answer)])
            if out.is_symlink() or not out.is_file():
                return 0  # it may be where this would be printed
            body = {"file": str(out)}
        elif isinstance(body, str) and not common.json:
            show.print_text(body.rstrip("\n") + "\n")
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
            show.print_answer(value, self.group, self.columns, self.notes)
            limit = self._limit()
            if limit is not None and _NEXT.match(answer["headers"].get("Link", "")):
                count = int(values.get(limit.key) or limit.default or limit.page_max)
                sys.stderr.write(f"There are more: add --limit {10 * count}\n")
            if "ETag" in answer["headers"]:
                show.print_lines(f"etag  {answer['headers']['ETag']}")
            if answer["fresh"] or self.is_secret:
                show.print_lines("", "Keep what is secret now: it is not shown again.")
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
    members = request["query" if limit.place == "query" else "body"]
    total = int(members.get("limit", limit.default))
    rows: list[Any] = []
    nodes: dict[str, Any] = {}
    while True:
        # A limit that is no number of rows is for the operation to refuse.
        count = min(total - len(rows), limit.page_max)
        members["limit"] = str(count) if limit.place == "query" else count
        answer = perform_operation(common, operation, **request)
        rows += _rows(answer)
        nodes |= {node["id"]: node for node in _graph(answer).get("nodes", ())}
        link = _NEXT.match(answer["headers"].get("Link", ""))
        if link is None or len(rows) >= total:
            return {**answer, "body": _one_answer(answer, rows, nodes)}
        members.update(parse_qsl(urlsplit(link[1]).query))


def _rows(answer: Mapping[str, Any]) -> list[Any]:
    body = answer["body"]
    if answer["mediaType"] == _GEOJSON:
        return list(json.loads(body)["features"])
    if data := _graph(answer):
        return [(name, row) for name in _ROW_LISTS for row in data.get(name, ())]
    return list(body["data"] if isinstance(body, dict) else body.splitlines(keepends=True))


_GEOJSON = "application/geo+json"
"""RFC 7946."""

_ROW_LISTS = ("edges", "timeline", "links")
"""The lists of a resource that comes in pages."""


def _graph(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The resource that an answer is a page of; an empty one where it is a page of rows."""
    body = answer["body"]
    data = body["data"] if isinstance(body, dict) else None
    return data if isinstance(data, dict) else {}


def _one_answer(answer: Mapping[str, Any], rows: list[Any], nodes: Mapping[str, Any]) -> Any:
    body = answer["body"]
    if data := _graph(answer):
        lists: Any = {
            name: [row for of, row in rows if of == name] for name in _ROW_LISTS if name in data
        }
        if nodes:
            counts = {"nodes": len(nodes), "edges": len(rows)}
            lists |= {"nodes": list(nodes.values()), "counts": counts}
        return {**body, "data": {**data, **lists}}
    if answer["mediaType"] == _GEOJSON:
        return compact_text(json.loads(body) | {"features": rows, "numberReturned": len(rows)})
    return {**body, "data": rows} if isinstance(body, dict) else "".join(rows)


_NEXT = re.compile('<([^>]*)>; rel="next"')


def _with_tuples(members: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(v) if isinstance(v, list) else v for name, v in members.items()}

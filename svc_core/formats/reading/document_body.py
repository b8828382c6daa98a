"""Reads the bytes of a document as text, JSON, delimited rows or XML, each at most once.

The content of a document decides its format, not its address, its name or its content type.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal
from xml.etree.ElementTree import Element, ParseError

from svc_core.formats.model import DocumentRefused, MissingExtra
from svc_core.formats.reading.charset import decode_text

HEAD_CHARS = 4_096  # enough for the prolog, the root and a header line of every format
FIELD_CHARS = 1_000_000  # of one CSV field: remarks and geometries are long
DEPTH_MAX = 64  # the deepest real document, a STIX bundle, has nine levels

_SPACE = "\ufeff \t\r\n"
_ROOT = re.compile(r"<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s>/]")
_MARKUP = re.compile(
    r"<\?(?:(?!<\?).)*?\?>|<!--(?:(?!<!--).)*?-->"
    r"|<!DOCTYPE[^<>\[]*(\[(?:(?!<!DOCTYPE).)*?\]\s*)?>",
    re.DOTALL | re.IGNORECASE,
)
_DECLARATION = re.compile(r"\A<\?xml[^>]*\?>")


_ESCAPE = re.compile(
    r"\\(?:u0000|u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    r"|u[dD][c-fC-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_PAIR_CHARS = 12  # a character beyond U+FFFF: two escapes of six


def _replace_unstorable(text: str) -> str:
    """Replaces escapes that no UTF-8 text and no database can hold: NUL and lone surrogates.

    RFC 8259, 8.2 allows them in JSON, and leaves open what a reader makes of them.
    """
    if "\\u0000" not in text and "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(_storable_escape, text)


def _storable_escape(match: re.Match[str]) -> str:
    escape = match[0]
    return escape if len(escape) in (2, _PAIR_CHARS) else r"\ufffd"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _is_deep(value: Any) -> bool:
    """Whether a JSON value has more levels than `DEPTH_MAX`.

    It goes level by level, as recursion would itself fail on a value that is nested ten thousand
    times. It takes a fifth of the time that parsing takes.
    """
    level = [value]
    for _ in range(DEPTH_MAX):
        inner = (node.values() if type(node) is dict else node for node in level)
        level = [child for children in inner for child in children if type(child) in _CONTAINERS]
        if not level:
            return False
    return True


_CONTAINERS = frozenset({dict, list})
_TOO_DEEP = ("tooComplex", "The document is nested too deeply.")


class Body:
    """The bytes of one document, with lazily cached views: text, JSON, rows, XML elements."""

    def __init__(self, data: bytes, content_type: str | None = None) -> None:
        """Keep `data`; nothing is parsed yet."""
        self.data = data
        self.content_type = content_type

    @cached_property
    def text(self) -> str:
        """The decoded text, without byte order mark and leading space.

        Raises:
            DocumentRefused: `badEncoding`.
        """
        return decode_text(self.data, self.content_type).lstrip(_SPACE)

    @cached_property
    def head(self) -> str:
        """The first `HEAD_CHARS` characters; empty for binary data."""
        try:
            return decode_text(self.data[:HEAD_CHARS], self.content_type).lstrip(_SPACE)
        except DocumentRefused:
            return ""

    @cached_property
    def first_line(self) -> str:
        """The first line, without its line end."""
        return self.head.partition("\n")[0].rstrip("\r")

    # -- JSON ----------------------------------------------------------------------------------

    @cached_property
    def _json(self) -> tuple[Any, DocumentRefused | None]:
        if not self.head.startswith(("{", "[")):
            return None, DocumentRefused("malformed", "The document is not JSON.")
        try:
            value = json.loads(_replace_unstorable(self.text), parse_constant=_refuse_constant)
        except RecursionError:
            return None, DocumentRefused(*_TOO_DEEP)
        except ValueError as fault:
            at_end = getattr(fault, "pos", 0) >= len(self.text.rstrip()) - 1
            is_cut = at_end or str(fault).startswith("Unterminated")
            code = "truncated" if is_cut else "malformed"
            return None, DocumentRefused(code, f"The document is no whole JSON: {fault}.")
        return (None, DocumentRefused(*_TOO_DEEP)) if _is_deep(value) else (value, None)

    @property
    def json(self) -> Any:
        """The parsed JSON value; None where the document is not whole JSON."""
        return self._json[0]

    def whole_json(self) -> Any:
        """The parsed JSON value, or a refusal that says why there is none.

        Raises:
            DocumentRefused: `malformed`, `truncated` or `tooComplex`.
        """
        value, refusal = self._json
        if refusal is not None:
            raise refusal
        return value

    def has(self, *members: str) -> bool:
        """Whether the document is a JSON object that has these members."""
        return isinstance(self.json, dict) and all(name in self.json for name in members)

    # -- lines ---------------------------------------------------------------------------------

    def rows(self, delimiter: str = ",") -> Iterator[list[str]]:
        """Yields the rows of delimited text, without empty ones.

        Cells are quoted as in RFC 4180; text that tabs separate has no quotes.

        Raises:
            DocumentRefused: `malformed`, for a quote that is never closed or an endless field.
        """
        csv.field_size_limit(FIELD_CHARS)
        quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        try:
            for row in csv.reader(_lines(self.text), delimiter=delimiter, quoting=quoting):
                if row:
                    yield row
        except csv.Error as fault:
            raise DocumentRefused("malformed", f"The table cannot be read: {fault}.") from fault

    def table(self, delimiter: str = ",") -> Iterator[dict[str, str]]:
        """The rows below a header line, as mappings by column name."""
        rows = self.rows(delimiter)
        header = [name.strip() for name in next(rows, [])]
        return (dict(zip(header, row, strict=False)) for row in rows)

    def columns(self, delimiter: str = ",") -> Sequence[str]:
        """The cells of the first line."""
        return [name.strip().strip('"') for name in self.first_line.split(delimiter)]

    # -- XML -----------------------------------------------------------------------------------

    @cached_property
    def root(self) -> str:
        """The local name of the root element of XML; empty where it is not XML."""
        if not self.head.startswith("<"):
            return ""
        match = _ROOT.match(_MARKUP.sub("", self.head).lstrip())
        return "" if match is None else match[2]

    def elements(self, *names: str) -> Iterator[Element]:
        """Yields each element with one of these local names when it is complete.

        An element is cleared as soon as the next one is asked for. Tags keep their name space:
        `{uri}local`.

        Raises:
            DocumentRefused: as `walked`.
            MissingExtra: as `walked`.
        """
        for event, element in self.walk():
            if event == "end" and element.tag.rpartition("}")[2] in names:
                yield element
                element.clear()

    def walk(self) -> Iterator[tuple[str, Element]]:
        """Yields the `start` and the `end` of every XML element, in document order.

        Raises:
            DocumentRefused: `entityBomb`, `malformed`, `truncated` or `tooComplex`.
            MissingExtra: defusedxml is not installed.
        """
        try:
            from defusedxml.common import DefusedXmlException  # noqa: PLC0415  an extra
            from defusedxml.ElementTree import iterparse  # noqa: PLC0415
        except ImportError as missing:
            raise MissingExtra("defusedxml") from missing
        depth = 0
        # The text is decoded already; an encoding in the declaration would only mislead the parser.
        content = _DECLARATION.sub("", self.text, count=1).encode("utf-8", "replace")
        try:
            for event, element in iterparse(io.BytesIO(content), ("start", "end"), forbid_dtd=True):
                depth += 1 if event == "start" else -1
                if depth > DEPTH_MAX:
                    raise DocumentRefused(*_TOO_DEEP)
                yield event, element
        except DefusedXmlException as fault:
            raise DocumentRefused(
                "entityBomb", "The document declares XML entities, which it may not."
            ) from fault
        except ParseError as fault:
            is_cut = any(words in str(fault) for words in ("no element found", "unclosed"))
            code = "truncated" if is_cut else "malformed"
            raise DocumentRefused(code, f"The document is no whole XML: {fault}.") from fault


def _lines(text: str) -> Iterator[str]:
    """Yields the lines with their ends; `io.StringIO` would hold four bytes for each character."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end

"""The bytes of a document, read at most once as what they are: text, JSON, lines, XML.

What a document *is* decides its format, not what its address, name or content type claim.
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
    r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE
)
_DECLARATION = re.compile(r"\A<\?xml[^>]*\?>")


_ESCAPE = re.compile(
    r"\\(?:u0000|u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?"
    r"|u[dD][c-fC-F][0-9a-fA-F]{2}|.)",
    re.DOTALL,
)
_PAIR_CHARS = 12  # a character beyond U+FFFF: two escapes of six


def _replace_unstorable(text: str) -> str:
    """JSON text whose escapes can be written as UTF-8 and kept by any database (RFC 8259, 8.2)."""
    if "\\u0000" not in text and "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(_storable_escape, text)


def _storable_escape(match: re.Match[str]) -> str:
    escape = match[0]
    return escape if len(escape) in (2, _PAIR_CHARS) else r"\ufffd"


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def _is_deep(value: Any) -> bool:
    """Whether a JSON value has more levels than documents have; a fifth of the time it is read in.

    Level by level: what is nested ten thousand times would be too deep for recursion as well.
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
    """One document. What it turns out to be is remembered, so that asking again costs nothing."""

    def __init__(self, data: bytes, content_type: str | None = None) -> None:
        """Hold `data`; nothing is read yet."""
        self.data = data
        self.content_type = content_type

    @cached_property
    def text(self) -> str:
        """The characters, without a byte order mark and space before the first.

        Raises:
            DocumentRefused: `badEncoding`.
        """
        return decode_text(self.data, self.content_type).lstrip(_SPACE)

    @cached_property
    def head(self) -> str:
        """The first characters; of binary data none."""
        try:
            return decode_text(self.data[:HEAD_CHARS], self.content_type).lstrip(_SPACE)
        except DocumentRefused:
            return ""

    @cached_property
    def first_line(self) -> str:
        """The first line, without its end."""
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
        """The JSON value; None where it is not JSON."""
        return self._json[0]

    def whole_json(self) -> Any:
        """The JSON value.

        Raises:
            DocumentRefused: `malformed`, `truncated` or `tooComplex`.
        """
        value, refusal = self._json
        if refusal is not None:
            raise refusal
        return value

    def has(self, *members: str) -> bool:
        """Whether it is a JSON object with these members."""
        return isinstance(self.json, dict) and all(name in self.json for name in members)

    # -- lines ---------------------------------------------------------------------------------

    def rows(self, delimiter: str = ",") -> Iterator[list[str]]:
        """The rows of delimited text, quoted as RFC 4180 says; empty lines are left out.

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
        """The rows under a header line, each by the names of its columns."""
        rows = self.rows(delimiter)
        header = [name.strip() for name in next(rows, [])]
        return (dict(zip(header, row, strict=False)) for row in rows)

    def columns(self, delimiter: str = ",") -> Sequence[str]:
        """The fields of the first line."""
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
        """The elements with one of these local names, each whole, in the order of their ends.

        An element is emptied after it was given out. Names keep their name space: `{uri}local`.

        Raises:
            DocumentRefused: as `walked`.
            MissingExtra: as `walked`.
        """
        for event, element in self.walk():
            if event == "end" and element.tag.rpartition("}")[2] in names:
                yield element
                element.clear()

    def walk(self) -> Iterator[tuple[str, Element]]:
        """The `start` and `end` of every element, in the order of the document.

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
        # What the declaration says of the encoding is settled, and may have been a lie.
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
    """The lines with their ends; a stream of the text would hold four bytes for each character."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end

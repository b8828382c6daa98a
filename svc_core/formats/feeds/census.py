"""Checks an XML document in one fast pass before it is parsed: root, size and dangerous content.

expat reads the document without building a tree, at a few percent of the cost of parsing. It finds
out what the forgiving parser cannot: whether this is a feed, whether it is whole, and whether it
would make that parser slow, which is quadratic in the attributes of an element, in the categories
of an item and in the length of a name.
"""

import re
from collections.abc import Mapping
from xml.parsers import expat

from svc_core.formats.feeds.model import FeedLimits
from svc_core.formats.model import DocumentRefused

_ENTRIES = frozenset({"item", "entry"})
_TERMS = frozenset({"category", "subject"})
_TERM_LISTS = frozenset({"keywords", "tags"})
_PEOPLE_NAMES = """
    author creator name email contributor publisher managingeditor webmaster owner
"""
_PEOPLE = frozenset(_PEOPLE_NAMES.split())
_LONG_WORD = re.compile(rb"[\w.+-]{128}")  # RFC 5321, 4.5.3.1.1: a local part has at most 64
_PEOPLE_BYTES_MAX = 2**20
"""Names of people in one document: 500 bytes for each of 2,000 items."""
_WORK_MAX = 5_000_000
"""Comparisons of categories with each other, about half a second of them."""

ROOTS = frozenset({"rss", "RDF", "feed"})


class Census:
    """The counts of an XML document, valid after `count`, which may refuse the document."""

    def __init__(self, document: bytes, limits: FeedLimits) -> None:
        """Prepare to count the UTF-8 `document` against `limits`."""
        self.root = ""
        self.items = 0
        self.is_well_formed = False
        self.has_doctype = False
        self._document = document
        self._limits = limits
        self._depth = 0
        self._elements = 0
        self._terms = 0
        self._work = 0
        self._people_bytes = 0
        self._opened_at = 0
        self._parser = expat.ParserCreate("UTF-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._doctype

    def count(self) -> "Census":
        """Counts to the end, or to the first place where the document is malformed.

        Raises:
            DocumentRefused: `html`, `opml` or `notAFeed` by the root; `entityBomb` for any
                declaration of its own; `tooManyItems`; `tooComplex`.
        """
        try:
            self._parser.Parse(self._document, True)
        except expat.ExpatError:
            self.is_well_formed = False
        else:
            self.is_well_formed = True
        return self

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        local = name.rpartition(":")[2]
        self._elements += 1
        self._depth += 1
        if not self.root:
            self.root = name
            check_root(local)
        limits = self._limits
        if self._elements > limits.elements or self._depth > limits.depth:
            raise _too_complex("more elements, or deeper nested ones, than any feed needs")
        if len(attributes) > limits.attributes:
            raise _too_complex("an element with more attributes than any feed needs")
        self._enter(local.lower())

    def _enter(self, local: str) -> None:
        if local in _ENTRIES:
            self._count_item()
        elif local in _TERMS:
            self._count_terms(1)
        elif local in _PEOPLE or local in _TERM_LISTS:
            self._opened_at = self._parser.CurrentByteIndex

    def _end(self, name: str) -> None:
        local = name.rpartition(":")[2].lower()
        self._depth -= 1
        if local in _TERM_LISTS:
            self._count_terms((self._parser.CurrentByteIndex - self._opened_at) // 2)
        elif local in _PEOPLE:
            self._count_people(self._opened_at, self._parser.CurrentByteIndex)

    def _count_item(self) -> None:
        self.items += 1
        self._terms = 0
        if self.items > self._limits.items:
            raise too_many_items(self._limits)

    def _count_terms(self, terms: int) -> None:
        self._work += terms * (self._terms + terms)
        self._terms += terms
        if self._work > _WORK_MAX:
            raise _too_complex("more categories than any feed needs")

    def _count_people(self, start: int, end: int) -> None:
        self._people_bytes += end - start
        long_word = _LONG_WORD.search(self._document, start, end)
        if long_word is not None or self._people_bytes > _PEOPLE_BYTES_MAX:
            raise _too_complex("longer names of people than any feed needs")

    def _doctype(
        self, name: str, _system: str | None, _public: str | None, has_internal_subset: bool
    ) -> None:
        self.has_doctype = True
        if name.lower() == "html":
            raise html_page()
        if has_internal_subset:
            raise entity_bomb()


def check_root(local: str) -> None:
    """Refuses a document by the local name of its root, unless it may be that of a feed.

    Raises:
        DocumentRefused: `html`, `opml` or `notAFeed`.
    """
    if local in ROOTS:
        return
    if local.lower() in {"html", "head", "body"}:
        raise html_page()
    if local.lower() == "opml":
        raise DocumentRefused(
            "opml", "This is OPML, a list of feeds: import it as a list of sources."
        )
    raise DocumentRefused("notAFeed", "This is XML, but neither RSS nor Atom.")


def html_page() -> DocumentRefused:
    """The refusal of a page where a feed should be: a moved feed, a login, an error."""
    return DocumentRefused("html", "This is an HTML page, not a feed: the feed may have moved.")


def entity_bomb() -> DocumentRefused:
    """The refusal of a document whose DOCTYPE declares anything; no feed needs that."""
    return DocumentRefused("entityBomb", "The document declares XML entities, which feeds may not.")


def too_many_items(limits: FeedLimits) -> DocumentRefused:
    """The refusal of a document with more items than are read at once."""
    return DocumentRefused("tooManyItems", f"The document holds more than {limits.items} items.")


def _too_complex(excess: str) -> DocumentRefused:
    return DocumentRefused("tooComplex", f"The document has {excess}.")

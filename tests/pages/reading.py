"""A page as a parser sees it, and what has to hold of every page."""

from html.parser import HTMLParser
from itertools import pairwise

VOID = frozenset({"meta", "link", "img", "br"})


class Page(HTMLParser):
    """The elements of a page with their fields, its words, and its outline."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.words[self.open[-1]] = self.words.get(self.open[-1], "") + data

    def find_all(self, tag: str) -> list[dict[str, str | None]]:
        """The fields of every element of this kind."""
        return [fields for name, fields in self.elements if name == tag]

    def fields(self, name: str) -> list[str]:
        """The values that a field has anywhere on the page."""
        return [str(fields[name]) for _, fields in self.elements if name in fields]

    def check(self) -> None:
        """Assert what every page has to be."""
        names = [name for name, _ in self.elements]
        assert self.open == []
        assert self.find_all("html")[0]["lang"]
        assert self.words["title"].strip()
        for landmark in ("h1", "main", "header"):
            assert names.count(landmark) == 1, landmark
        assert all(nav["aria-label"] for nav in self.find_all("nav"))
        levels = [int(name[1]) for name in names if name in {"h1", "h2", "h3", "h4"}]
        assert levels[0] == 1
        for above, below in pairwise(levels):
            assert below <= above + 1, levels
        ids = self.fields("id")
        assert len(ids) == len(set(ids))
        inner = {link[1:] for link in self.fields("href") if link.startswith("#")}
        assert inner <= {*ids}
        assert {"skip", "brand"} <= {*self.fields("class")}
        assert not [name for _, fields in self.elements for name in fields if name[:2] == "on"]
        assert self.fields("style") == []

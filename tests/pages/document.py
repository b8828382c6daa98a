"""An HTML page as a tree, with what tests look at: words, links, tables, forms, and its faults."""

from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from urllib.parse import urlsplit

from attrs import define, field, frozen

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
SCHEMES = frozenset({"", "http", "https", "mailto"})
LABELLED = frozenset({"input", "select", "textarea"})
ADDRESSES = frozenset({"href", "src", "action", "formaction"})
REFERENCES = frozenset({"aria-describedby", "aria-labelledby", "for", "popovertarget"})


@define(eq=False)
class Element:
    """An element with its fields and, in order, the elements and words in it."""

    tag: str
    fields: dict[str, str]
    parts: list["Element | str"] = field(factory=list)

    def every(self, tag: str = "", **fields: str) -> Iterator["Element"]:
        """The elements below of this kind, with these values; `class_` is one class of several."""
        stack = self.parts[::-1]
        while stack:
            part = stack.pop()
            if isinstance(part, Element):
                if tag in ("", part.tag) and all(map(part.has, fields, fields.values())):
                    yield part
                stack += part.parts[::-1]

    def first(self, tag: str, **fields: str) -> "Element":
        """The first of `every`, which has to be there."""
        element = next(self.every(tag, **fields), None)
        assert element is not None, f"no <{tag}> with {fields}"
        return element

    def has(self, name: str, text: str) -> bool:
        """Whether a field has this value, or the class is among its classes."""
        if name == "class_":
            return text in self.fields.get("class", "").split()
        return self.fields.get(name) == text

    @property
    def text(self) -> str:
        """The words of it and of all below, with single spaces."""
        return " ".join(self.raw_text.split())

    @property
    def raw_text(self) -> str:
        """The same as they are written."""
        return "".join(part if isinstance(part, str) else part.raw_text for part in self.parts)


@frozen
class Form:
    """A form as a browser sends it: where to, how, and what stands in its fields."""

    element: Element

    @property
    def action(self) -> str:
        """Where it is sent to; empty for the page itself."""
        return self.element.fields.get("action", "")

    @property
    def method(self) -> str:
        """`get` or `post`."""
        return self.element.fields.get("method", "get").lower()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """What a browser sends if nobody touches a field."""
        pairs = []
        for control in self.element.every():
            name = control.fields.get("name")
            if not name or control.tag not in LABELLED:
                continue
            if control.tag == "select":
                options = [*control.every("option", selected=""), *control.every("option")]
                pairs.append((name, options[0].fields.get("value", options[0].text)))
            elif control.tag == "textarea":
                pairs.append((name, control.raw_text.removeprefix("\n")))
            elif control.fields.get("type") not in {"checkbox", "radio"}:
                pairs.append((name, control.fields.get("value", "")))
            elif "checked" in control.fields:
                pairs.append((name, control.fields.get("value", "on")))
        return pairs

    @property
    def names(self) -> set[str]:
        """The names of its fields."""
        controls = (each for each in self.element.every() if each.tag in LABELLED)
        return {each.fields["name"] for each in controls if "name" in each.fields}


class Document(HTMLParser):
    """A page that was read whole; an element that is never closed, or closed twice, is a fault."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self._open = [self.root]
        self.feed(text)
        self.close()
        assert self._open == [self.root], [each.tag for each in self._open]

    def updatepos(self, i: int, j: int) -> int:
        """Nobody asks for the line that something stands in."""
        return j

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: text or "" for name, text in attrs})
        assert len(element.fields) == len(attrs), (tag, attrs)
        self._open[-1].parts.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].parts.append(Element(tag, {name: text or "" for name, text in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop().tag == tag, tag

    def handle_data(self, data: str) -> None:
        self._open[-1].parts.append(data)

    @property
    def words(self) -> str:
        """What a reader sees or hears."""
        return self.root.first("body").text

    @property
    def main(self) -> Element:
        """What is of this page alone."""
        return self.root.first("main")

    @property
    def forms(self) -> list[Form]:
        """The forms of the page itself, without those of its frame."""
        return [Form(element) for element in self.main.every("form")]

    @property
    def links(self) -> list[str]:
        """Where the links of the page itself lead."""
        return [each.fields["href"] for each in self.main.every("a") if "href" in each.fields]

    def faults(self) -> list[str]:
        """What no page may have: see each line."""
        elements = list(self.root.every())
        ids = [each.fields["id"] for each in elements if "id" in each.fields]
        targets = set(ids)
        labels = {each.fields.get("for") for each in elements if each.tag == "label"}
        inside = {id(part) for each in elements if each.tag == "label" for part in each.every()}
        faults = [
            f"the id {name} {ids.count(name)} times" for name in targets if ids.count(name) > 1
        ]
        for each in elements:
            if each.tag == "style":
                faults.append("a style that stands in the page")
            if each.tag == "script" and "src" not in each.fields:
                faults.append("a script that stands in the page")
            for name, text in each.fields.items():
                if name[:2] == "on" or name == "style":
                    faults.append(f"<{each.tag} {name}>")
                elif name in ADDRESSES and text and urlsplit(text).scheme.lower() not in SCHEMES:
                    faults.append(f"{name}={text!r:.60}")
                elif name in REFERENCES:
                    lost = set(text.split()) - targets
                    faults += [f"{name} leads nowhere: {id_}" for id_ in lost]
            is_seen = each.tag in LABELLED and each.fields.get("type") != "hidden"
            if (
                is_seen
                and not {"aria-label", "aria-labelledby"} & each.fields.keys()
                and each.fields.get("id") not in labels
                and id(each) not in inside
            ):
                faults.append(f"the field {each.fields.get('name')} has no label")
            if each.tag == "form" and each.fields.get("method", "get").lower() not in {
                "get",
                "post",
            }:
                faults.append("a form of another method")
        return faults + self._outline()

    def _outline(self) -> list[str]:
        levels = [
            int(each.tag[1]) for each in self.main.every() if each.tag in {"h1", "h2", "h3", "h4"}
        ]
        faults = [] if levels.count(1) == 1 else [f"{levels.count(1)} headings of the first level"]
        faults += [f"a heading of level {b} below {a}" for a, b in pairwise(levels) if b > a + 1]
        title = self.root.first("title").text
        return faults + ([] if title.strip() else ["no title"])

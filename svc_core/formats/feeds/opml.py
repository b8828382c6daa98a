"""Reads lists of feeds in OPML 2.0.

Rule 1: an outline with an `xmlUrl` is a feed, whatever its `type`; one without is a folder, or
        nothing.
Rule 2: the folders and the categories of a feed are its labels; which of them are topics is
        decided by the caller.
"""

from collections.abc import Iterator, Mapping

from attrs import frozen

from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.markup_text import fold_space

FEEDS_MAX = 10_000
LABEL_CHARS = 200


@frozen
class Outline:
    """One feed of a list. `labels` are its folders and categories, outermost first."""

    url: str
    name: str | None
    labels: tuple[str, ...] = ()


def opml_outlines(body: Body) -> tuple[Outline, ...]:
    """The feeds of a list, each URL once with the labels of all its occurrences.

    Raises:
        DocumentRefused: it is no OPML, not whole, or lists more than `FEEDS_MAX`.
        MissingExtra: defusedxml is not installed.
    """
    if body.root.lower() != "opml":
        raise DocumentRefused("malformed", "This is no OPML: its root element is not <opml>.")
    by_url: dict[str, Outline] = {}
    for outline in _feeds(body):
        earlier = by_url.get(outline.url)
        labels = (*(earlier.labels if earlier else ()), *outline.labels)
        by_url[outline.url] = Outline(
            outline.url, earlier.name if earlier else outline.name, tuple(dict.fromkeys(labels))
        )
        if len(by_url) > FEEDS_MAX:
            raise DocumentRefused("tooManyItems", f"The list has more than {FEEDS_MAX} feeds.")
    return tuple(by_url.values())


def _feeds(body: Body) -> Iterator[Outline]:
    folders: list[str] = []
    for event, element in body.walk():
        if element.tag.rpartition("}")[2].lower() != "outline":
            continue
        if event == "end":
            folders.pop()
            element.clear()
            continue
        attributes = {name.lower(): fold_space(value) for name, value in element.attrib.items()}
        name = (attributes.get("title") or attributes.get("text") or "")[:LABEL_CHARS]
        url = attributes.get("xmlurl")
        if url:
            yield Outline(url, name or None, (*filter(None, folders), *_categories(attributes)))
        folders.append("" if url else name)


def _categories(attributes: Mapping[str, str]) -> Iterator[str]:
    """OPML 2.0: slash-delimited paths, with commas between them."""
    for path in attributes.get("category", "").split(","):
        yield from (name.strip()[:LABEL_CHARS] for name in path.split("/") if name.strip())

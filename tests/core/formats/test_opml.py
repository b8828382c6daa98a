"""Lists of feeds are read as they are written, and written as they are read."""

import pytest

from svc_core.formats.feeds import opml
from svc_core.formats.feeds.opml import Outline
from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.document_body import Body

LIST = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<opml version="1.1"><head><title>Mine</title></head><body>
<outline text="Economy"><outline text="Ports &amp; docks">
  <outline type="rss" text="Quay" title="The Quay" xmlUrl="https://quay.example/feed?a=1&amp;b=2"
    htmlUrl="https://quay.example/" category="/trade/shipping,AI"/>
  <outline TEXT="Z\xfcrich" xmlurl=" https://z.example/atom "/>
</outline></outline>
<outline text="a note"/>
<outline title="Quay again" xmlUrl="https://quay.example/feed?a=1&amp;b=2" category="world"/>
<outline text="outer" xmlUrl="https://outer.example/feed">
  <outline text="inner" xmlUrl="https://inner.example/feed"/>
</outline>
</body></opml>"""


def test_every_feed_is_found_with_its_folders_and_categories() -> None:
    folders = ("Economy", "Ports & docks")
    assert opml.opml_outlines(Body(LIST)) == (
        Outline(
            "https://quay.example/feed?a=1&b=2",
            "The Quay",
            (*folders, "trade", "shipping", "AI", "world"),
        ),
        Outline("https://z.example/atom", "Zürich", folders),
        Outline("https://outer.example/feed", "outer"),
        Outline("https://inner.example/feed", "inner"),
    )


LONG_LIST = b"".join(
    b'<outline xmlUrl="https://a.example/%d"/>' % n for n in range(opml.FEEDS_MAX + 1)
)

REFUSALS = [
    (b"<rss version='2.0'/>", "malformed"),
    (b"{}", "malformed"),
    (LIST[:-30], "truncated"),
    (b"<opml><body>" + LONG_LIST + b"</body></opml>", "tooManyItems"),
    (b"<opml>" + b"<outline>" * 100 + b"</outline>" * 100 + b"</opml>", "tooComplex"),
    (b'<!DOCTYPE opml [<!ENTITY x "y">]><opml><outline xmlUrl="&x;"/></opml>', "entityBomb"),
]


@pytest.mark.parametrize(("document", "code"), REFUSALS)
def test_what_is_no_whole_list_is_refused(document: bytes, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        opml.opml_outlines(Body(document))
    assert refusal.value.code == code

"""A document is read as what it is, and what would hurt whoever reads it is refused."""

import sys

import pytest

from svc_core.formats.model import DocumentRefused, MissingExtra
from svc_core.formats.reading.document_body import DEPTH_MAX, Body

LOL = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;">]><lolz><item>&c;</item></lolz>"""
XXE = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><item>&x;</item></r>'
REMOTE = b'<!DOCTYPE r SYSTEM "http://127.0.0.1/evil.dtd"><r><item/></r>'

XML = [
    (LOL, "entityBomb"),
    (XXE, "entityBomb"),
    (REMOTE, "entityBomb"),
    (b"<a>" * 100 + b"</a>" * 100, "tooComplex"),
    (b"<r><item>one</item>", "truncated"),
    (b"<r><item></wrong></r>", "malformed"),
    (b"", "truncated"),
]


@pytest.mark.parametrize(("document", "code"), XML)
def test_xml_that_is_hostile_or_not_whole_is_refused(document: bytes, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        list(Body(document).elements("item"))
    assert refusal.value.code == code


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "windows-1251", "utf-16"])
def test_xml_is_read_by_the_encoding_that_it_has(encoding: str) -> None:
    word = "Львов" if encoding == "windows-1251" else "Zürich"
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<r xmlns="u:x"><item>{word}</item></r>'
    (item,) = Body(text.encode(encoding)).elements("item")
    # It is emptied after it was given out.
    assert (item.tag, item.text) == ("{u:x}item", None)
    body = Body(text.encode(encoding))
    assert [item.text for item in body.elements("item")] == [word]


JSON = [
    (b'{"a": NaN}', "malformed"),
    (b'{"a": -Infinity}', "malformed"),
    (b'{"a": ' + b"9" * 5_000 + b"}", "malformed"),
    (b"[" * 100_000 + b"]" * 100_000, "tooComplex"),
    (b'{"a":' * 50_000, "tooComplex"),
    (b"[{}, " + b"[" * DEPTH_MAX + b"]" * DEPTH_MAX + b"]", "tooComplex"),
    (b'{"a": [1, 2', "truncated"),
    (b'{"a": "b', "truncated"),
    (b'{"a": "b"', "truncated"),
    (b'{"a": b, "c": 1}', "malformed"),
    (b"a,b\n1,2\n", "malformed"),
    (b'{"a": "\x00"}', "malformed"),
]


def test_json_may_have_as_many_levels_as_the_cap() -> None:
    assert Body(b'[{"a": ' + b"[" * (DEPTH_MAX - 2) + b"]" * (DEPTH_MAX - 2) + b"}]").json


@pytest.mark.parametrize(("document", "code"), JSON)
def test_json_that_is_hostile_or_not_whole_is_refused(document: bytes, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        Body(document).whole_json()
    assert refusal.value.code == code
    assert Body(document).json is None


ESCAPES = [
    (r'{"a": "\u0000x"}', "\ufffdx"),
    (r'{"a": "\\u0000x"}', r"\u0000x"),
    (r'{"a": "\ud83d\ude00"}', "\U0001f600"),
    (r'{"a": "\uD83D\uDE00"}', "\U0001f600"),
    (r'{"a": "\ud83dz"}', "\ufffdz"),
    (r'{"a": "\ude00\ud83d"}', "\ufffd\ufffd"),
    (r'{"a": "\ud83d\ud83d\ude00\u00e9\n"}', "\ufffd\U0001f600é\n"),
]


@pytest.mark.parametrize(("document", "value"), ESCAPES)
def test_every_text_of_json_can_be_written_as_utf8(document: str, value: str) -> None:
    assert Body(document.encode()).whole_json() == {"a": value}


def test_a_table_is_read_as_its_quotes_say() -> None:
    body = Body(b'id,note\r\n1,"a, ""b""\nc"\r\n\r\n2\r\n')
    assert body.columns() == ["id", "note"]
    assert list(body.table()) == [{"id": "1", "note": 'a, "b"\nc'}, {"id": "2"}]
    assert list(Body(b'1\t"a\n').rows("\t")) == [["1", '"a']]


def test_a_field_without_end_refuses_the_table() -> None:
    with pytest.raises(DocumentRefused, match="malformed"):
        list(Body(b'1,"' + b"x" * 1_100_000).rows())


def test_without_its_library_xml_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "defusedxml.common", None)
    with pytest.raises(MissingExtra, match="defusedxml"):
        list(Body(b"<r/>").elements("item"))


def test_members_are_those_of_an_object() -> None:
    assert Body(b'{"a": 1, "b": null}').has("a", "b")
    assert not Body(b'{"a": 1}').has("a", "b")
    assert not Body(b'["a"]').has("a")

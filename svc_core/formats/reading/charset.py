"""Decodes the bytes of a document whose XML prolog and content type cannot be trusted.

The order: a byte order mark; the shape of UTF-16 without one; UTF-8 when every byte agrees (a
text of another encoding is practically never valid UTF-8, so this beats a lying prolog); then
the declared encoding (header before prolog, RFC 7303, 3), and windows-1252 for the rest.

Only encodings of the list are ever used: a document must not pick `zlib`, `idna` or `utf-7`.
"""

import codecs
import re

from svc_core.formats.model import DocumentRefused

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_UTF16_STARTS = {b"<\0": "utf-16-le", b"{\0": "utf-16-le",
                 b"\0<": "utf-16-be", b"\0{": "utf-16-be"}  # fmt: skip
_SUPERSETS = {
    # As browsers do (WHATWG Encoding): the wider encoding reads what the narrower one meant.
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874",
    "tis-620": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932",
    "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
_ENCODING_NAMES = """
    utf-8 cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 cp866 cp874 cp932
    cp949 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-10
    iso8859-13 iso8859-14 iso8859-15 iso8859-16 koi8-r koi8-u mac-roman mac-cyrillic euc_jp
    gb18030 big5hkscs iso2022_jp hz
"""
_ENCODINGS = frozenset(_ENCODING_NAMES.split())
_SEVEN_BIT = frozenset({"iso2022_jp", "hz"})  # their bytes are valid UTF-8, but mean otherwise
_PROLOG = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_HEADER = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


def decode_text(body: bytes, content_type: str | None) -> str:
    """Decodes `body` to text.

    Raises:
        DocumentRefused: `badEncoding`, when it is UTF-16 or UTF-32 that does not decode, or binary.
    """
    text = _decode_bytes(body, content_type)
    if "\0" in text:
        raise DocumentRefused("badEncoding", "The document holds NUL characters: it is not a text.")
    return text


def _decode_bytes(body: bytes, content_type: str | None) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return _decode_marked(body[len(mark) :], encoding)
    if body[:2] in _UTF16_STARTS:
        return _decode_marked(body, _UTF16_STARTS[body[:2]])
    declaration = _declared_encoding(body, content_type)
    if declaration in _SEVEN_BIT:
        return body.decode(declaration, "replace")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(body, declaration)


def _decode_marked(body: bytes, encoding: str) -> str:
    if encoding == "utf-8":
        return body.decode(encoding, "replace")
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        reason = f"The document begins as {encoding.upper()} but does not decode as such."
        raise DocumentRefused("badEncoding", reason) from None


def _declared_encoding(body: bytes, content_type: str | None) -> str:
    header = _HEADER.search(content_type or "")
    prolog = _PROLOG.match(body)
    labels = (header and header[1], prolog and prolog[1].decode("ascii"))
    return next((encoding for encoding in map(_allowed_encoding, labels) if encoding), "")


def _allowed_encoding(name: str | None) -> str:
    try:
        codec = codecs.lookup(name or "").name
    except LookupError:
        return ""
    codec = _SUPERSETS.get(codec, codec)
    return codec if codec in _ENCODINGS else ""


def _decode_legacy(body: bytes, declaration: str) -> str:
    if declaration not in {"", "utf-8"}:
        return body.decode(declaration, "replace")
    text = body.decode("utf-8", "replace")
    if text.count("\ufffd") <= len(_MULTIBYTE.findall(body)):
        return text  # UTF-8 with a few broken characters
    return body.decode("cp1252", "replace")

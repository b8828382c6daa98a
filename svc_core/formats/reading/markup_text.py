"""Extracts plain text from feed markup in linear time, without building a tree.

Feeds are published by strangers, and a tree is a weapon in their hands: misnested formatting
elements make an HTML5 tree grow with the square of its source. The text is never rendered as
HTML again, so tags are cut by expressions that read each character once: every alternative
either matches to the end of its construct or to the end of the text, so none starts over.

Rule 1: tags go first, entities are decoded after, so `&lt;b&gt;` in a text stays readable.
Rule 2: a line is a paragraph: a block element, or in plain text a blank line, ends it; white
        space and the line ends of a wrapped source are one space, an inline element is nothing.
Rule 3: no control character and no lone surrogate leaves this module.
"""

import re

from svc_core.base.characters import HTML_ELEMENTS, decode_references

_INVISIBLE = re.compile(
    r"<(script|style|template|iframe|svg|head|noembed|noframes)(?=[\s/>]).*?(?:</\1\s*>|\Z)"
    # A caption says what is to be seen in a picture, and is no part of the text round it.
    r"|<figcaption(?=[\s/>]).*?(?:</fig(?:caption|ure)\s*>|\Z)"
    r"|<(p|div|dd|span)\s[^<>]*?class=[\"'](?:[^\"'<>]*[\s-])?caption(?:-text)?[\"'\s]"
    r".*?(?:</\2\s*>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT = re.compile(r"<!--.*?(?:--!?>|\Z)|<[!?][^<>]*>|</[^A-Za-z<>][^<>]*>", re.DOTALL)
# As in HTML, only a quote right after "=" protects a ">", and a tag cut off at the end of the
# text (teasers cut at n characters) is still a tag.
_REST_OF_TAG = r"(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+>?"
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|blockquote|br|center|dd|details|div|dl|dt|fieldset|figcaption|"
    r"figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|summary|table|tbody|td|"
    r"tfoot|th|thead|tr|ul)(?=[\s/>]|\Z)" + _REST_OF_TAG,
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z]" + _REST_OF_TAG)
_LOOKS_LIKE_HTML = re.compile(
    rf"</(?:{HTML_ELEMENTS})\s*>|<(?:br|hr|img)(?=[\s/>])[^<>]*>", re.IGNORECASE
)
_MARKDOWN = re.compile(
    r"(?=[\\`<!\[*_#])(?:"  # most characters are of none of what follows
    r"\\(?P<escape>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`++)(?:(?P<code>.{1,500}?)(?<!`)(?P=ticks)(?!`))?"  # a run is tried once
    r"|<code>(?P<html>.{0,500}?)</code>"
    r"|<(?P<address>[a-z][a-z+.-]{1,31}:[^\s<>]{1,2000})>"
    rf"|</?(?:{HTML_ELEMENTS})(?:\s[^<>]{{0,2000}})?/?>|<!--.{{0,500}}?-->"
    r"|!?\[(?P<label>(?:[^\[\]\\]|\\.|\[[^\[\]]{0,200}\]){0,1000})\]"
    r"\([^()\s]{0,2000}(?:\([^()\s]{0,200}\)[^()\s]{0,2000})?(?:\s+\"[^\"]{0,500}\")?\)"
    r"|(?<![\w*])(?P<mark>\*{1,3}|(?<!_)_{1,3})(?=[^\s*_])"
    r"(?P<stress>(?:[^\\*_`]|\\.|(?<=\w)_(?=\w)){1,1000}?)(?<!\s)(?P=mark)(?![\w*_])"
    r"|^#{1,6}[ \t]+)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
"""What CommonMark 0.31 calls inlines, and headings; emphasis in emphasis stays as it is."""
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u2060\ufeff\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]+")
_CP1252 = {
    ord(char): code
    for code in range(0x80, 0xA0)
    if (char := bytes((code,)).decode("cp1252", "ignore"))
}
_FOLLOWERS = "\xa8\xa9\xaa\xae\xb0\xb2-\xb4\xb7\xb9-\xbb…†‡‰’”•™›"
"""What may stand right behind a letter: ends of quotations, marks, references to notes."""
_JOINERS = "\xa0‘“–—"  # and what may, and have a word behind it
_ODD = "[\x80-\x9f\xa1-\xa7\xab-\xad\xaf\xb1\xb5\xb6\xb8\xbc-\xbf€‚ƒ„ˆŠ‹ŒŽ˜šœžŸ]"
_TRAIL = f"(?:{_ODD}|[{_FOLLOWERS}{_JOINERS}])"
_TWICE = re.compile(
    f"[\xc2-\xf4](?:{_TRAIL}{{0,2}}{_ODD}|(?<=[\xc2-\xde])[{_FOLLOWERS}](?<!’)(?=[a-z])|"
    f"(?:(?<![^\\W\\d].)(?<=[ÂÃ])|(?<=[a-z][\xc2-\xde])|(?<=[{_FOLLOWERS}].)){_TRAIL})",
    re.DOTALL,
)
"""A letter of Windows-1252 and what no writing has behind it there: UTF-8 that was read as that."""
_KEPT_SHARE_MIN = 0.8  # of a clipped text: rather split a word than lose a fifth


def _clean(text: str) -> str:
    """`text` without control characters, soft hyphens, joiners, surrogates and noncharacters."""
    return _UNPRINTABLE.sub("", text)


def fold_space(text: str) -> str:
    """`text` on one line: whitespace folded, control characters and soft hyphens gone."""
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(_clean(line).split())


def fold_lines(text: str) -> str:
    """`text` with whitespace folded inside each line and empty lines gone."""
    return "\n".join(line for line in map(fold_space, text.splitlines()) if line)


def plain_text(markup: str) -> str:
    """The text of HTML `markup`: tags cut, then entities decoded; block elements end a line."""
    return decode_references(_strip_tags(markup) if "<" in markup else unwrap_lines(markup))


def markdown_text(source: str) -> str:
    """The text of CommonMark: words of links, code as it stands, escapes as their characters."""
    parts: list[str] = []
    end = 0
    for match in _MARKDOWN.finditer(source):
        parts += (decode_references(source[end : match.start()]), _meaning(match))
        end = match.end()
    return "".join((*parts, decode_references(source[end:])))


def _meaning(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind is None:  # a tag, a comment, or the sign of a heading
        return _strip_tags(match[0]).lstrip("#")
    if kind == "html":  # what stands in a `code` element is meant to be read, also `<pid>`
        return decode_references(match[kind])
    return markdown_text(match[kind]) if kind in {"label", "stress"} else match[kind]


def literal(text: str) -> str:
    """A title or a name of RSS, which may be in HTML: no specification says what it is.

    A lone `<b>` is taken for text, a closing tag or a line break for markup, and an entity always
    for its character: a title about entities loses by it, far fewer than gain.
    """
    is_html = "<" in text and _LOOKS_LIKE_HTML.search(text) is not None
    return decode_references(_strip_tags(text) if is_html else unwrap_lines(text))


def repair_encoding(text: str) -> str:
    """Repairs text that was encoded as UTF-8 twice ("cafÃ©" for "café"), where that is certain.

    It is certain where all of it is UTF-8 read as Windows-1252 or Latin-1, and some of it nothing
    else: "NESTLÉ®" may be written so, and has the bytes of a letter.
    """
    if text.isascii() or _TWICE.search(text) is None:
        return text
    try:
        return text.translate(_CP1252).encode("latin-1").decode()
    except UnicodeError:
        return text


def clip(text: str, chars_max: int) -> str:
    """`text`, or its beginning with an ellipsis, in at most `chars_max` characters.

    The cut falls between words where there are any near the end.
    """
    if len(text) <= chars_max:
        return text
    head = text[: chars_max - 1]
    words = head[: max(head.rfind(" "), head.rfind("\n"), 0)]
    beginning = words if len(words) >= _KEPT_SHARE_MIN * len(head) else head
    return f"{beginning.rstrip()}…"


def unwrap_lines(text: str) -> str:
    """Plain text with each paragraph on one line."""
    if "\n" not in text:
        return text
    return "".join(f"{line} " if line.strip() else "\n" for line in text.splitlines())


def _strip_tags(markup: str) -> str:
    visible = _COMMENT.sub("", _INVISIBLE.sub(" ", _LINE_ENDS.sub(" ", markup)))
    return _TAG.sub("", _BLOCK_TAG.sub("\n", visible))

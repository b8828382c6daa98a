"""Turns HTML and Markdown into plain paragraphs: no tag, no mark, no address of a link.

Every expression reads each character a bounded number of times: a repetition either ends at a
character that cannot start it anew, or is possessive.
"""

import re

from svc_core.base.characters import decode_references

# -- HTML --------------------------------------------------------------------------------------

_REST = r"(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+>"  # of a tag: its attributes and end
_SILENT = re.compile(
    r"<(script|style|template|iframe|svg|head|noscript|pre|audio|video|object)(?=[\s/>])"
    r"(?:(?!</\1).)*+(</\1\s*+>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT = re.compile(r"<!--(?:(?!-->).)*+(?:-->|\Z)|<[!?][^<>]*+>", re.DOTALL)
_POWER = re.compile(r"(?<=m)<sup>([23])</sup>", re.IGNORECASE)
_NOTE = re.compile(
    r"(?<![0-9])<sup(?=[\s>])[^<>]*+>(?:\s*+<a\s[^<>]*+>)?\s*+[0-9]{1,3}\s*+(?:</a>)?\s*+</sup>",
    re.IGNORECASE,
)
_CELL = re.compile(r"</t[dh]\s*+>\s*+(?=<t[dh][\s>])", re.IGNORECASE)
_BLOCK = re.compile(
    r"</?(?:address|article|aside|blockquote|br|caption|dd|details|div|dl|dt|figcaption|figure|"
    r"footer|form|h[1-6]|header|hr|li|main|nav|ol|p|section|summary|table|tbody|tfoot|thead|tr|ul)"
    r"(?=[\s/>])" + _REST,
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z]" + _REST)

# -- Markdown ----------------------------------------------------------------------------------

_BLOCKS = tuple(
    (re.compile(expression, re.MULTILINE | re.DOTALL), replacement)
    for expression, replacement in (
        (r"^ {0,3}(`{3}|~{3})(?:(?!^ {0,3}\1).)*+^ {0,3}\1[^\n]*", "\n\n"),  # code
        (r"^(?:[ \t]*+>(?![0-9]))++", ""),  # a quotation
        (r"^[ \t]*+(?:[-*_=][ \t]*+){2,}+$", "\n\n"),  # a rule
        (r"^ {0,3}\[[^\[\]\n]{1,100}\]:[ \t]*+<?(?:https?:|www\.|mailto:|/|#)\S*+", "\n\n"),
        (
            r"^[ \t]*+\|?[ \t]*+:?+-++:?+[ \t]*+(?:\|[ \t]*+:?+-*+:?+[ \t]*+)++$",
            "",
        ),  # below a header
        (r"^([^|\n]*+\|[^\n]*+)$", r"\n\n\1\n\n"),  # a row
        (r"^[ \t]*+#{1,6}(?:[ \t]++([^\n]*+))?$", r"\n\n\1\n\n"),  # a heading
        (r"^[ \t]*+(?:[-*+•‣◦](?:[ \t]++|$)(?:\[[ xX]\][ \t]++)?)++", "\n\n"),  # an item
        (r"^[ \t]*+([0-9]{1,3})[.)][ \t]++", r"\n\n\1, "),  # a counted one
    )
)
_PARAGRAPH_BREAK = re.compile(r"\n[ \t\f]*+\n\s*+")
_LINK = re.compile(
    r"!?\[([^\[\]]*+)\]\((?:\s*+<[^<>\n]*+>)?(?:[^()\n]|\([^()\n]*+\))*+\)"
    r"|!?\[([^\[\]]++)\]\[[^\[\]]*+\]"
)
_CITATION = re.compile(
    r"\s?(?:\[(?:\^?[0-9]{1,4}(?:\s?[,;–-]\s?[0-9]{1,4}){0,20}|\^[^\[\]\s]{1,40}"
    r"|citation needed|source\?|note [0-9]{1,3}|sic|…|\.\.\.)\]|【[^【】]{0,40}】)",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\^?[0-9]{1,4}(?:\s?[,;–-]\s?[0-9]{1,4}){0,20}\Z")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = re.compile(r"\*{2,}|(?<![0-9\s])\*|\*(?![0-9\s])|(?<!\w)_+|_+(?!\w)|`+|~~+")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

_BLANK = re.compile(r"[ \t\n\f]+")


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text in HTML, Markdown or neither, each on one line without marks.

    Headings, list items and table rows are paragraphs of their own; blocks of code are left out.
    """
    text = _LINE_ENDS.sub("\n", _without_tags(text))
    for expression, replacement in _BLOCKS:
        text = expression.sub(replacement, text)
    return [words for words in map(_inline, _PARAGRAPH_BREAK.split(text)) if words]


def _without_tags(text: str) -> str:
    """The text without tags; tags that were written as character references are cut as well."""
    if "<" in text:
        text = _cut(text)
    text = decode_references(text)
    return _cut(text) if "<" in text else text


def _cut(text: str) -> str:
    text = _COMMENT.sub("", _SILENT.sub(_silence, text))
    text = _NOTE.sub("", _POWER.sub(lambda match: "²³"[int(match[1]) - 2], text))
    return _TAG.sub("", _BLOCK.sub("\n\n", _CELL.sub(" | ", text)))


def _silence(match: re.Match[str]) -> str:
    """Replace a silent element by a space; one that never ends is left, to be cut as a tag."""
    return " " if match[2] else match[0]


def _inline(words: str) -> str:
    """One paragraph without the marks inside a line, citations and addresses of links."""
    words = _LINK.sub(_link_text, words)  # twice: an image may stand in a link
    words = _CITATION.sub("", _LINK.sub(_link_text, words)).replace("|", ", ")
    return _BLANK.sub(" ", _MARKS.sub("", _ESCAPE.sub(r"\1", words))).strip()


def _link_text(match: re.Match[str]) -> str:
    text = match[1] if match[1] is not None else match[2]
    return "" if _NUMBERS.match(text.strip()) else text

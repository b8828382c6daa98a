"""HTML and Markdown become plain paragraphs: no tag, no mark, no address of a link.

Every expression reads each character a bounded number of times: a repetition either ends at a
character that cannot start it anew, or is possessive.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from svc_core.characters import decoded

# -- HTML --------------------------------------------------------------------------------------

_REST = r"(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+>"  # of a tag: its attributes and end
_SILENT = re.compile(
    r"<(script|style|template|iframe|svg|head|noscript|pre|audio|video|object)(?=[\s/>])"
    r"(?:(?!</\1).)*+(</\1\s*+>|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT = re.compile(r"<!--(?:(?!-->).)*+(?:-->|\Z)|<[!?][^<>]*+>", re.DOTALL)
_SQUARED = re.compile(r"(?<=m)<sup>([23])</sup>", re.IGNORECASE)
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

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"\s*+(?:(?:\*\s*+){3,}+|(?:-\s*+){3,}+|(?:_\s*+){3,}+|(?:=\s*+){2,}+)\Z")
_DEFINITION = re.compile(r"\s{0,3}\[[^\[\]]{1,100}\]:\s*+<?(?:https?:|www\.|mailto:|/|#)\S*+")
_LEAD = re.compile(
    r"\s*+(?:>(?![0-9])\s*+|#{1,6}(?:\s++|\Z)|[-*+•‣◦](?:\s++|\Z)(?:\[[ xX]\]\s++)?)*+"
)
_COUNTED = re.compile(r"\s*+([0-9]{1,3})[.)]\s++")
_TABLE_RULE = re.compile(r"\s*+\|?\s*+:?-{1,}+:?\s*+(?:\|\s*+:?-*+:?\s*+)+\Z")
_HEADING_END = re.compile(r"\s#++\s*\Z")

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

_FENCE_LENGTH = slice(0, 3)  # what a closing fence has in common with its opening one


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text in HTML, Markdown or neither, each on one line without marks.

    Headings, list items and table rows are paragraphs of their own; blocks of code are left out.
    """
    lines = _without_code(_LINE_ENDS.sub("\n", _without_tags(text)).split("\n"))
    return [words for words in map(_inline, _joined(lines)) if words]


def _without_tags(text: str) -> str:
    """The text without tags; what was escaped to look like none is cut as well."""
    if "<" in text:
        text = _cut(text)
    text = decoded(text)
    return _cut(text) if "<" in text else text


def _cut(text: str) -> str:
    text = _COMMENT.sub("", _SILENT.sub(_silenced, text))
    text = _NOTE.sub("", _SQUARED.sub(lambda found: "²³"[int(found[1]) - 2], text))
    return _TAG.sub("", _BLOCK.sub("\n\n", _CELL.sub(" | ", text)))


def _silenced(found: re.Match[str]) -> str:
    """Nothing; but of an element that never ends only the tag is markup, and is cut as one."""
    return " " if found[2] else found[0]


def _without_code(lines: list[str]) -> list[str]:
    """The lines outside fenced blocks; a fence that is never closed is none."""
    last = {mark: at for at, line in enumerate(lines) if (mark := _fence(line))}
    kept, open_mark = [], ""
    for at, line in enumerate(lines):
        mark = _fence(line)
        if open_mark:
            open_mark = "" if mark == open_mark else open_mark
        elif mark and last[mark] > at:
            open_mark = mark
            kept.append("")
        else:
            kept.append(line)
    return kept


def _fence(line: str) -> str:
    found = _FENCE.match(line)
    return found[1][_FENCE_LENGTH] if found else ""


def _joined(lines: list[str]) -> Iterator[str]:
    """Paragraphs: wrapped lines joined; headings, items and rows alone."""
    run: list[str] = []
    header: list[str] | None = None
    for line, following in pairwise([*lines, ""]):
        if "|" in line and _TABLE_RULE.match(following):
            header = _cells(line)
        elif header is not None and "|" in line:
            if not _TABLE_RULE.match(line):
                yield _row(header, _cells(line))
        else:
            header = None
            words, starts, ends = _opened(line)
            if starts:
                yield " ".join(run)
                run = []
            run.append(words)
            if not ends:
                continue
        yield " ".join(run)
        run = []
    yield " ".join(run)


def _opened(line: str) -> tuple[str, bool, bool]:
    """A line without what opens its block; whether it starts a paragraph, whether it ends one."""
    if _RULE.match(line) or _DEFINITION.match(line):
        return "", True, True
    lead = _LEAD.match(line)
    mark = lead[0] if lead else ""
    rest = line[len(mark) :]
    if "#" in mark:
        return _HEADING_END.sub("", rest), True, True
    counted = _COUNTED.match(rest)
    if counted:
        rest = f"{counted[1]}, {rest[counted.end() :]}"
    if "|" in rest:
        return _row([], _cells(rest)), True, True
    starts = bool(counted or mark.strip(" \t>"))
    return rest, starts, not rest.strip()


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _row(header: list[str], cells: list[str]) -> str:
    names = [*header, *[""] * len(cells)]
    told = zip(names, cells, strict=False)
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in told if cell)


def _inline(words: str) -> str:
    """One paragraph without the marks inside a line, citations and addresses of links."""
    words = _LINK.sub(_link_text, words)  # twice: an image may stand in a link
    words = _CITATION.sub("", _LINK.sub(_link_text, words))
    return _BLANK.sub(" ", _MARKS.sub("", _ESCAPE.sub(r"\1", words))).strip()


def _link_text(found: re.Match[str]) -> str:
    text = found[1] if found[1] is not None else found[2]
    return "" if _NUMBERS.match(text.strip()) else text

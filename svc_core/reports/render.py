"""A report's words as Markdown, HTML and plain text.

Rule 1: every representation says the same sentences; all but the plain text cite.
Rule 2: nothing of a source can become markup: Markdown and HTML are escaped here and only here.
        Plain text and the agent's view have no escape, so they lose what is HTML.
Rule 3: links are http(s); anything else is shown as text.
"""

import html
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from svc_core.resources.report import ReportSource, ReportWords, Statement

WORDS_PER_MINUTE = 238  # silent reading of English prose, the mean of published studies
_INLINE = re.compile(r"[\\`*_\[\]<~]|&(?=[A-Za-z#])")  # "~" strikes out in other dialects
_BLOCK = re.compile(r"^(?:[#+>=-]|\d{1,9}[.)])")
_CLOSING = re.compile(r"(?<=\s)#(?=#*$)")  # CommonMark 4.2: "#"s at the end close a heading
_UNPARTED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_HTML = re.compile(  # a statement has 600 characters, so no script in one is longer
    r"<(script|style)\b[^<>]*+>.{0,600}?</\1\s*+>"
    r"|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*+>|<[!?][^<>]*+>",
    re.DOTALL | re.IGNORECASE,
)
_NOT_IN_URL = re.compile(r"[\s\\<>\x00-\x1f\x7f]|&(?=#?\w+;)")


def markdown(title: str, words: ReportWords) -> str:
    """CommonMark; citations are links to the numbered source list."""
    blocks = [f"# {_md_heading(title)}", _md_run(words.opening)]
    for heading, told, is_list in _parts(words):
        items = "\n".join(f"- {_md_statement(one)}" for one in told)
        blocks += [f"## {_md_heading(heading)}", items if is_list else _md_run(told)]
    if words.sources:
        blocks += ["## Sources", "\n".join(map(_md_source, words.sources))]
    return "\n\n".join(blocks) + "\n"


def page(title: str, words: ReportWords) -> str:
    """An HTML fragment: headings, paragraphs, lists and links, nothing that runs."""
    blocks = [f"<h1>{_h(title)}</h1>", f"<p>{_h_run(words.opening)}</p>"]
    for heading, told, is_list in _parts(words):
        items = "".join(f"<li>{_h_statement(one)}</li>" for one in told)
        body = f"<ul>{items}</ul>" if is_list else f"<p>{_h_run(told)}</p>"
        blocks += [f"<h2>{_h(heading)}</h2>", body]
    if words.sources:
        blocks += ["<h2>Sources</h2>", f"<ol>{''.join(map(_h_source, words.sources))}</ol>"]
    return "\n".join(blocks)


def text(title: str, words: ReportWords) -> str:
    """Plain text without HTML or citations (Spec: text facet)."""
    blocks = [bare(title), _plain(words.opening)]
    blocks += [bare(point.text) for point in words.key_points]
    for section in words.sections:
        blocks += [bare(section.heading), _plain(section.statements)]
    blocks += [bare(brief.text) for brief in words.briefs]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _parts(words: ReportWords) -> Iterator[tuple[str, Sequence[Statement], bool]]:
    """What stands between the opening and the sources: heading, statements, whether a list."""
    if words.key_points:
        yield "Key points", words.key_points, True
    for section in words.sections:
        yield section.heading, section.statements, False
    if words.briefs:
        yield "In brief", words.briefs, True


def bare(words: str) -> str:
    """Words on one line without what is HTML in them, for forms that promise to have none."""
    return _folded(_HTML.sub(" ", words))


def word_count(words: str) -> int:
    """How many words a text has; where a script separates none, two characters count as one."""
    unparted = len(_UNPARTED.findall(words))
    return len(_UNPARTED.sub(" ", words).split()) + -(-unparted // 2)


def reading_seconds(words: str) -> int:
    """How long reading takes, in whole seconds, rounded up."""
    return -(-word_count(words) * 60 // WORDS_PER_MINUTE)


def is_web(url: str | None) -> bool:
    """Whether a source's address may be a link."""
    return url is not None and url.startswith(("https://", "http://"))


# -- Markdown ----------------------------------------------------------------------------------


def _md(words: str) -> str:
    """The words as Markdown that reads as them: what could open a span or a block is escaped."""
    escaped = _INLINE.sub(r"\\\g<0>", _folded(words))
    opening = _BLOCK.match(escaped)
    if opening is None:
        return escaped
    at = opening.end() - 1
    return f"{escaped[:at]}\\{escaped[at:]}"


def _md_heading(words: str) -> str:
    return _CLOSING.sub(r"\\#", _md(words))


def _md_statement(statement: Statement) -> str:
    return _md(statement.text) + "".join(f" [{n}](#source-{n})" for n in statement.citations)


def _md_run(statements: Sequence[Statement]) -> str:
    return " ".join(_md_statement(statement) for statement in statements)


def _md_source(source: ReportSource) -> str:
    title = _md(source.title)
    if is_web(source.url):
        title = f"[{title}](<{_md_url(str(source.url))}>)"
    anchor = f'<a id="source-{source.number}"></a>'
    return f"{source.number}. {anchor}{title}, {_md(source.name)}, {_day(source)}"


def _md_url(url: str) -> str:
    """The address as the target of a link: none of it ends the target or is an entity."""
    return _NOT_IN_URL.sub(lambda found: "&amp;" if found[0] == "&" else quote(found[0]), url)


# -- HTML --------------------------------------------------------------------------------------


def _h(words: str) -> str:
    return html.escape(_folded(words))


def _h_statement(statement: Statement) -> str:
    marks = "".join(f'<a href="#source-{n}">[{n}]</a>' for n in statement.citations)
    return f"{_h(statement.text)} <sup>{marks}</sup>" if marks else _h(statement.text)


def _h_run(statements: Sequence[Statement]) -> str:
    return " ".join(_h_statement(statement) for statement in statements)


def _h_source(source: ReportSource) -> str:
    title = _h(source.title)
    if is_web(source.url):
        title = f'<a href="{html.escape(str(source.url))}" rel="noopener nofollow">{title}</a>'
    return f'<li id="source-{source.number}">{title}, {_h(source.name)}, {_day(source)}</li>'


# -- shared ------------------------------------------------------------------------------------


def _plain(statements: Sequence[Statement]) -> str:
    return " ".join(filter(None, (bare(statement.text) for statement in statements)))


def _day(source: ReportSource) -> str:
    return "no date" if source.published_at is None else source.published_at.date().isoformat()


def _folded(words: str) -> str:
    return " ".join(words.split())

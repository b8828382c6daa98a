"""A report's words as Markdown, HTML and plain text.

Rule 1: every representation says the same sentences; all but the plain text cite.
Rule 2: nothing of a source can become markup: Markdown and HTML are escaped here and only here.
        Plain text and the agent's view have no escape, so they lose what is HTML.
Rule 3: links are http(s); anything else is shown as text.
"""

import html
import re
from collections.abc import Sequence
from urllib.parse import quote

from attrs import frozen

from svc_core.resources.report import ReportSource, Section, Statement

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


@frozen
class Story:
    """What is rendered: the whole of a report in words."""

    title: str
    opening: tuple[Statement, ...]
    key_points: tuple[Statement, ...]
    sections: tuple[Section, ...]
    briefs: tuple[Statement, ...]
    sources: tuple[ReportSource, ...]


def markdown(story: Story) -> str:
    """CommonMark; citations are links to the numbered source list."""
    blocks = [f"# {_md_heading(story.title)}", _md_run(story.opening)]
    if story.key_points:
        points = "\n".join(f"- {_md_statement(point)}" for point in story.key_points)
        blocks += ["## Key points", points]
    for section in story.sections:
        blocks += [f"## {_md_heading(section.heading)}", _md_run(section.statements)]
    if story.briefs:
        briefs = "\n".join(f"- {_md_statement(brief)}" for brief in story.briefs)
        blocks += ["## In brief", briefs]
    if story.sources:
        blocks += ["## Sources", "\n".join(_md_source(source) for source in story.sources)]
    return "\n\n".join(blocks) + "\n"


def page(story: Story) -> str:
    """An HTML fragment: headings, paragraphs, lists and links, nothing that runs."""
    blocks = [f"<h1>{_h(story.title)}</h1>", f"<p>{_h_run(story.opening)}</p>"]
    if story.key_points:
        points = "".join(f"<li>{_h_statement(point)}</li>" for point in story.key_points)
        blocks += ["<h2>Key points</h2>", f"<ul>{points}</ul>"]
    for section in story.sections:
        blocks += [f"<h2>{_h(section.heading)}</h2>", f"<p>{_h_run(section.statements)}</p>"]
    if story.briefs:
        briefs = "".join(f"<li>{_h_statement(brief)}</li>" for brief in story.briefs)
        blocks += ["<h2>In brief</h2>", f"<ul>{briefs}</ul>"]
    if story.sources:
        rows = "".join(_h_source(source) for source in story.sources)
        blocks += ["<h2>Sources</h2>", f"<ol>{rows}</ol>"]
    return "\n".join(blocks)


def text(story: Story) -> str:
    """Plain text without HTML or citations (Spec: text facet)."""
    blocks = [bare(story.title), _plain(story.opening)]
    blocks += [bare(point.text) for point in story.key_points]
    for section in story.sections:
        blocks += [bare(section.heading), _plain(section.statements)]
    blocks += [bare(brief.text) for brief in story.briefs]
    return "\n\n".join(block for block in blocks if block) + "\n"


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
    if _is_web(source.url):
        title = f"[{title}](<{_md_url(str(source.url))}>)"
    return f'{source.number}. <a id="source-{source.number}"></a>{title}, {_md_by(source)}'


def _md_by(source: ReportSource) -> str:
    day = "no date" if source.published_at is None else source.published_at.date().isoformat()
    return f"{_md(source.name)}, {day}"


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
    if _is_web(source.url):
        title = f'<a href="{html.escape(str(source.url))}" rel="noopener nofollow">{title}</a>'
    day = "no date" if source.published_at is None else source.published_at.date().isoformat()
    return f'<li id="source-{source.number}">{title}, {_h(source.name)}, {day}</li>'


# -- shared ------------------------------------------------------------------------------------


def _plain(statements: Sequence[Statement]) -> str:
    return " ".join(filter(None, (bare(statement.text) for statement in statements)))


def _folded(words: str) -> str:
    return " ".join(words.split())


def _is_web(url: str | None) -> bool:
    return url is not None and url.startswith(("https://", "http://"))

"""Renders a report's text as Markdown, HTML and plain text.

Rule 1: every representation has the same sentences; all but the plain text cite.
Rule 2: nothing of a source can become markup: Markdown and HTML are escaped here and only here.
        Plain text and the agent's view have no escape, so they lose what is HTML.
Rule 3: links are http(s); anything else is shown as text.
Rule 4: Markdown is CommonMark without HTML. A citation is a link whose text is a number; the link
        to a source that also reported a story has a name in its text.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from attrs import evolve, frozen

from svc_core.reports.model import ReportSource, ReportWords, Section, Statement, numbers_of
from svc_core.text.wording import Wording, frame

WORDS_PER_MINUTE = 238  # silent reading of English prose, the mean of published studies
_INLINE = re.compile(r"[\\`*_\[\]<~]|&(?=[A-Za-z#])")  # "~" strikes out in other dialects
_BLOCK = re.compile(r"^(?:[#+>=-]|\d{1,9}[.)])")
_CLOSING = re.compile(r"(?<=\s)#(?=#*$)")  # CommonMark 4.2: "#"s at the end close a heading
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_HTML = re.compile(  # a statement has 600 characters, so no script in one is longer
    r"<(script|style)\b[^<>]*+>.{0,600}?</\1\s*+>"
    r"|<!--.*?(?:-->|\Z)|</?[A-Za-z][^<>]*+>|<[!?][^<>]*+>",
    re.DOTALL | re.IGNORECASE,
)
_Sources = Mapping[int, ReportSource]
_NOT_IN_URL = re.compile(r"[\s\\<>\x00-\x1f\x7f]|&(?=#?\w+;)")


def markdown(title: str, words: ReportWords) -> str:
    """CommonMark; citations are links to the sources, which are listed by number at the end."""
    own, sources = frame(words.language), {source.number: source for source in words.sources}
    blocks = [f"# {_md_heading(title)}", *_md_passage(words.opening, sources, own)]
    blocks += map(_md, words.notes)
    for part in _parts(words, own):
        blocks.append(f"## {_md_heading(part.heading)}")
        if part.is_list:
            items = ("\n  ".join(_md_passage((line,), sources, own)) for line in part.statements)
            blocks.append("\n".join(f"- {item}" for item in items))
        else:
            blocks += _md_passage(part.statements, sources, own)
    if words.sources:
        lines = "\n".join(_md_source(source, own) for source in words.sources)
        blocks += [f"## {own['sources']}", lines]
    return "\n\n".join(blocks) + "\n"


def html_fragment(title: str, words: ReportWords) -> str:
    """An HTML fragment: headings, paragraphs, lists and links, without scripts."""
    own, sources = frame(words.language), {source.number: source for source in words.sources}
    blocks = [f"<h1>{_h(title)}</h1>", *_h_passage(words.opening, sources, own)]
    blocks += (f"<p>{_h(note)}</p>" for note in words.notes)
    for part in _parts(words, own):
        blocks.append(f"<h2>{_h(part.heading)}</h2>")
        if part.is_list:
            items = ("<br>".join(_h_lines((line,), sources, own)) for line in part.statements)
            blocks.append(f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>")
        else:
            blocks += _h_passage(part.statements, sources, own)
    if words.sources:
        lines = "".join(_h_source(source, own) for source in words.sources)
        blocks += [f"<h2>{own['sources']}</h2>", f"<ol>{lines}</ol>"]
    return "\n".join(blocks)


def report_text(title: str, words: ReportWords) -> str:
    """Plain text without HTML or citations (Spec: text facet)."""
    blocks = [bare(title), _plain(words.opening), *map(bare, words.notes)]
    blocks += [bare(point.text) for point in words.key_points]
    for section in words.sections:
        blocks += [bare(section.heading), _plain(section.statements)]
    blocks += [bare(brief.text) for brief in words.briefs]
    return "\n\n".join(block for block in blocks if block) + "\n"


@frozen
class _Part:
    """One heading with its sentences, the last of which names further sources of the story."""

    heading: str
    statements: Sequence[Statement]
    is_list: bool = False


def _parts(words: ReportWords, own: Wording) -> Iterator[_Part]:
    if words.key_points:
        yield _Part(own["key_points"], words.key_points, is_list=True)
    for section in words.sections:
        yield _Part(section.heading, whole_passage(section))
    if words.briefs:
        yield _Part(own["briefs"], words.briefs, is_list=True)


def whole_passage(section: Section) -> tuple[Statement, ...]:
    """The sentences of a section, the last of which names the sources that none of them names."""
    named = {number for line in section.statements for number in numbers_of(line)}
    rest = tuple(number for number in section.citations if number not in named)
    return (
        *section.statements[:-1],
        *(evolve(o, same_event=(*o.same_event, *rest)) for o in section.statements[-1:]),
    )


def bare(words: str) -> str:
    """Text on one line without HTML, for forms that promise to have none."""
    return _one_line(_HTML.sub(" ", words))


def word_count(words: str) -> int:
    """The words of a text; in scripts without spaces, two characters count as one."""
    count = len(_NO_SPACES.findall(words))
    return len(_NO_SPACES.sub(" ", words).split()) + -(-count // 2)


def reading_seconds(words: str) -> int:
    """The reading time of a text in whole seconds, rounded up."""
    return -(-word_count(words) * 60 // WORDS_PER_MINUTE)


def is_web_link(url: str | None) -> bool:
    """Whether a source's address may be a link."""
    return url is not None and url.startswith(("https://", "http://"))


# -- Markdown ----------------------------------------------------------------------------------


def _md(words: str) -> str:
    """Text escaped for Markdown: nothing in it can open a span or a block."""
    safe = _INLINE.sub(r"\\\g<0>", _one_line(words))
    opening = _BLOCK.match(safe)
    if opening is None:
        return safe
    at = opening.end() - 1
    return f"{safe[:at]}\\{safe[at:]}"


def _md_heading(words: str) -> str:
    return _CLOSING.sub(r"\\#", _md(words))


def _md_passage(statements: Sequence[Statement], sources: _Sources, own: Wording) -> list[str]:
    """The sentences in one paragraph, and a line for each kind of further sources."""
    sentences = " ".join(
        " ".join([_md(statement.text), *(_md_mark(sources[n]) for n in statement.citations)])
        for statement in statements
    )
    names = (
        f"{own[name]}: {', '.join(_md_also(sources[n]) for n in numbers)}"
        for name, numbers in _further(statements)
    )
    return [sentences, *names]


def _md_mark(source: ReportSource) -> str:
    """The number as a link; in brackets alone where the source has no address."""
    return _md_link(f"{source.number}", source, f"[{source.number}]")


def _md_also(source: ReportSource) -> str:
    return _md_link(f"{_md(source.name)} ({source.number})", source)


def _md_source(source: ReportSource, own: Wording) -> str:
    title = _md_link(_md(source.title), source)
    return f"{source.number}. {title}, {_md(source.name)}, {own.day(source.published_at)}"


def _md_link(words: str, source: ReportSource, bare_words: str | None = None) -> str:
    """The words as a link; where the source has no address, these words or others."""
    is_link = is_web_link(source.url)
    return f"[{words}](<{_md_url(str(source.url))}>)" if is_link else bare_words or words


def _md_url(url: str) -> str:
    """An address as a link target: nothing in it ends the target or is an entity."""
    return _NOT_IN_URL.sub(lambda match: "&amp;" if match[0] == "&" else quote(match[0]), url)


# -- HTML --------------------------------------------------------------------------------------


def _h(words: str) -> str:
    return html.escape(_one_line(words))


def _h_passage(statements: Sequence[Statement], sources: _Sources, own: Wording) -> list[str]:
    return [f"<p>{line}</p>" for line in _h_lines(statements, sources, own)]


def _h_lines(statements: Sequence[Statement], sources: _Sources, own: Wording) -> list[str]:
    """The sentences in one line, and a line for each kind of further sources."""
    lines = [" ".join(map(_h_statement, statements))]
    for name, numbers in _further(statements):
        links = (f'<a href="#source-{n}">{_h(sources[n].name)} ({n})</a>' for n in numbers)
        lines.append(f"{_h(own[name])}: {', '.join(links)}")
    return lines


def _h_statement(statement: Statement) -> str:
    marks = "".join(f'<a href="#source-{n}">[{n}]</a>' for n in statement.citations)
    return f"{_h(statement.text)} <sup>{marks}</sup>" if marks else _h(statement.text)


def _h_source(source: ReportSource, own: Wording) -> str:
    title = _h(source.title)
    if is_web_link(source.url):
        title = f'<a href="{html.escape(str(source.url))}" rel="noopener nofollow">{title}</a>'
    day = own.day(source.published_at)
    return f'<li id="source-{source.number}">{title}, {_h(source.name)}, {day}</li>'


# -- shared ------------------------------------------------------------------------------------


def _further(statements: Sequence[Statement]) -> Iterator[tuple[str, list[int]]]:
    """The further sources of a passage by the name of their line, each once."""
    also = dict.fromkeys(n for statement in statements for n in statement.also_reported_by)
    rest = dict.fromkeys(n for statement in statements for n in statement.same_event)
    lines = {"also": [*also], "same_event": [n for n in rest if n not in also]}
    return ((name, numbers) for name, numbers in lines.items() if numbers)


def _plain(statements: Sequence[Statement]) -> str:
    return " ".join(filter(None, (bare(statement.text) for statement in statements)))


def _one_line(words: str) -> str:
    return " ".join(words.split())

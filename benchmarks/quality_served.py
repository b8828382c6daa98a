# ruff: noqa: TID251 - a client of the server
"""The same subjects asked of a running server, as a user asks: feeds read, reports made and read.

    python benchmarks/quality_served.py [FOLDER] [--half dev|report] [--keep FILE]

A server with a store of its own reads the feeds of FOLDER (or of `SVC_REAL_DATA`), a profile is
made for every wording, and its report is read over HTTP. Shown are the figures of `quality.py` for
what reports list as sources, whether every mark in Markdown, HTML and the agent's view stands
behind words that its item holds, and which items `/news` gives one `storyId`. `--keep` writes
every report into a file, to be read by people. Exit code 1 when a floor is missed.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from shutil import copytree
from statistics import fmean
from typing import Any

from attrs import define, field, frozen
from quality import Figure, asked_for, rates_figures
from quality_baselines import Bm25
from quality_measures import Rate, b_cubed, pairs, words_hold
from quality_sets import FEEDS, Sets, Subject

from svc_core import data
from svc_core.operation.host import silent
from svc_http.run.control import channel

Row = dict[str, Any]

DESKS = 8  # workspaces, so that no rate limit is met
SVC = (sys.executable, "-m", "svc_http")
_MD_MARK = re.compile(r"\s*\[(?:[^\[\]]*\()?(\d+)\)?\]\((?:<[^>]*>|[^()]*)\)")
_H_MARK = re.compile(
    r'\s*(?:<sup>)?<a href="[^"]*"[^<>]*>(?:[^<>]*\()?\[?(\d+)\]?\)?</a>,?(?:</sup>)?'
)
_TAG = re.compile(r"<[^<>]*>")
_ALSO = frozenset(
    line.split("\t")[2].casefold()
    for line in data.table_lines("frame.tsv")
    if line.split("\t")[1] == "also"
)
_SOURCE = re.compile(r"\d+\. ")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")


@define(eq=False)
class Server:
    """`svc serve` over a store of its own."""

    folder: Path
    process: "subprocess.Popen[str]" = field(init=False)
    api: str = field(init=False)
    admin: Path = field(init=False)
    desks: Iterator["Desk"] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start it, and have workspaces with a key each."""
        command = [*SVC, "serve", "--db", str(self.folder / "svc.db"), "--port", "0", "--json"]
        command += ["--reports-per-hour", "0"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout is not None
        greeting = json.loads(self.process.stdout.readline())
        self.api, self.admin = greeting["api"], channel.parse_socket_address(greeting["admin"])
        lines = []
        for n in range(DESKS):
            place = self.run("workspaces", "create", "--name", f"Desk {n}", "--plan", "elite")["id"]
            key = self.run("keys", "create", "--name", "quality", "--workspace", place)["key"]
            lines.append(Desk(self, place, key))
        self.desks = cycle(lines)

    def run(self, *words: str) -> Any:
        """What a command answers; a source that is refused is no failure."""
        command = [*SVC, *words, "--json", "--db", str(self.folder / "svc.db")]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if not process.stdout:
            raise RuntimeError(process.stderr)
        return json.loads(process.stdout)

    def local(self, operation: str, **members: Any) -> Any:
        """What an operation answers over the control socket."""
        answer = channel.ask_server(self.admin, {"operation": operation, **members}, silent)
        return answer["body"]["data"]

    def end(self) -> None:
        """End the server."""
        self.process.terminate()
        self.process.wait()


@frozen(eq=False)
class Desk:
    """A workspace and its key."""

    server: Server
    id: str
    key: str = field(repr=False)

    def get(self, path: str) -> Row:
        """What an address answers, the whole body."""
        headers = {"Authorization": f"Bearer {self.key}"}
        request = urllib.request.Request(f"{self.server.api}{path}", headers=headers)
        with urllib.request.urlopen(request) as answer:
            read: Row = json.load(answer)
        return read

    def every(self, path: str) -> Iterator[Row]:
        """All rows of a list."""
        after: str | None = ""
        while after is not None:
            page = self.get(f"{path}?limit=100{after}")
            yield from page["data"]
            cursor = page["meta"]["page"]["nextCursor"]
            after = None if cursor is None else f"&cursor={cursor}"

    def report(self, name: str, topic: str, language: str) -> str:
        """The id of a report on a subject over everything."""
        body = {"name": name, "topic": topic, "frequency": "manual", "language": language}
        profile = self.server.local("createProfile", body=body, account=self.id)
        body = {"end": datetime.now(UTC).isoformat()}  # without it the items of one interval
        members = {"path": {"profileId": profile["id"]}, "account": self.id, "body": body}
        return str(self.server.local("generateReport", **members)["id"])


# -- marks -------------------------------------------------------------------------------------


def markdown_marks(text: str) -> Iterator[tuple[str, list[int]]]:
    """The words before each run of marks in Markdown, and the numbers of the run."""
    for block in text.split("\n"):
        if _SOURCE.match(block):
            continue
        for words, numbers in _runs(block.removeprefix("- ").strip(), _MD_MARK):
            yield _ESCAPE.sub("", words), numbers


def html_marks(text: str) -> Iterator[tuple[str, list[int]]]:
    """The same in HTML."""
    for block in re.split(r"</?(?:p|li|ul|ol|h[1-6])\b[^<>]*>", text):
        for words, numbers in _runs(block.strip(), _H_MARK):
            yield html.unescape(_TAG.sub("", words)).strip(), numbers


def agent_marks(report: Row) -> Iterator[tuple[str, list[int]]]:
    """The key points of the agent's view and their numbers."""
    for point in report["keyPoints"]:
        yield point["text"], point["citations"]


def _runs(block: str, mark: re.Pattern[str]) -> Iterator[tuple[str, list[int]]]:
    words, numbers, at = "", [], 0
    for match in mark.finditer(block):
        between = block[at : match.start()]
        if between.strip(" ,;").removesuffix("</sup>").removeprefix("<sup>").strip():
            if numbers:
                yield words, numbers
            words, numbers = between.removeprefix("</sup>").strip(), []
        numbers.append(int(match[1]))
        at = match.end()
    if numbers:
        yield words, numbers


@frozen
class Read:
    """A report as it was read over HTTP."""

    subject: Subject
    row: Row
    agent: Row

    @property
    def urls(self) -> set[str]:
        """The addresses of its sources."""
        return {source["url"] for source in self.row["sources"]}

    def marks(self) -> dict[str, list[tuple[str, list[int]]]]:
        """The marks of every form, those of "also reported by" aside."""
        content = self.row["content"]
        return {
            "Markdown": list(markdown_marks(content["markdown"])),
            "HTML": list(html_marks(content["html"])),
            "agent": list(agent_marks(self.agent)),
        }


def mark_figures(reports: list[Read], texts: dict[str, str]) -> Iterator[Figure]:
    """Whether marks hold, whether each source has one, and what spoils the forms."""
    for form in ("Markdown", "HTML", "agent"):
        good: list[bool] = []
        for report in reports:
            source = {
                source["number"]: texts.get(source["url"], "") for source in report.row["sources"]
            }
            good += [
                words_hold(source[number], words)
                for words, numbers in report.marks()[form]
                if not _is_also(words)
                for number in numbers
            ]
        yield Figure(f"served marks in {form}: hold", fmean(good or [0]), note=f"of {len(good)}")
    rows = [report.row for report in reports]
    yield _count(
        "sources without a mark", [len(_numbers_without_mark(report)) for report in reports]
    )
    yield _count(
        "counts.sources is not the rows",
        [row["counts"]["sources"] != len(row["sources"]) for row in rows],
    )
    markdown = [row["content"]["markdown"] for row in rows]
    yield _count(
        "Markdown with HTML", [bool(_TAG.search(_without_links(text))) for text in markdown]
    )
    yield _count(
        "sources but no key point",
        [bool(report.row["sources"]) and not report.agent["keyPoints"] for report in reports],
    )
    yield _count("opening that repeats a heading", [_repeats(text) for text in markdown])
    yield _count("statements twice", [_twice(report) for report in reports])


def _count(name: str, values: list[int]) -> Figure:
    return Figure(f"served: {name}", float(sum(values)), note=f"in {len(values)} reports")


def _numbers_without_mark(report: Read) -> set[int]:
    marks_ = {n for _, numbers in report.marks()["Markdown"] for n in numbers}
    return {source["number"] for source in report.row["sources"]} - marks_


def _without_links(markdown: str) -> str:
    return re.sub(r"\(<[^<>]*>\)", "", markdown)


def _repeats(markdown: str) -> bool:
    lines = [line for line in markdown.split("\n") if line]
    heads = {_plain(line.lstrip("# ")) for line in lines if line.startswith("## ")}
    opening = next((line for line in lines if not line.startswith("#")), "")
    return any(_plain(words) in heads for words, _ in _runs(opening, _MD_MARK))


def _twice(report: Read) -> int:
    """Statements that stand twice; the opening may quote a section."""
    markdown = report.row["content"]["markdown"]
    opening = {_plain(words) for words, _ in markdown_marks(markdown.partition("\n## ")[0])}
    statements = [_plain(words) for words, _ in report.marks()["Markdown"] if not _is_also(words)]
    return (
        len(statements)
        - len(set(statements))
        - sum(statements.count(statement) > 1 for statement in opening)
    )


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", words.casefold()))


def _is_also(words: str) -> bool:
    """Whether words only introduce those who tell the same."""
    return words.strip(" *_-:").casefold() in _ALSO


# -- the run -----------------------------------------------------------------------------------


def measure(server: Server, sets: Sets, keep: Path | None) -> Iterator[Figure]:
    """Every figure, from adding the feeds on."""
    feeds = server.folder / "feeds"
    for name in FEEDS:
        copytree(sets.folder / name, feeds / name)
    server.run("sources", "add", str(feeds))
    news = list(next(server.desks).every("/news"))
    ids = {item.id for item in sets.news()}
    yield Figure("served: rows of /news for an item", len(news) / len(ids), note=f"{len(news)}")
    yield from _story_figures(news, sets)
    subjects_ = sets.subjects()
    reports = {
        subject.key: [_read(server, subject, words) for words in subject.wordings]
        for subject in subjects_
    }
    real = [subject for subject in subjects_ if subject.relevant]
    index = Bm25(sets.news())
    rates = [
        [Rate.of(read.urls, subject.relevant) for read in reports[subject.key]] for subject in real
    ]
    plain = [
        [
            Rate.of(index.find(words, subject.language), subject.relevant)
            for words in subject.wordings
        ]
        for subject in real
    ]
    yield from rates_figures(" served", rates, plain)
    idle = [read for subject in subjects_ if not subject.relevant for read in reports[subject.key]]
    yield Figure(
        "nothing to find, served: share that cites",
        fmean(bool(read.urls) for read in idle),
        note=f"of {len(idle)}",
    )
    texts: dict[str, str] = {}
    for item in sets.news():
        texts[item.url] = f"{texts.get(item.url, '')} {item.title} {item.text}"
    first = [reports[subject.key][0] for subject in real]
    yield from mark_figures(first, texts)
    if keep is not None:
        keep.write_text("\n\n".join(map(_text_of, first)), "utf-8")


def _read(server: Server, subject: Subject, words: str) -> Read:
    desk = next(server.desks)
    id_ = desk.report(subject.key, words, subject.language)
    row = desk.get(f"/reports/{id_}?include=content,sources,signals")["data"]
    return Read(subject, row, desk.get(f"/reports/{id_}?view=agent")["data"])


def _story_figures(news: list[Row], sets: Sets) -> Iterator[Figure]:
    """What `storyId` says, beside nothing: no public set is served."""
    groups: dict[str, list[str]] = {}
    for row in news:
        groups.setdefault(row.get("storyId") or row["id"], []).append(row["url"])
    set_ = sets.stories()
    groups_ = [sorted(set(urls)) for urls in groups.values()]
    rate = pairs(groups_, set_.label, set_.unsure)
    yield Figure("served stories: precision", rate.precision)
    yield Figure("served stories: recall", rate.recall)
    yield Figure("served stories: pairs F1", rate.f1)
    yield Figure(
        "served stories: B³",
        b_cubed(groups_, set_.label, set_.unsure),
        note=f"{len(groups)} groups, largest {max(map(len, groups_))}",
    )


def _text_of(read: Read) -> str:
    signals = "\n".join(
        f"SIGNAL {signal['type']} ({signal['direction']}): {signal['title']} | {signal['summary']}"
        for signal in read.row["signals"]
    )
    heading = f"=== {read.subject.key}: {read.subject.wordings[0]}"
    return f"{heading}\n\n{read.row['content']['markdown']}\n{signals}"


def main() -> int:
    """Print the figures; the exit code."""
    options = asked_for(__doc__ or "", "--keep")
    misses = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            for figure in measure(server, Sets(Path(options.folder), options.half), options.keep):
                print(figure.line(), flush=True)
                misses += figure.is_missed
        finally:
            server.end()
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())

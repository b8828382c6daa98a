"""How well the agent answers questions over rows and texts, in three writings of each.

    python benchmarks/quality_answers.py [FILE] [--only ID,...] [--writing written|lower|keywords]
        [--show] [--meaning MODEL] [--documents FOLDER] [--cache FOLDER]

FILE names sets of documents and questions about them (default: `answers/questions.json`, which was
looked at while the agent was made; figures of it are called so). Each set is taken into a store of
its own, and each question is asked as it was written, in lower case without its mark, and in
keywords; a question that follows others is asked in their thread. `--show` prints the answers that
are not right. FOLDER holds the documents (default: `SVC_REAL_DATA`).

Right: one alternative of each group of `contains` is said, nothing of `wrong`, and one of `rows` is
cited. Partly: some groups, or all without such a row. Wrong: a value of `wrong`. Beside: neither.
Declined: the first sentence cites nothing, as where it says that something is not known. Of a near
miss, declined is right and all else wrong; of talk, what cites nothing is right. What is false in
sense, such as a denial, is for a reader: so is what is said beside, and a value of `wrong` that
stands where it is true. Exit code 3 when a goal is missed.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from answer_stores import Answer, Stores
from attrs import field, frozen
from outcome import GOAL_MISSED

from tests.answers import UNTOLD, measure, questions

QUESTIONS = Path(__file__).parent / "answers" / "questions.json"
WRITINGS = ("written", "lower", "keywords")
OUTCOMES = ("right", "partly", "wrong", "beside", "declined")
RIGHT, WRONG, DECLINED, LOSS = 0.8, 3, 0.95, 0.03
"""Goals: right and at most so many wrong as written, near misses declined, lower case loses."""
HALVES = ("dev", "report")
_MARK = re.compile(r"\[\d+\]")

Row = Mapping[str, Any]


# -- judging -----------------------------------------------------------------------------------


def stands_in(words: str, text: str) -> bool:
    """Whether words stand in a text between ends of words and numbers.

    Case, kinds of space and soft hyphens do not count, but a code of two or three capitals stands
    in capitals alone: "3" is not in "2023", "10" not in "10,000", "DE" not in "de".
    """
    words = _plain(words).strip()
    before = r"(?<!\w)(?<!\d[.,])" if words[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if words[-1].isalnum() else ""
    flags = re.NOFLAG if re.fullmatch("[A-Z]{2,3}", words) else re.IGNORECASE
    return re.search(before + re.escape(words) + after, _plain(text), flags) is not None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).replace("\u00ad", "").replace("\u2019", "'")
    return re.sub(r"\s+", " ", text)


def is_cited(row: Row, answer: Answer) -> bool:
    """Whether an answer cites a row: by its id, or by the last word of a `key` in a cited row.

    That word is an address, a designator, a code or a date, whose values rows hold as they are.
    """
    if "id" in row and any(source.id == row["id"] for source in answer.sources):
        return True
    word = row["key"].split()[-1]
    word = word if "//" in word else word.split(":")[-1]
    return any(stands_in(word, json.dumps(cited, ensure_ascii=False)) for cited in answer.rows)


def outcome_of(question: Row, answer: Answer) -> str:
    """What becomes of a question."""
    is_open = bool(answer.sentences) and _MARK.search(answer.sentences[0]) is None
    if question["answer"] == "talk":
        return "wrong" if answer.sources or not answer.sentences else "right"
    if question["answer"] == "decline":
        return "declined" if is_open else "wrong"
    if is_open:
        return "declined"
    if any(stands_in(words, answer.text) for words in question["wrong"]["literal"]):
        return "wrong"
    groups = [
        any(stands_in(words, answer.text) for words in group) for group in question["contains"]
    ]
    if all(groups) and any(is_cited(row, answer) for row in question["rows"]):
        return "right"
    return "partly" if any(groups) else "beside"


@frozen
class Trial:
    """A question in one writing, its answer, and what became of it."""

    question: Row = field(repr=False)
    writing: str
    answer: Answer
    outcome: str

    @property
    def is_right(self) -> bool:
        """Whether this is what was wanted: of a near miss, that it is declined."""
        return self.outcome == {"decline": "declined"}.get(self.question["answer"], "right")


# -- asking ------------------------------------------------------------------------------------


async def ask_all(file: Row, stores: Stores, options: argparse.Namespace) -> list[Trial]:
    """Every question in every writing, set by set."""
    trials = []
    chosen = [item for item in file["questions"] if not options.only or item["id"] in options.only]
    for name in dict.fromkeys(item["set"] for item in chosen):
        members = file["sets"].get(name, {"files": []})
        async with stores.agent(name, members) as agent:
            for question in (item for item in chosen if item["set"] == name):
                for writing in options.writing or WRITINGS:
                    wording = question["writings"][writing]
                    answer = await agent.ask(*question["turns"], wording)
                    outcome = outcome_of(question, answer)
                    trials.append(Trial(question, writing, answer, outcome))
    return trials


# -- showing -----------------------------------------------------------------------------------


def table(trials: Sequence[Trial]) -> Iterator[str]:
    """Lines: what became of questions by group, kind, language and set, for each writing."""
    parts: dict[str, list[Trial]] = {}
    for trial in trials:
        question = trial.question
        label = {"decline": "near misses", "talk": "talk"}.get(question["answer"], "answerable")
        names = [f"{label}, all"]
        if label == "answerable":
            names += [f"  {question['group']}", f"    {question['group']}: {question['kind']}"]
            names += [f"  in {question['language']}", f"  set {question['set']}"]
        for name in names:
            parts.setdefault(name, []).append(trial)
    order = (
        "answerable",
        "  look-up",
        "  text",
        "  other",
        "    ",
        "  in",
        "  set",
        "near",
        "talk",
    )
    rank = {name: next(n for n, start in enumerate(order) if name.startswith(start))
            for name in parts}  # fmt: skip
    yield f"{'':34}" + "".join(f"{writing:^29}" for writing in WRITINGS)
    yield f"{'':34}" + f"{'n  right part wrong besi decl':29}" * len(WRITINGS)
    for name in sorted(parts, key=lambda name: (rank[name], name)):
        yield f"{name:34}" + "".join(_columns(parts[name], writing) for writing in WRITINGS)


def _columns(trials: Iterable[Trial], writing: str) -> str:
    outcomes = Counter(trial.outcome for trial in trials if trial.writing == writing)
    if not outcomes:
        return " " * 29
    return f"{outcomes.total():<3}" + "".join(f"{outcomes[name]:>4} " for name in OUTCOMES) + " "


def totals(trials: Sequence[Trial]) -> tuple[list[str], bool]:
    """Lines of shares and costs, and whether the goals are met."""
    answerable = [item for item in trials if item.question["answer"] == "answer"]
    near = [item for item in trials if item.question["answer"] == "decline"]
    right = {name: _share_right(answerable, name) for name in WRITINGS}
    declined = {name: _share_right(near, name) for name in WRITINGS}
    loss = right["written"] - right["lower"]
    wrong = sum(item.outcome == "wrong" for item in answerable if item.writing == "written")
    costs = sorted(1_000 * trial.answer.cpu_seconds for trial in trials)
    worst = max(trials, key=lambda trial: trial.answer.cpu_seconds)
    lines = [
        f"right of answerable: {_by_writing(right)}; wrong as written {wrong}",
        f"lower case loses: {loss:.3f}",
        f"near misses declined: {_by_writing(declined)}",
        f"CPU a question: {fmean(costs):.0f} ms in the mean, {median(costs):.0f} at the median, "
        f"{costs[-1]:.0f} at most ({worst.question['id']})",
    ]
    is_met = right["written"] >= RIGHT and wrong <= WRONG and loss <= LOSS
    return lines, is_met and declined["written"] >= DECLINED


def _by_writing(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {share:.2f}" for name, share in shares.items())


def _share_right(trials: Iterable[Trial], writing: str) -> float:
    of_writing = [trial.is_right for trial in trials if trial.writing == writing]
    return fmean(of_writing) if of_writing else float("nan")


def shown(trial: Trial) -> Iterator[str]:
    """Lines: a question, what was wanted, and the answer."""
    question = trial.question
    thread = " / ".join((*question["turns"], question["writings"][trial.writing]))
    yield f"{question['id']} {trial.writing}: {trial.outcome}: {thread}"
    yield f"    wanted: {question['contains'] or question['answer']} {question['wrong']}"
    yield f"    rows: {[row['key'] for row in question['rows']]}"
    yield from (f"    | {sentence.rstrip()}" for sentence in trial.answer.sentences)
    yield f"    cited: {[(source.id, source.title[:60]) for source in trial.answer.sources]}"


def lines_of_texts() -> Iterator[str]:
    """Lines: the questions over the short texts of `tests/data/answers`, by halves."""
    for half in HALVES:
        counts = measure(half)
        answerable = sum(question.grounds != UNTOLD for question in questions(half))
        untold = len(questions(half)) - answerable
        yield (
            f"texts, half {half}: {answerable} answerable, right "
            f"{counts['right'] / answerable:.2f}, declined "
            f"{counts['declined wrongly'] / answerable:.2f}; {untold} without an answer, declined "
            f"{counts['declined rightly'] / untold:.2f}; supported sentences "
            f"{counts['supported']} of {counts['sentences']}"
        )


def main() -> int:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, default=QUESTIONS)
    parser.add_argument("--only", type=lambda text: text.split(","), help="ids of questions")
    parser.add_argument("--writing", action="append", choices=WRITINGS)
    parser.add_argument("--show", action="store_true", help="print answers that are not right")
    parser.add_argument("--meaning", default="none", choices=("e5", "minilm"))
    parser.add_argument("--documents", type=Path, default=os.environ.get("SVC_REAL_DATA"))  # noqa: TID251
    parser.add_argument(
        "--cache", type=Path, default=Path(tempfile.gettempdir()) / "svc_quality_answers"
    )
    options = parser.parse_args()
    if options.documents is None:
        sys.exit("Name the folder of documents: --documents FOLDER, or SVC_REAL_DATA.")
    stores = Stores(Path(options.documents), options.cache, options.meaning)
    trials = asyncio.run(ask_all(json.loads(options.file.read_text("utf-8")), stores, options))
    for trial in trials:
        if options.only or (options.show and not trial.is_right):
            print(*shown(trial), sep="\n")
    is_looked_at = options.file == QUESTIONS
    kind = "by words" if options.meaning == "none" else f"with meaning ({options.meaning})"
    print(f"{options.file.name}{' (looked at)' if is_looked_at else ''}, {kind}")
    lines, is_met = totals(trials)
    print(*table(trials), *lines, sep="\n")
    if is_looked_at and not options.only:
        print(*lines_of_texts(), sep="\n")
    return 0 if is_met else GOAL_MISSED


if __name__ == "__main__":
    sys.exit(main())

"""Labelled questions over documents: how many are answered rightly, wrongly or not at all."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen

from svc_core.agent.passages import Passage, Sentence, select, without_markup
from svc_core.base import instants
from svc_core.text.sentences import clean_headline

FOLDER = Path(__file__).parent / "data" / "answers"
NOW = datetime(2026, 2, 20, tzinfo=UTC)
UNTOLD = "-"


@frozen
class Question:
    """A question; `grounds` is an expression for what the answer has to say, `-` where nothing."""

    half: str
    grounds: str
    text: str


def questions(half: str) -> list[Question]:
    """Those of one half."""
    lines = (FOLDER / "questions.tsv").read_text().splitlines()
    rows = [Question(*line.split("\t")) for line in lines if line and line[0] != "#"]
    return [row for row in rows if row.half == half]


def passages(half: str | None = None) -> tuple[Passage, ...]:
    """The documents, those of one half or all, numbered from 1; none is dated ahead of `NOW`."""
    rows = json.loads((FOLDER / "documents.json").read_text())
    chosen_rows = [row for row in rows if half in (None, row["half"])]
    return tuple(
        Passage(number, row["title"], row["text"], min(instants.parse(row["at"]), NOW))
        for number, row in enumerate(chosen_rows, 1)
    )


def injections() -> list[str]:
    """Strings that try to make an assistant do something else."""
    return json.loads((FOLDER / "injections.json").read_text())


def is_supported(sentence: Sentence, evidence: Sequence[Passage]) -> bool:
    """Whether each passage that a sentence names holds it, word for word."""
    texts = {passage.number: passage for passage in evidence}
    return bool(sentence.numbers) and all(
        sentence.text in fold_text(texts[number].text)
        or sentence.text == clean_headline(without_markup(texts[number].title))
        for number in sentence.numbers
    )


def fold_text(text: str) -> str:
    """A text without markup, in one line."""
    return re.sub(r"\s+", " ", without_markup(text))


def judge(question: Question, answer: Sequence[Sentence]) -> str:
    """What became of a question."""
    if not answer:
        return "declined rightly" if question.grounds == UNTOLD else "declined wrongly"
    text = "\n".join(sentence.text for sentence in answer)
    is_right = question.grounds != UNTOLD and re.search(question.grounds, text)
    return "right" if is_right else "wrong"


def measure(half: str, show: Callable[[str], object] = lambda _: None) -> Counter[str]:
    """How many questions of a half became what, over all documents."""
    evidence, counts = passages(), Counter[str]()
    for question in questions(half):
        answer = select(question.text, evidence, NOW)
        became = judge(question, answer)
        counts[became] += 1
        counts["supported"] += sum(is_supported(sentence, evidence) for sentence in answer)
        counts["sentences"] += len(answer)
        if "wrong" in became:
            show(f"{became}: {question.text} ({question.grounds})")
            for sentence in answer:
                show(f"    {sentence.text} {sentence.numbers}")
    return counts


def feed() -> bytes:
    """The documents as a feed."""
    rows = json.loads((FOLDER / "documents.json").read_text())
    items = [
        {
            "id": f"https://told.example/{number}",
            "url": f"https://told.example/{number}",
            "title": row["title"],
            "content_text": row["text"],
            "date_published": row["at"],
        }
        for number, row in enumerate(rows)
    ]
    head = {"version": "https://jsonfeed.org/version/1.1", "title": "Told", "items": items}
    return json.dumps(head).encode()

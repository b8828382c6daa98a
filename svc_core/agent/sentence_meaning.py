"""Reads sentences by what they mean, where no words of them decide whether they answer.

Rule 1: what rules a sentence out by words does so here: a name, number, year or kind of answer that
        it lacks. Here a word with a capital letter is a name even where no text writes it so.
Rule 2: a text answers only if it is far nearer to the question than any other of those compared.
        How near the nearest is tells little: where nothing answers, several are nearly as near.
"""

import re
from collections.abc import Generator, Sequence

from attrs import frozen

from svc_core.agent.passages import (
    Passage,
    Sentence,
    TextLine,
    asking_part,
    corrected,
    may_answer,
    word_share,
)
from svc_core.agent.text_query import query_of
from svc_core.text.language import guess
from svc_core.text.words import split_words

TEXTS_MIN, TEXTS_MAX, LINES_MAX, CHARS_MAX = 3, 4, 3, 160
"""Texts that are compared at least and at most, the sentences of each that hold most of the
question, and characters of these: 0.3 s of one processor for E5 in the mean, 0.6 s at most."""
SAME_AS_WORDS = 3.0
"""Deviations of nearness that all words of a question are worth."""
LEAD = 2.5
"""Deviations by which a text has to be nearer than any other. With the text that answers taken away
another is so far ahead for .05 of 87 questions, all of which had been looked at."""
_ANSWER_MAX = 2
_CAPITALS = re.compile(r"(?<=\w )[A-ZÀ-Þ][\w.-]*")


@frozen
class Comparison:
    """A question and the short texts whose nearness to it in meaning is wanted."""

    question: str
    texts: tuple[str, ...]


def nearest_sentences(
    question: str, passages: Sequence[Passage]
) -> Generator[Comparison, Sequence[float], tuple[Sentence, ...]]:
    """The sentences of one passage that answer a question by their meaning; none where none does.

    It is sent how near each text is, in deviations from the usual (`Toolbox.nearness`).
    """
    passages = passages[:TEXTS_MAX]
    text = corrected(asking_part(question), passages)
    words = frozenset(split_words(text))
    capitals = _CAPITALS.findall(text) if guess(text) != "de" else []  # there all nouns have them
    rows: list[tuple[TextLine, float, bool]] = []
    for passage in passages:
        query = query_of(text, passage.content.names & words | {*split_words(" ".join(capitals))})
        pairs = ((line, word_share(query, line)) for line in passage.candidates)
        marked = [(line, share, may_answer(query, line)) for line, share in pairs]
        rows += sorted(marked, key=lambda row: -row[1] * row[2])[:LINES_MAX]
    numbers = {line.passage.number for line, _, _ in rows}
    if len(numbers) < TEXTS_MIN or not any(may for _, _, may in rows):
        return ()
    lines = tuple(line.text[:CHARS_MAX] for line, _, _ in rows)
    near = yield Comparison(text.lower().rstrip(" ?!."), lines)
    if len(near) < len(rows):
        return ()
    ranks = [(at + SAME_AS_WORDS * row[1], row) for at, row in zip(near, rows, strict=True)]
    ranks.sort(key=lambda rank: -rank[0])
    best, (line, _, _) = next(rank for rank in ranks if rank[1][2])
    other = max(worth for worth, (o, _, _) in ranks if o.passage != line.passage)
    own = [o for worth, (o, _, may) in ranks if may and o.passage == line.passage and worth > other]
    picks = own[:_ANSWER_MAX] if best - other > LEAD else ()
    return tuple(Sentence(pick.text, (pick.passage.number,)) for pick in picks)

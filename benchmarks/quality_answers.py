"""How well questions are answered from texts, without a model.

    python -m benchmarks.quality_answers [dev|report]

Words and constants are chosen on the half `dev` alone, whose faults can be shown. Documents and
questions are those of `tests/data/answers`; `tests/core/agent/test_telling.py` holds the floors.
"""

import sys

from tests.answers import UNTOLD, measure, questions

HALVES = ("dev", "report")


def main(halves: list[str]) -> None:
    """Print the figures of each half."""
    for half in halves or HALVES:
        counts = measure(half, print if half in halves else lambda _: None)
        answerable = sum(question.grounds != UNTOLD for question in questions(half))
        untold = len(questions(half)) - answerable
        print(f"{half}: {answerable} answerable, {untold} not")
        print(f"  answered rightly        {counts['right'] / answerable:.2f}")
        print(f"  declined, answerable    {counts['declined wrongly'] / answerable:.2f}")
        print(f"  declined, unanswerable  {counts['declined rightly'] / untold:.2f}")
        print(f"  supported sentences     {counts['supported']} of {counts['sentences']}")


if __name__ == "__main__":
    main(sys.argv[1:])

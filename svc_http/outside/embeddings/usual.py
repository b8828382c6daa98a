"""What cosine is usual between a question and a text of an embedding model that nobody measured.

Cosines of one model lie about 0.1, those of another about 0.75: without knowing it nobody can say
what is near. So a model embeds a dozen questions and a text about each; the questions and the texts
about the others have nothing to do with each other.
"""

from collections.abc import Callable, Sequence
from itertools import permutations
from statistics import fmean, pstdev
from typing import Final

PAIRS: Final = (
    ("decisions on interest rates", "A central bank raised its key rate by a quarter of a point."),
    ("results of football matches", "The striker scored twice as the home team won the final."),
    ("floods and storms", "Heavy rain flooded villages along the river and closed the road."),
    ("breeding of crops", "Researchers found a gene that makes wheat resist drought."),
    ("trials of politicians", "The court sentenced the former minister to four years in prison."),
    ("new consumer electronics", "A phone with a folding screen goes on sale next month."),
    ("strikes in health care", "Hospital staff stopped work over pay and night shifts."),
    ("exhibitions of art", "The museum shows paintings of the seventeenth century."),
    ("data breaches", "Hackers stole the records of two million customers of an insurer."),
    ("treaties between states", "Two countries signed an agreement on fishing in their sea."),
    ("missions to other planets", "The probe entered the orbit of Mars after seven months."),
    ("cost of housing", "Rents in the capital rose faster than wages for the third year."),
)
SHIFT: Final = 1.0
"""How many of these deviations the mean of news lies above that of these texts, and"""
SPREAD: Final = 1.5
"""how many times as large its deviation is. These texts are short and far apart. Of 871 items of
news and 87 questions: E5 .762 and .027, where these give .746 and .020; MiniLM .087 and .112, where
these give .015 and .069."""
DEVIATION_MIN: Final = 0.005
"""A model that finds everything alike must not make much of the rest."""


def usual_cosines(
    queries: Sequence[bytes],
    texts: Sequence[bytes],
    cosines: Callable[[bytes, Sequence[bytes]], Sequence[float]],
) -> tuple[float, float]:
    """The usual mean and deviation, from the vectors of `PAIRS`."""
    rows = [cosines(query, texts) for query in queries]
    apart = [rows[query][text] for query, text in permutations(range(len(rows)), 2)]
    deviation = pstdev(apart)
    return fmean(apart) + SHIFT * deviation, max(DEVIATION_MIN, SPREAD * deviation)

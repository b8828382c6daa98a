"""Makes `svc_core/data/stopwords.tsv`: words that carry no subject, by language.

    pip install stopwordsiso==0.7.1 wordfreq==3.1.1
    python benchmarks/data/stop_words.py

The lists of *stopwords-iso* (MIT) are long: "world", "research" and "goods" stand in the English
one. Of each list those words stay that a text of the language holds often (*wordfreq*), so that
what may be a subject is left to its weight.
"""

from collections import Counter
from pathlib import Path

import stopwordsiso
import wordfreq

from svc_core.text.words import split_words

OUT = Path(__file__).parents[2] / "svc_core" / "data" / "stopwords.tsv"
FREQUENCY_MIN = 5e-4
UNSPACED_LANGUAGES = {"ja", "zh", "ko", "th"}  # cut into pairs of characters, not words


def stop_words(language: str) -> list[str]:
    """The stop words of a language as the words of a text are cut, in order."""
    totals: Counter[str] = Counter()
    for word, frequency in wordfreq.get_frequency_dict(language, "best").items():
        for part in split_words(word):
            totals[part] += frequency
    listed_words = {
        part for entry in stopwordsiso.stopwords(language) for part in split_words(entry)
    }
    return sorted(word for word in listed_words if totals[word] >= FREQUENCY_MIN and word.isalpha())


def main() -> None:
    languages = (
        stopwordsiso.langs() & set(wordfreq.available_languages("small")) - UNSPACED_LANGUAGES
    )
    rows = [f"{language}\t{' '.join(stop_words(language))}" for language in sorted(languages)]
    text = "# Words that carry no subject: a language (BCP 47), a tab, and its words, folded.\n"
    OUT.write_text(text + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

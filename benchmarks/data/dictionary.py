"""Make `dictionary.de.z`, `dictionary.fr.z` and `dictionary.es.z` in `svc_core/data`.

    pip install simplemma wordfreq
    python benchmarks/data/dictionary.py FOLDER_OF_CLONES TARGET

What German, French and Spanish words mean, from the English Wiktionary: `SOURCES` of `corpora`
says which repositories hold it. A line is how common a word is (`_LEVELS`), the word, its other
forms, and the English words of its meanings, the best first. All are folded and whole; of a form
there is how many letters it lacks of the end of the word, in base 36, and what it has instead.

A meaning weighs as much as it is said of the word, and the word of the meaning, when translated
back: "absquatulate" means "sterben", but a hundredth of what "die" does. The commoner English
word weighs more (`COMMONNESS`).
"""

import gzip
import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from math import log10
from pathlib import Path
from string import ascii_lowercase, digits

import wordfreq
from corpora import bytes_of, read
from simplemma.strategies.dictionaries.dictionary_factory import DefaultDictionaryFactory

from svc_core.text.words import fold_case, stop_words

LANGUAGES = ("de", "fr", "es")
FORMS_MAX = 100_000
"""Only so many of the commonest forms of a language are looked up."""
MEANINGS_MAX = 6  # English words: more add .003 of hits and as much of false ones
SHARE_MIN = 0.1  # of the weight of the best meaning
COMMONNESS = 0.25  # exponent of an English word's frequency
MARKED = 0.5  # what a sense of one region or trade weighs
_LEVELS = ascii_lowercase  # each a third of a tenfold rarer
_DIGITS = digits + ascii_lowercase
_WIKTIONARY, _GERMAN = "open-dsl-dict/wiktionary-dict", "gkovacs/grammarvis"
_NOTE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}|/[^/]*/")
_NAME = re.compile(r"given name|surname|male name", re.IGNORECASE)
_LINE = re.compile(r"(?m)^(.+?) \{\w+[^}]*\}(.*?):: ?(.*)$")
_ARTICLE = {
    "en": re.compile(r"^(?:to|an?|the) "),
    "de": re.compile(r"^(?:d(?:er|ie|as)|sich|eine?) "),
    "fr": re.compile(r"^(?:l[ea]s? |l'|se |s'|une? )"),
    "es": re.compile(r"^(?:el|l[ao]s?|un[ao]?s?) |(?<=[aei]r)se$"),
}

Senses = Iterable[tuple[str, list[str], float]]  # a word, what it means, what the sense weighs


def terms_of(text: str, language: str) -> list[str]:
    """The folded translations of a sense, without their notes and articles."""
    plain = _NOTE.sub(lambda note: re.sub("[,;]", " ", note[0]), text)
    for _ in range(2):  # notes may hold notes
        plain = _NOTE.sub(" ", plain)
    rows = (" ".join(fold_case(part).split()) for part in re.split("[,;]", plain))
    return [_ARTICLE[language].sub("", row) for row in rows if row]


def translations(folder: Path, language: str) -> Senses:
    """English words, each sense with the words of a language for it."""
    if language != "fr":
        text = read(folder, _WIKTIONARY, f"src/en-{language}-enwiktionary.txt")
        for word, note, row in _LINE.findall(text):
            if not _NAME.search(note):
                yield word, terms_of(row, language), 1.0
        return
    packed = bytes_of(folder, _WIKTIONARY, "dsl/oneway/en-fr-enwiktionary.dsl.dz")
    for article in gzip.decompress(packed).decode("utf-16").split("\n\n"):
        if not _NAME.search(article):
            word = article.strip().partition("\n")[0]
            for row in re.findall(r"\[m1\](.*)\[/m\]", article):
                bare = re.sub(r"\[p\].*?\[/p\]|\\\[.*?\\\]|\[/?\w[^\]]*\]", "", row)
                yield word, terms_of(bare, language), 1.0


def definitions(folder: Path, language: str) -> Senses:
    """Words of a language, each sense with the English words for it."""
    if language == "de":
        text = read(folder, _GERMAN, "deu-eng.txt")
        for word, row in re.findall(r"(?m)^:([^:\n]+):(.*)$", text):
            for meaning in terms_of(row, "en") if not _NAME.search(row) else ():
                yield word, [meaning], 1.0
        return
    for word, note, row in _LINE.findall(
        read(folder, _WIKTIONARY, f"src/{language}-en-enwiktionary.txt")
    ):
        if not _NAME.search(note + row):
            yield word, terms_of(row, "en"), MARKED if "[" in note else 1.0


def weights(senses: Senses, language: str) -> Mapping[str, dict[str, float]]:
    """The share of a word's senses that each translation has: the first of a sense most."""
    table: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, row, weight in senses:
        for head in terms_of(word, language)[:1]:
            for place, term in enumerate(row, 1):
                table[head][term] += weight / place
    return {
        word: {term: weight / sum(row.values()) for term, weight in row.items()}
        for word, row in table.items()
    }


def meanings(folder: Path, language: str) -> Mapping[str, list[str]]:
    """The English words that each word of a language means, the best first."""
    table: defaultdict[str, dict[str, float]] = defaultdict(dict)
    table.update(weights(definitions(folder, language), language))
    for english, row in weights(translations(folder, language), "en").items():
        for word, share in row.items():
            table[word][english] = table[word].get(english, 0.0) + share
    return {
        word: best_words({e: w * commonness(e) ** COMMONNESS for e, w in row.items()})
        for word, row in table.items()
        if " " not in word
    }


def best_words(row: Mapping[str, float]) -> list[str]:
    """The words of the terms that weigh most; stop words only where they are the whole term."""
    least = SHARE_MIN * max(row.values())
    terms = [term for term in sorted(row, key=lambda term: (-row[term], term)) if row[term] > least]
    words = (
        word
        for term in terms
        for word in re.findall("[a-z]{2,}", term)
        if word == term or word not in stop_words("en")
    )
    return [*dict.fromkeys(words)][:MEANINGS_MAX]


@cache
def commonness(english: str) -> float:
    """The frequency of an English term."""
    return max(wordfreq.word_frequency(english, "en"), 1e-8)


def frequent_forms(language: str) -> Mapping[str, float]:
    """The commonest folded forms of a language with their share of its words."""
    table: defaultdict[str, float] = defaultdict(float)
    for form in islice(wordfreq.iter_wordlist(language, "large"), 4 * FORMS_MAX):
        table[fold_case(form)] += wordfreq.word_frequency(form, language)
    rows = (form for form in table if form.isalpha() and len(form) > 1)
    return {form: table[form] for form in sorted(rows, key=lambda f: (-table[f], f))[:FORMS_MAX]}


def lemma_table(language: str) -> Mapping[str, dict[str, None]]:
    """The folded lemmas of each folded form, and the lemmas of these: "Toten" is of "tot"."""
    rows = DefaultDictionaryFactory().get_dictionary(language)
    table: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for form in rows:
        lemma = rows[form]
        table[fold_case(text_of(form))][fold_case(text_of(lemma))] = None
    return {
        form: {**row, **{further: None for lemma in row for further in table.get(lemma, ())}}
        for form, row in [*table.items()]
    }


def text_of(word: str | bytes) -> str:
    return word.decode() if isinstance(word, bytes) else word


def change(lemma: str, form: str) -> str:
    """What makes a form of a lemma."""
    pairs = enumerate(zip(f"{lemma} ", f"{form}-", strict=False))
    same = next(place for place, (a, b) in pairs if a != b)
    return f"{_DIGITS[len(lemma) - same]}{form[same:]}"


def lines(folder: Path, language: str) -> Iterator[str]:
    """The lines of the dictionary of a language, those of its commonest words first."""
    known, lemmas = meanings(folder, language), lemma_table(language)
    shares: defaultdict[str, float] = defaultdict(float)
    forms: defaultdict[str, list[str]] = defaultdict(list)
    silent = stop_words(language)
    for form, share in frequent_forms(language).items():
        own = {form: None} if known.get(form) else {}
        words = {**own, **lemmas.get(form, {})} if form not in silent else {}
        for lemma in filter(str.isalpha, words.keys() - silent):
            if lemma != form or known.get(form):
                shares[lemma] += share
                forms[lemma].append(form)
    levels = {lemma: _LEVELS[min(25, int(-3 * log10(share)))] for lemma, share in shares.items()}
    for lemma in sorted(forms, key=lambda lemma: (levels[lemma], lemma)):
        others = " ".join(sorted(change(lemma, form) for form in forms[lemma] if form != lemma))
        yield f"{levels[lemma]}{lemma}\t{others}\t{' '.join(known.get(lemma, ()))}"


def main() -> None:
    folder, target = map(Path, sys.argv[1:3])
    for language in LANGUAGES:
        rows = [*lines(folder, language)]
        packed = zlib.compress("\n".join(rows).encode(), 9)
        (target / f"dictionary.{language}.z").write_bytes(packed)
        print(language, len(rows), len(packed))


if __name__ == "__main__":
    main()

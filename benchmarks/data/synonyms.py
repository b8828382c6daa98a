"""Make `synonyms.tsv.z` in `svc_core/data`.

    apt-get download wordnet-base && dpkg -x wordnet-base*.deb wordnet
    python benchmarks/data/synonyms.py wordnet/usr/share/wordnet PATH_OF_DICTIONARIES TARGET

WordNet 3.0 gives groups of English words that may stand for each other, the irregular forms of
each, and pairs of opposites; the dictionaries (`deu-eng.txt`, `fra-eng.txt` of `corpora.SOURCES`)
what German and French words mean, and wordnets (`wn-*.tab` there), whose senses are those of
WordNet 3.0, what Spanish words mean. All are terms: folded words cut as `svc_core.text.words` cuts
them.
"""

import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from svc_core.text.frequencies import shares
from svc_core.text.words import fold_case, stop_words, term_of, terms

SENSES_MAX = 4
"""Only so many senses of a word count, the commonest first."""
MEANINGS_MAX = 4
FILES = ("noun", "verb", "adj", "adv")
OPPOSED_SENSES_MAX = 3
OPPOSED_FILES = ("noun", "verb", "adj")
DICTIONARIES = {"de": ("deu-eng.txt",), "fr": ("fra-eng.txt",), "es": ()}
WORDNETS = {"es": ("wn-data-spa.tab", "wn-wikt-spa.tab")}


def common(language: str) -> frozenset[str]:
    """The terms of a language that the table of frequencies has."""
    return frozenset(term for tag, _, row in shares() if tag == language for term in row)


def ranks(folder: Path, name: str) -> dict[tuple[str, str], int]:
    """How common each sense of each word of a part of speech is, 0 the commonest."""
    rows: dict[tuple[str, str], int] = {}
    for line in (folder / f"index.{name}").read_text().splitlines():
        if not line.startswith(" "):
            lemma, _, count, pointers, *rest = line.split()
            places = rest[int(pointers) + 2 :][: int(count)]
            rows.update({(lemma, place): rank for rank, place in enumerate(places)})
    return rows


def senses(folder: Path, name: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """The place, the words and the pointers of each sense of a part of speech."""
    for line in (folder / f"data.{name}").read_text().splitlines():
        if not line.startswith(" "):
            place, _, _, size, *rest = line.partition(" | ")[0].split()
            end = 2 * int(size, 16)
            yield place, [re.sub(r"\(.*", "", word).lower() for word in rest[:end:2]], rest[end:]


def groups(folder: Path) -> Iterator[frozenset[str]]:
    """The terms of each group of synonyms, and of each irregular word with its forms."""
    known = common("en") - stop_words("en")
    for name in FILES:
        rank = ranks(folder, name)
        for place, words, _ in senses(folder, name):
            usual = [word for word in words if rank.get((word, place), 99) < SENSES_MAX]
            yield frozenset(map(term_of, filter(str.isalpha, usual))) & known
        forms = irregular_forms(folder, name)
        yield from (group & (known | stop_words("en")) for group in map(frozenset, forms.values()))


def irregular_forms(folder: Path, name: str) -> Mapping[str, set[str]]:
    """The terms of the irregular forms of each word of a part of speech, and its own."""
    forms: defaultdict[str, set[str]] = defaultdict(set)
    for line in (folder / f"{name}.exc").read_text().splitlines():
        form, *lemmas = line.split()
        for lemma in filter(str.isalpha, lemmas if form.isalpha() else ()):
            forms[lemma] |= {term_of(form), term_of(lemma)}
    return forms


def opposites(folder: Path) -> Iterator[tuple[str, str]]:
    """The terms of two words of which one says the opposite of the other, with their forms."""
    known = common("en") - stop_words("en")
    for name in OPPOSED_FILES:
        rank, forms = ranks(folder, name), irregular_forms(folder, name)
        words_at = {place: words for place, words, _ in senses(folder, name)}
        for place, words, (count, *pointers) in senses(folder, name):
            for at in range(0, 4 * int(count), 4):
                sign, to, _, numbers = pointers[at : at + 4]
                if sign != "!":
                    continue
                own, other = (int(number, 16) - 1 for number in (numbers[:2], numbers[2:]))
                sides = [
                    ({term_of(word)} | forms.get(word, set())) & known
                    for where, word in ((place, words[own]), (to, words_at[to][other]))
                    if word.isalpha() and rank.get((word, where), 99) < OPPOSED_SENSES_MAX
                ]
                if len(sides) == 2 and all(sides) and sides[0].isdisjoint(sides[1]):
                    first, second = sorted(" ".join(sorted(side)) for side in sides)
                    yield first, second


def entries(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The words of a dictionary and the English terms of their first meanings."""
    for word, text in re.findall(r"(?m)^:([^:\s]+):(.*)$", path.read_text()):
        bare = re.sub(r"\([^()]*\)|<[^>]*>", "", text)
        for meaning in [part for part in re.split("[,;]", bare) if part.strip()][:MEANINGS_MAX]:
            yield word, [term for term in terms(meaning, "en") if term in known_english()][:2]


def lemmas(folder: Path, paths: Iterable[Path]) -> Iterator[tuple[str, list[str]]]:
    """The words of wordnets of a language and the English terms of their senses, usual ones first.

    Wordnets do not say how common a sense of theirs is: the English word that has it among its
    first tells.
    """
    rows: defaultdict[str, dict[str, int]] = defaultdict(dict)
    english: dict[str, list[tuple[str, int]]] = {}
    for name, mark in zip(FILES, "nvar", strict=True):
        rank = ranks(folder, name)
        for place, words, _ in senses(folder, name):
            usual = [(term_of(word), rank.get((word, place), 99)) for word in words]
            english[f"{place}-{mark}"] = [pair for pair in usual if pair[1] < SENSES_MAX]
    for path in paths:
        for place, _, lemma in re.findall(r"(?m)^(\d+-\w)\t(\w+:)?lemma\t(\w+)$", path.read_text()):
            for term, rank_ in english.get(place, ()):
                if term in known_english():
                    rows[lemma][term] = min(rank_, rows[lemma].get(term, rank_))
    for lemma, row in rows.items():
        yield lemma, sorted(row, key=lambda term: (row[term], term))[:MEANINGS_MAX]


@cache
def known_english() -> frozenset[str]:
    """The terms that a meaning may have."""
    return common("en") - stop_words("en")


def meanings(
    words: Iterable[tuple[str, list[str]]], language: str
) -> Iterator[tuple[str, dict[str, None]]]:
    """The English terms of each common term of a language, of words and their meanings."""
    known = common(language) - stop_words(language)
    table: defaultdict[str, dict[str, None]] = defaultdict(dict)
    shortest: dict[str, int] = {}
    for word, row in sorted(words, key=lambda pair: len(pair[0])):
        head = term_of(fold_case(word))
        # Long words with one beginning are compounds of one word, which mean something else.
        if head in known and len(word) <= shortest.setdefault(head, len(word)) + 2:
            table[head].update(dict.fromkeys(row))
    for head, meanings_ in table.items():
        meanings_.pop(head, None)
        yield head, dict.fromkeys([*meanings_][: 3 * MEANINGS_MAX])


def main() -> None:
    wordnet, dictionaries, target = map(Path, sys.argv[1:4])
    rows = {" ".join(sorted(group)) for group in groups(wordnet) if len(group) > 1}
    lines = [f"en\t{row}" for row in sorted(rows)]
    for language, names in DICTIONARIES.items():
        table: dict[str, dict[str, None]] = {}
        nets = lemmas(wordnet, [dictionaries / name for name in WORDNETS.get(language, ())])
        for words in (*(entries(dictionaries / name) for name in names), nets):
            for head, row in meanings(words, language):
                table[head] = dict.fromkeys([*table.get(head, {}), *row][: 3 * MEANINGS_MAX])
        rows_ = sorted((head, [*row]) for head, row in table.items() if row)
        lines += [f"{language}\t{head} {' '.join(row)}" for head, row in rows_]
    lines += [f"not\t{first}|{second}" for first, second in sorted({*opposites(wordnet)})]
    print(len(lines))
    target.write_bytes(zlib.compress("\n".join(lines).encode(), 9))


if __name__ == "__main__":
    main()

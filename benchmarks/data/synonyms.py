"""Make `synonyms.tsv.z` in `svc_core/data`.

    apt-get download wordnet-base && dpkg -x wordnet-base*.deb wordnet
    python benchmarks/data/synonyms.py wordnet/usr/share/wordnet PATH_OF_DICTIONARIES

WordNet 3.0 gives groups of English words that may stand for each other, and the irregular forms of
each; the dictionaries (`deu-eng.txt`, `fra-eng.txt` of `corpora.SOURCES`) what German and French
words mean. All are terms: folded words cut as `svc_core.text.words` cuts them.
"""

import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from svc_core.text.frequencies import shares
from svc_core.text.words import fold_case, stop_words, term_of, terms

SENSES_MAX = 4
"""Only so many senses of a word count, the commonest first."""
MEANINGS_MAX = 4
FILES = ("noun", "verb", "adj", "adv")
DICTIONARIES = {"de": "deu-eng.txt", "fr": "fra-eng.txt"}


def common(language: str) -> frozenset[str]:
    """The terms of a language that the table of frequencies has."""
    return frozenset(term for tag, _, row in shares() if tag == language for term in row)


def groups(folder: Path) -> Iterator[frozenset[str]]:
    """The terms of each group of synonyms, and of each irregular word with its forms."""
    known = common("en") - stop_words("en")
    for name in FILES:
        ranks: dict[tuple[str, str], int] = {}
        for line in (folder / f"index.{name}").read_text().splitlines():
            if not line.startswith(" "):
                lemma, _, count, pointers, *rest = line.split()
                places = rest[int(pointers) + 2 :][: int(count)]
                ranks.update({(lemma, place): rank for rank, place in enumerate(places)})
        for line in (folder / f"data.{name}").read_text().splitlines():
            if not line.startswith(" "):
                place, _, _, size, *rest = line.split()
                lemmas = [
                    re.sub(r"\(.*", "", word).lower() for word in rest[: 2 * int(size, 16) : 2]
                ]
                yield (
                    frozenset(
                        term_of(word)
                        for word in lemmas
                        if word.isalpha() and ranks.get((word, place), 99) < SENSES_MAX
                    )
                    & known
                )
        forms: defaultdict[str, set[str]] = defaultdict(set)
        for line in (folder / f"{name}.exc").read_text().splitlines():
            form, *lemmas = line.split()
            for lemma in filter(str.isalpha, lemmas if form.isalpha() else ()):
                forms[lemma] |= {term_of(form), term_of(lemma)}
        yield from (group & (known | stop_words("en")) for group in map(frozenset, forms.values()))


def meanings(path: Path, language: str) -> Iterator[tuple[str, list[str]]]:
    """The English terms of the first meanings of each common foreign term."""
    known, english = common(language) - stop_words(language), common("en") - stop_words("en")
    table: defaultdict[str, dict[str, None]] = defaultdict(dict)
    entries = re.findall(r"(?m)^:([^:\s]+):(.*)$", path.read_text())
    shortest: dict[str, int] = {}
    for word, text in sorted(entries, key=lambda entry: len(entry[0])):
        head = term_of(fold_case(word))
        # Long words with one beginning are compounds of one word, which mean something else.
        if head in known and len(word) <= shortest.setdefault(head, len(word)) + 2:
            bare = re.sub(r"\([^()]*\)|<[^>]*>", "", text)
            for meaning in [part for part in re.split("[,;]", bare) if part.strip()][:MEANINGS_MAX]:
                words = [term for term in terms(meaning, "en") if term in english]
                table[head].update(dict.fromkeys(words[:2]))
    for head, row in sorted(table.items()):
        yield head, [term for term in row if term != head][: 3 * MEANINGS_MAX]


def main() -> None:
    wordnet, dictionaries, target = map(Path, sys.argv[1:4])
    rows = {" ".join(sorted(group)) for group in groups(wordnet) if len(group) > 1}
    lines = [f"en\t{row}" for row in sorted(rows)]
    for language, name in DICTIONARIES.items():
        lines += [f"{language}\t{head} {' '.join(row)}"
                  for head, row in meanings(dictionaries / name, language) if row]  # fmt: skip
    print(len(lines))
    target.write_bytes(zlib.compress("\n".join(lines).encode(), 9))


if __name__ == "__main__":
    main()

"""Make `synonyms.tsv.z` in `svc_core/data`.

    apt-get download wordnet-base && dpkg -x wordnet-base*.deb wordnet
    python benchmarks/data/synonyms.py wordnet/usr/share/wordnet TARGET

WordNet 3.0 gives groups of English words that may stand for each other, the irregular forms of
each, and pairs of opposites. All are terms: folded words cut as `svc_core.text.words` cuts them.
A line is a number and terms that share it; "+" and "-" before it mark two sides.
"""

import re
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from svc_core.text.frequencies import shares
from svc_core.text.words import stop_words, term_of

SENSES_MAX = 4
"""Only so many senses of a word count, the commonest first."""
FILES = ("noun", "verb", "adj", "adv")
OPPOSED_SENSES_MAX = 3
OPPOSED_FILES = ("noun", "verb", "adj")


def common() -> frozenset[str]:
    """The English terms that the table of frequencies has."""
    return frozenset(term for tag, _, row in shares() if tag == "en" for term in row)


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
    known = common() - stop_words("en")
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
    known = common() - stop_words("en")
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


def main() -> None:
    wordnet, target = map(Path, sys.argv[1:3])
    rows = {" ".join(sorted(group)) for group in groups(wordnet) if len(group) > 1}
    lines = [f"{number}\t{row}" for number, row in enumerate(sorted(rows))]
    for number, (first, second) in enumerate(sorted({*opposites(wordnet)}), len(lines)):
        lines += [f"+{number}\t{first}", f"-{number}\t{second}"]
    print(len(lines))
    target.write_bytes(zlib.compress("\n".join(lines).encode(), 9))


if __name__ == "__main__":
    main()
